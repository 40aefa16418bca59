package leasemodel

// model collects the moves out of one state.
type model struct {
	protocol Protocol
	moves    []move[state]
	forced   bool // of the moves being added
}

func (m *model) add(name string, to state, breaks ...Property) {
	to.renumber()
	if to.owed && !(to.row.wish && (to.row.status == pending || to.row.status == running)) {
		breaks = append(breaks[:len(breaks):len(breaks)], NoWishIsLost)
	}
	m.moves = append(m.moves, move[state]{name: name, to: to, breaks: breaks, forced: m.forced})
}

func (m *model) start() state { return start() }

func (m *model) final(s *state) bool { return s.row.status == completed || s.row.status == cancelled }

// next returns all moves out of s.
func (m *model) next(s *state) []move[state] {
	m.moves, m.forced = m.moves[:0], true
	m.time(s)
	for i := range s.workers {
		m.work(s, i)
		m.serve(s, i)
		m.renew(s, i)
	}
	m.forced = s.person.phase != idle // what is sent goes on
	m.wish(s)
	m.forced = false
	for i := range s.workers {
		m.crash(s, i)
	}
	return m.moves
}

var names = [...]string{"one", "two"}

// time lets leases run out: first by the clock of the worker that counts from
// when it sent its request, then by the database's.
func (m *model) time(s *state) {
	owned := false
	for i := range s.workers {
		w := &s.workers[i]
		if w.at == free || !w.holds {
			continue
		}
		owned = owned || w.token == s.row.token
		to := *s
		to.workers[i].holds = false
		m.add("lease over by the clock of "+names[i], to)
	}
	if s.row.status == running && !s.row.expired && !owned {
		to := *s
		to.row.expired = true
		m.add("lease over by the database's clock", to)
	}
}

// forget ends a worker's attempt.
func (w *worker) forget() {
	w.at, w.token, w.step, w.loaded, w.holds = free, 0, 0, 0, false
}

// crash ends a worker's process, which starts again. What it has sent goes on
// at the server.
func (m *model) crash(s *state, i int) {
	w := &s.workers[i]
	if w.at == free && (w.stmt.phase == idle || w.stmt.orphan) {
		return
	}
	to := *s
	to.workers[i].forget()
	to.workers[i].stmt.orphan = w.stmt.phase != idle
	m.add("worker "+names[i]+" crashes", to)
}

// work is what a worker does between its statements.
func (m *model) work(s *state, i int) {
	w := &s.workers[i]
	if w.stmt.phase != idle {
		return
	}
	does := func(what string, change func(to *state, w *worker), breaks ...Property) {
		to := *s
		change(&to, &to.workers[i])
		m.add("worker "+names[i]+" "+what, to, breaks...)
	}
	switch w.at {
	case free:
		if s.row.due() && !m.protocol.noneClaimed {
			m.begin(s, i, statement{kind: claim})
		}
	case loading:
		does("loads the records", func(to *state, w *worker) {
			for step, token := range to.records {
				if token != 0 {
					w.loaded |= 1 << step
				}
			}
			to.loaded = max(to.loaded, w.token)
			w.at = between
			w.skip()
		})
	case between:
		m.begin(s, i, statement{kind: giveBack, token: w.token})
		if w.step < steps && (w.holds || !m.protocol.startsOnLease) {
			live := s.row.token == w.token
			does("starts a step", func(_ *state, w *worker) { w.at = inStep },
				unless(live, NoStepOnALostLease), unless(!live || s.records[w.step] == 0, NoStepRunsAgain))
		}
	case inStep:
		m.begin(s, i, statement{kind: record, token: w.token, step: w.step})
	case finishing:
		m.begin(s, i, statement{kind: finish, token: w.token})
	case giving:
		m.begin(s, i, statement{kind: giveBack, token: w.token})
	}
}

// skip goes on to the next step without a record, or to the end.
func (w *worker) skip() {
	for w.step < steps && w.loaded&(1<<w.step) != 0 {
		w.step++
	}
	w.loaded &= -(1 << w.step) // of the steps behind, nobody asks
	if w.step == steps {
		w.at = finishing
	}
}

// begin sends a statement of worker i. It takes its snapshot and goes on if it
// finds the row there.
func (m *model) begin(s *state, i int, stmt statement) {
	to := *s
	w := &to.workers[i]
	switch {
	case stmt.kind == claim || s.row.held(stmt.token):
		stmt.phase = begun
		if !m.protocol.finishLocksWish {
			stmt.snapshot.wish = s.row.wish
		}
		w.stmt = stmt
		if stmt.kind == giveBack {
			w.at = giving
		}
		m.add("worker "+names[i]+" sends "+stmt.kind.String(), to)
	case (stmt.kind == finish || stmt.kind == giveBack) && s.finished[stmt.token]:
		w.forget() // its own outcome, the answer to which was lost
		m.add("worker "+names[i]+" learns that it has finished", to)
	default:
		w.forget()
		m.add("worker "+names[i]+" is refused", to)
	}
}

// serve moves a worker's statement on at the server.
func (m *model) serve(s *state, i int) {
	stmt := s.workers[i].stmt
	switch stmt.phase {
	case begun:
		m.lock(s, i)
	case locked:
		m.commit(s, i)
	}
}

// lock locks the row for a worker's statement and tests it again.
func (m *model) lock(s *state, i int) {
	to := *s
	w := &to.workers[i]
	blocked := m.blocked(s, i, m.lockOf(w.stmt.kind))
	lost := func(what string) {
		orphan := w.stmt.orphan
		isClaim := w.stmt.kind == claim
		w.stmt = statement{}
		if !isClaim && !orphan {
			w.forget()
		}
		m.add("worker "+names[i]+what, to)
	}
	switch w.stmt.kind {
	case claim:
		switch {
		case blocked && m.protocol.claimLock == update:
			lost(" skips the locked row")
			return
		case blocked:
			return
		case m.protocol.claimRechecks && !s.row.due():
			lost(" finds that the row is not due any more")
			return
		}
	case record:
		if m.protocol.recordLock != noLock {
			if blocked {
				return
			}
			if !s.row.held(w.stmt.token) {
				lost(" is refused after it waited")
				return
			}
		}
	default:
		if blocked {
			return
		}
		if m.protocol.finishTestsRow && !s.row.held(w.stmt.token) {
			lost(" is refused after it waited")
			return
		}
	}
	w.stmt.phase = locked
	m.add("row locked for the "+w.stmt.kind.String()+" of worker "+names[i], to)
}

// commit makes a worker's statement seen. The worker hears of it, or the answer
// is lost and it will ask again.
func (m *model) commit(s *state, i int) {
	to := *s
	w := &to.workers[i]
	stmt := w.stmt
	w.stmt = statement{}
	var breaks []Property
	var heard func(w *worker)
	switch stmt.kind {
	case claim:
		breaks = to.take(s.row)
		token, first := to.row.token, s.row.token == 0
		heard = func(w *worker) {
			*w = worker{at: loading, token: token, holds: true, renewal: w.renewal, renews: w.renews}
			if first {
				w.at = between
			}
		}
	case record:
		breaks = []Property{
			unless(s.row.held(stmt.token), OnlyTheLiveTokenWrites),
			unless(s.loaded <= stmt.token, NoRecordAfterLoad),
			unless(s.records[stmt.step] == 0 || s.records[stmt.step] == stmt.token, NoStepRunsAgain),
		}
		to.records[stmt.step] = stmt.token
		heard = func(w *worker) {
			w.at = between
			w.step++
			w.skip()
		}
	case finish, giveBack:
		breaks = to.end(s.row, stmt, m.protocol.finishLocksWish)
		heard = func(w *worker) { w.forget() }
	}
	name := stmt.kind.String() + " of worker " + names[i] + " commits"
	if !stmt.orphan {
		acknowledged := to
		heard(&acknowledged.workers[i])
		m.add(name, acknowledged, breaks...)
	}
	m.add(name+", unheard", to, breaks...)
}

// take is a claim's commit.
func (s *state) take(before row) []Property {
	breaks := []Property{unless(before.status != completed && before.status != cancelled, FinalStays), unless(before.due(), OnlyDueIsTaken)}
	if before.status == running {
		breaks = append(breaks, s.endAttempt(before.token)) // lost
	}
	s.row = row{status: running, token: before.token + 1}
	if before.wish {
		s.records, s.owed = [steps]uint8{}, false
	}
	return breaks
}

// endAttempt gives the attempt begun with token its outcome.
func (s *state) endAttempt(token uint8) Property {
	twice := s.ended[token]
	s.ended[token] = true
	return unless(!twice, AttemptsEndOnce)
}

// end is a finish's commit.
func (s *state) end(before row, stmt statement, locksWish bool) []Property {
	once := s.endAttempt(stmt.token)
	s.finished[stmt.token] = true
	breaks := []Property{
		unless(before.status != completed && before.status != cancelled, FinalStays),
		unless(before.held(stmt.token), OnlyTheLiveTokenWrites),
		once,
	}
	wish := before.wish
	if !locksWish {
		wish = stmt.snapshot.wish
	}
	s.row.expired = false
	s.row.status = completed
	if wish || stmt.kind == giveBack {
		s.row.status = pending
	}
	return breaks
}

// renew is a worker's renewal, which goes its own way beside its statements.
func (m *model) renew(s *state, i int) {
	w := &s.workers[i]
	to := *s
	me := &to.workers[i]
	switch {
	case w.renewal == idle && w.at != free:
		if m.blockedForRenewal(s) {
			return
		}
		if s.row.held(w.token) || !m.protocol.renewTestsToken && s.row.status == running {
			me.renewal, me.renews = locked, w.token
			m.add("row locked for the renewal of worker "+names[i], to)
			return
		}
		if w.stmt.phase == idle { // the attempt is cut; a statement finds out for itself
			me.forget()
			m.add("renewal of worker "+names[i]+" is refused", to)
		}
	case w.renewal == locked:
		breaks := unless(s.row.held(w.renews), OnlyTheLiveTokenWrites)
		to.row.expired = false
		me.renewal, me.renews = idle, 0
		m.add("renewal of worker "+names[i]+" commits, unheard", to, breaks)
		if w.token == w.renews {
			heard := to
			heard.workers[i].holds = true
			m.add("renewal of worker "+names[i]+" commits", heard, breaks)
		}
	}
}

// blockedForRenewal reports whether somebody holds a lock that a renewal waits
// for, the worker's own statements included.
func (m *model) blockedForRenewal(s *state) bool { return m.blocked(s, -1, noKeyUpdate) }

// wish is what the person does.
func (m *model) wish(s *state) {
	to := *s
	p := &to.person
	switch s.person.phase {
	case idle:
		for _, k := range []kind{restart, cancel} {
			to := *s
			to.person = statement{kind: k, phase: begun}
			if m.protocol.changeLock == noLock {
				to.person.snapshot = row{status: s.row.status}
			}
			m.add("the person sends "+k.String(), to)
		}
	case begun:
		if m.protocol.changeLock != noLock && m.blocked(s, len(s.workers), m.protocol.changeLock) {
			return
		}
		p.phase = locked
		m.add("row locked for the person's "+p.kind.String(), to)
	case locked:
		is := s.row.status
		if m.protocol.changeLock == noLock {
			is = p.snapshot.status
		}
		k := p.kind
		to.person = statement{}
		breaks := to.change(k, is)
		m.add("the person's "+k.String()+" commits", to, breaks...)
	}
}

// change is the commit of a wish about an execution that is thought to be in a
// status.
func (s *state) change(k kind, is status) []Property {
	before, once := s.row, Property("")
	switch {
	case k == restart && (is == pending || is == completed):
		s.row.status, s.row.wish, s.owed = pending, true, true
	case k == restart && is == running:
		s.row.wish, s.owed = true, true
	case k == cancel && (is == pending || is == running):
		s.row.status, s.row.expired, s.row.wish, s.owed = cancelled, false, false, false
		if before.status == running {
			once = s.endAttempt(before.token)
		}
	}
	return []Property{
		unless(before.status != cancelled || s.row.status == cancelled, FinalStays),
		unless(before.status != completed || s.row.status != cancelled, FinalStays),
		once,
	}
}

func (k kind) String() string {
	return [...]string{"nothing", "claim", "record", "finish", "return", "restart", "cancel"}[k]
}
