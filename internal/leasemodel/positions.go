package leasemodel

// Positions says how writes are fenced by their positions in the log of a lease.
// RealPositions is how the Postgres store does it.
type Positions struct {
	endsLogs  bool // whoever voids a lease ends its log
	endsFirst bool // and voids it only if it could
	looks     bool // an owner that does not know where its log ends looks; else it goes on past what it has sent
	finds     bool // and sees what it has written itself
}

// RealPositions is the protocol of the Postgres store.
func RealPositions() Positions {
	return Positions{endsLogs: true, endsFirst: true, looks: true, finds: true}
}

// Properties of logs, beside those of leases.
const (
	// LogsHaveNoGap: an entry commits only when all positions before it are
	// filled.
	LogsHaveNoGap Property = "logs have no gap"

	// StepsAreWrittenOnce: a log has each step once.
	StepsAreWrittenOnce Property = "steps are written once"
)

const (
	leases    = 2 // claims of the execution that are looked at
	positions = 5 // of a log, at most: two steps and an end, and room for mistakes
)

// Entries of a log. Steps are their number + 1.
const (
	ownEnd  = 8 // by the owner
	voidEnd = 9 // by somebody else
)

// ledger is the committed entries of a log, by position from 1.
type ledger [positions + 1]uint8

// last is the last position that is filled.
func (l *ledger) last() uint8 {
	for at := positions; at > 0; at-- {
		if l[at] != 0 {
			return uint8(at)
		}
	}
	return 0
}

func (l *ledger) has(entry uint8) bool {
	for _, e := range l {
		if e == entry {
			return true
		}
	}
	return false
}

// write is a statement at the server that ends a log or adds to one.
type write struct {
	kind     kind
	phase    phase
	careful  bool
	token    uint8
	step     uint8
	position uint8
	found    bool // the step is there already, by the snapshot
}

// Further phases of a write: between the two, the row is locked and the
// position is not written yet.
const written = locked + 1

// owner is a process.
type owner struct {
	at    where // free, loading, inStep or finishing
	token uint8
	step  uint8
	next  uint8 // position, 0 if it does not know
	write write
}

// positionState is all there is.
type positionState struct {
	row    row
	logs   [leases + 1]ledger // by token
	loaded uint8              // the last token whose owner has loaded
	owners [2]owner
	late   [2]write // statements whose connections are lost
	person write
}

// positionModel collects the moves out of one state.
type positionModel struct {
	protocol Positions
	moves    []move[positionState]
	forced   bool
}

// start is an execution that its delivery has begun.
func (m *positionModel) start() positionState {
	s := positionState{row: row{status: running, token: 1}, loaded: 1}
	s.owners[0] = owner{at: inStep, token: 1, next: 1}
	return s
}

// final states are those that are, and those beyond which is not looked.
func (m *positionModel) final(s *positionState) bool {
	return s.row.status == completed || s.row.status == cancelled || s.row.token == leases
}

func (m *positionModel) add(name string, to positionState, breaks ...Property) {
	m.moves = append(m.moves, move[positionState]{name: name, to: to, breaks: breaks, forced: m.forced})
}

func (m *positionModel) next(s *positionState) []move[positionState] {
	m.moves, m.forced = m.moves[:0], true
	m.time(s)
	for i := range s.owners {
		m.own(s, i)
	}
	for i := range writers {
		m.serve(s, i)
	}
	m.forced = false
	for i := range s.owners {
		m.lose(s, i)
	}
	if s.person.phase == idle && s.row.status == running {
		to := *s
		to.person = write{kind: cancel, phase: begun}
		m.add("the person sends cancel", to)
	}
	return m.moves
}

// time lets the lease run out, though its owner renews it if it can.
func (m *positionModel) time(s *positionState) {
	if s.row.status != running {
		return
	}
	to := *s
	to.row.expired = !s.row.expired
	if !s.row.expired {
		m.add("lease over by the database's clock", to)
		return
	}
	for i := range s.owners {
		if s.owners[i].token == s.row.token && s.owners[i].at != free && !m.blocked(s, -1, noKeyUpdate) {
			m.add("renewal of worker "+names[i]+" commits", to)
		}
	}
}

// writers are all statements: of the owners, those that are late, the person's.
const writers = 5

func (s *positionState) writer(i int) *write {
	switch {
	case i < 2:
		return &s.owners[i].write
	case i < 4:
		return &s.late[i-2]
	}
	return &s.person
}

// blocked reports whether a lock of another statement conflicts with one that
// statement self wants.
func (m *positionModel) blocked(s *positionState, self int, want lock) bool {
	for i := range writers {
		w := s.writer(i)
		if i == self || w.phase < locked {
			continue
		}
		has := update
		if w.kind == record {
			has = noLock
			if w.careful {
				has = keyShare
			}
		}
		if has.conflicts(want) {
			return true
		}
	}
	return false
}

// inserting reports whether another statement has inserted at a position and not
// committed.
func (s *positionState) inserting(self int, w *write) bool {
	for i := range writers {
		o := s.writer(i)
		if i != self && o.phase == written && o.position == w.position && o.position > 0 && o.token == w.token {
			return true
		}
	}
	return false
}

// own is what an owner does between its statements.
func (m *positionModel) own(s *positionState, i int) {
	o := &s.owners[i]
	if o.write.phase != idle {
		return
	}
	to := *s
	me := &to.owners[i]
	send := func(w write, how string) {
		w.phase = begun
		me.write = w
		m.add("worker "+names[i]+" sends "+how+w.kind.String(), to)
	}
	log := &s.logs[o.token]
	held := s.row.held(o.token)
	switch {
	case o.at == free:
		if s.row.due() && s.row.token < leases {
			send(write{kind: claim, token: s.row.token, position: s.logs[s.row.token].last() + 1}, "")
		}
	case o.at == loading:
		me.step = 0
		for token := range s.logs {
			for me.step < steps && s.logs[token].has(me.step+1) {
				me.step++
			}
		}
		to.loaded = max(to.loaded, o.token)
		me.proceed()
		m.add("worker "+names[i]+" loads the records", to)
	case o.at == inStep && o.next > 0:
		send(write{kind: record, token: o.token, step: o.step, position: o.next}, "")
	case o.at == inStep && held:
		send(write{kind: record, careful: true, token: o.token, step: o.step, position: log.last() + 1,
			found: m.protocol.finds && log.has(o.step+1)}, "a careful ")
	case o.at == finishing && o.next > 0:
		send(write{kind: finish, token: o.token, position: o.next}, "")
	case o.at == finishing && held:
		send(write{kind: finish, careful: true, token: o.token, position: log.last() + 1}, "a careful ")
	default:
		learns := o.at == finishing && log.has(ownEnd)
		*me = owner{}
		if learns {
			m.add("worker "+names[i]+" learns that it has finished", to)
		} else {
			m.add("worker "+names[i]+" is refused", to)
		}
	}
}

// proceed goes on with the next step, or to the end.
func (o *owner) proceed() {
	o.at = inStep
	if o.step == steps {
		o.at = finishing
	}
}

// unsure says that an owner does not know any more where its log ends.
func (m *positionModel) unsure(o *owner) {
	if m.protocol.looks {
		o.next = 0
	} else if o.next > 0 && o.next < positions {
		o.next++
	}
}

// lose loses the connection of a statement, which goes on at the server, or the
// whole process.
func (m *positionModel) lose(s *positionState, i int) {
	o := &s.owners[i]
	if o.at == free {
		return
	}
	to := *s
	if o.write.phase != idle {
		slot := 0
		if to.late[0].phase != idle {
			slot = 1
		}
		if to.late[slot].phase != idle {
			return
		}
		to.late[slot] = o.write
		to.owners[i].write = write{}
		crashed := to
		m.unsure(&to.owners[i])
		m.add("worker "+names[i]+" loses its connection", to)
		to = crashed
	}
	to.owners[i] = owner{}
	m.add("worker "+names[i]+" crashes", to)
}

// serve moves a statement on at the server.
func (m *positionModel) serve(s *positionState, i int) {
	switch w := s.writer(i); w.phase {
	case begun:
		m.lockRow(s, i)
	case locked:
		m.insert(s, i)
	case written:
		m.commit(s, i)
	}
}

func nameOf(i int, w *write) string {
	switch {
	case i < 2:
		return w.kind.String() + " of worker " + names[i]
	case i < 4:
		return "late " + w.kind.String()
	}
	return "the person's " + w.kind.String()
}

// fail ends a statement that did nothing. An owner goes the careful way next.
func (m *positionModel) fail(s *positionState, i int, how string) {
	to := *s
	w := to.writer(i)
	name := nameOf(i, w)
	again := w.kind == cancel
	*w = write{}
	if again {
		to.person = write{kind: cancel, phase: begun}
	}
	if i < 2 && to.owners[i].at != free {
		to.owners[i].next = 0
		if !m.protocol.looks {
			to.owners[i] = owner{} // it takes this for the loss of its lease
		}
	}
	m.add(name+how, to)
}

// lockRow locks the row, where a statement does, and tests it.
func (m *positionModel) lockRow(s *positionState, i int) {
	to := *s
	w := to.writer(i)
	name := nameOf(i, w)
	w.phase = locked
	switch {
	case w.kind == record && !w.careful:
	case w.kind == record:
		if m.blocked(s, i, keyShare) {
			return
		}
		if !s.row.held(w.token) {
			m.fail(s, i, " finds its token gone")
			return
		}
	case m.blocked(s, i, update):
		if w.kind == claim {
			m.fail(s, i, " skips the locked row")
		}
		return
	case w.kind == finish:
		if !s.row.held(w.token) {
			m.fail(s, i, " finds its token gone")
			return
		}
	case w.kind == claim:
		if !s.row.due() || s.row.token == leases {
			m.fail(s, i, " finds that the row is not due any more")
			return
		}
		if s.row.token != w.token {
			w.token, w.position = s.row.token, 1 // of which its snapshot knows nothing
		}
		if s.row.status != running {
			w.position = 0
		}
	case w.kind == cancel:
		if s.row.status != running {
			to.person = write{}
			m.add("the person's cancel comes too late", to)
			return
		}
		w.token, w.position = s.row.token, s.logs[s.row.token].last()+1
	}
	if (w.kind == claim || w.kind == cancel) && !m.protocol.endsLogs {
		w.position = 0
	}
	if w.found {
		w.position = 0
	}
	m.add(name+" has what it locks", to)
}

// insert inserts at the position, or waits for whoever has, or finds it filled.
func (m *positionModel) insert(s *positionState, i int) {
	to := *s
	w := to.writer(i)
	name := nameOf(i, w)
	if w.position > 0 {
		switch {
		case s.logs[w.token][w.position] != 0:
			if w.kind == claim && !m.protocol.endsFirst {
				w.position = 0 // takes it all the same
				break
			}
			m.fail(s, i, " finds its position filled")
			return
		case s.inserting(i, w):
			return
		}
	}
	w.phase = written
	m.add(name+" is written", to)
}

// commit makes a statement seen. Its owner hears of it, or the answer is lost.
func (m *positionModel) commit(s *positionState, i int) {
	to := *s
	w := *to.writer(i)
	name := nameOf(i, &w)
	*to.writer(i) = write{}
	var breaks []Property
	if w.position > 0 {
		log := &to.logs[w.token]
		breaks = append(breaks, unless(w.position == 1 || log[w.position-1] != 0, LogsHaveNoGap))
		entry := uint8(voidEnd)
		switch w.kind {
		case record:
			entry = w.step + 1
			breaks = append(breaks, unless(!log.has(entry), StepsAreWrittenOnce), unless(s.loaded <= w.token, NoRecordAfterLoad))
		case finish:
			entry = ownEnd
		}
		if w.kind == record || w.kind == finish {
			breaks = append(breaks, unless(s.row.held(w.token), OnlyTheLiveTokenWrites))
		}
		if entry >= ownEnd {
			breaks = append(breaks, unless(!log.has(ownEnd) && !log.has(voidEnd), AttemptsEndOnce))
		}
		log[w.position] = entry
	}
	final := s.row.status == completed || s.row.status == cancelled
	switch w.kind {
	case claim:
		breaks = append(breaks, unless(s.row.due(), OnlyDueIsTaken), unless(!final, FinalStays))
		to.row = row{status: running, token: s.row.token + 1}
	case finish:
		breaks = append(breaks, unless(!final, FinalStays))
		to.row = row{status: completed, token: s.row.token}
	case cancel:
		breaks = append(breaks, unless(!final, FinalStays))
		to.row = row{status: cancelled, token: s.row.token}
	}
	if i >= 2 {
		m.add(name+" commits", to, breaks...)
		return
	}
	unheard := to
	o := &to.owners[i]
	switch w.kind {
	case claim:
		*o = owner{at: loading, token: to.row.token, next: 1}
	case record:
		o.step++
		if w.position > 0 {
			o.next = w.position + 1
		}
		o.proceed()
	case finish:
		*o = owner{}
	}
	m.add(name+" commits", to, breaks...)
	if w.kind != claim {
		m.unsure(&unheard.owners[i])
	}
	m.add(name+" commits, unheard", unheard, breaks...)
}
