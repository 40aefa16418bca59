package leasemodel

// Property names what must hold in every state, or for every commit.
type Property string

// The safety properties.
const (
	// OnlyTheLiveTokenWrites: a record, renewal or outcome commits only while
	// the execution runs under the token that it was written with.
	OnlyTheLiveTokenWrites Property = "only the live token writes"

	// NoRecordAfterLoad: no record commits once a later owner has loaded the
	// execution's records.
	NoRecordAfterLoad Property = "no record after the next owner has loaded"

	// NoStepRunsAgain: an owner whose lease holds starts no step that has a
	// record, and no step gets records of two owners, restarts aside.
	NoStepRunsAgain Property = "no completed step runs again"

	// FinalStays: nothing changes a cancelled execution, and nothing but a
	// person a completed one.
	FinalStays Property = "final states stay"

	// NoWishIsLost: a restart that was accepted is noted, where a claim finds
	// it, until an attempt begins anew or the execution is cancelled.
	NoWishIsLost Property = "no wish is lost"

	// OnlyDueIsTaken: a claim takes what is pending or whose lease has run out,
	// not what has just begun, been renewed or finished.
	OnlyDueIsTaken Property = "only due work is taken"

	// AttemptsEndOnce: each attempt gets one outcome.
	AttemptsEndOnce Property = "attempts end once"

	// NoStepOnALostLease: no step starts in a worker after another one has
	// taken the execution over.
	NoStepOnALostLease Property = "no step starts on a lost lease"

	// NothingIsStuck: from every state the execution can still become final,
	// though nobody crashes or asks for anything any more.
	NothingIsStuck Property = "nothing is stuck"
)

// lock is the strength of a row lock.
type lock uint8

const (
	noLock lock = iota
	keyShare
	noKeyUpdate
	update
)

// conflicts reports whether two locks exclude each other.
func (l lock) conflicts(other lock) bool {
	switch {
	case l == noLock || other == noLock:
		return false
	case l == keyShare:
		return other == update
	case l == noKeyUpdate:
		return other >= noKeyUpdate
	}
	return true
}

// Protocol says how the statements are written. Real is how the stores do it.
type Protocol struct {
	Name string

	recordLock      lock // noLock: the token is tested in the snapshot only
	claimLock       lock // noKeyUpdate: a plain UPDATE, which waits
	claimRechecks   bool // the condition is tested on the locked row too
	changeLock      lock // noLock: the status is read in the snapshot
	finishLocksWish bool // the wish is read from the locked row, not from the snapshot
	renewTestsToken bool
	finishTestsRow  bool // token and status are tested on the locked row too
	startsOnLease   bool // a step starts only on a lease that holds by the worker's clock
	noneClaimed     bool // nobody claims: to show what being stuck looks like
}

// Real is the protocol of the stores.
func Real() Protocol {
	return Protocol{
		Name:       "as it is",
		recordLock: keyShare, claimLock: update, claimRechecks: true, changeLock: update,
		finishLocksWish: true, renewTestsToken: true, finishTestsRow: true, startsOnLease: true,
	}
}

type status uint8

const (
	pending status = iota
	running
	completed
	cancelled
)

const (
	steps  = 2
	tokens = 7 // that one state can speak of, at most: see renumber
)

// row is the execution's row of work, as committed.
type row struct {
	status  status
	token   uint8
	expired bool // the lease has run out
	wish    bool // to begin anew
}

// due reports whether a claim may take it.
func (r row) due() bool { return r.status == pending || r.status == running && r.expired }

// held reports whether token may write.
func (r row) held(token uint8) bool { return r.status == running && r.token == token }

// phase is how far a statement has come.
type phase uint8

const (
	idle   phase = iota
	begun        // the snapshot is taken, and qualified
	locked       // the row is locked and tested, and the rows are written
)

type kind uint8

const (
	claim kind = iota + 1
	record
	finish
	giveBack // a finish that leaves the execution pending
	restart
	cancel
)

// statement is one at the server.
type statement struct {
	kind     kind
	phase    phase
	token    uint8
	step     uint8
	snapshot row  // of which only what a wrong protocol uses is kept
	orphan   bool // its worker has crashed and hears no answer
}

// where a worker is.
type where uint8

const (
	free      where = iota
	loading         // claimed; the records are not loaded yet
	between         // no step under way
	inStep          // a step's function runs, or has returned and is to be recorded
	finishing       // all steps have records
	giving          // shutting down, or failed
)

// worker is a process.
type worker struct {
	at      where
	token   uint8
	step    uint8
	loaded  uint8 // steps with records, one bit each
	holds   bool  // the lease holds, by its own clock
	stmt    statement
	renewal phase // of a renewal, beside stmt; never begun, which decides nothing
	renews  uint8 // the renewal's token
}

// state is all there is. It is a value, and the key of the set of states that
// have been visited.
type state struct {
	row      row
	records  [steps]uint8     // the token that each step was recorded with since the last restart; 0: none
	ended    [tokens + 1]bool // the attempt begun with a token has an outcome
	finished [tokens + 1]bool // and its own worker gave it
	loaded   uint8            // the last token whose worker has loaded
	owed     bool             // a restart was accepted and has not begun
	workers  [2]worker
	person   statement
}

// start is a pending execution.
func start() state { return state{} }

// gone stands for the token of a record whose worker nobody speaks of any more.
const gone = 255

// renumber gives the tokens that matter the numbers from 1 on, in their order:
// the row's own, and those that a worker or a statement will still write with.
// What only differs in tokens of the past is one state, so there may be any
// number of claims.
func (s *state) renumber() {
	var matters [256]bool
	matters[s.row.token] = true
	for i := range s.workers {
		w := &s.workers[i]
		matters[w.token], matters[w.stmt.token], matters[w.renews] = true, true, true
	}
	var number [256]uint8 // of tokens that matter; of others, the next one's
	next := uint8(1)
	var ended, finished [tokens + 1]bool
	for token := 1; token < len(number)-1; token++ {
		number[token] = next
		if matters[token] {
			if token < len(s.ended) {
				ended[next], finished[next] = s.ended[token], s.finished[token]
			}
			next++
		}
	}
	for i, token := range s.records {
		if token != 0 && !matters[token] {
			s.records[i] = gone
		} else if token != 0 {
			s.records[i] = number[token]
		}
	}
	s.loaded = number[s.loaded]
	if s.loaded == 1 {
		s.loaded = 0 // nobody is older
	}
	s.row.token = number[s.row.token]
	for i := range s.workers {
		w := &s.workers[i]
		w.token, w.stmt.token, w.renews = number[w.token], number[w.stmt.token], number[w.renews]
	}
	s.ended, s.finished = ended, finished
}

// blocked reports whether somebody holds a lock that conflicts with one that
// worker self (2: the person) wants.
func (m *model) blocked(s *state, self int, want lock) bool {
	for i := range s.workers {
		w := &s.workers[i]
		if i != self && w.stmt.phase == locked && m.lockOf(w.stmt.kind).conflicts(want) {
			return true
		}
		if w.renewal == locked && noKeyUpdate.conflicts(want) {
			return true
		}
	}
	return self != len(s.workers) && s.person.phase == locked && m.lockOf(s.person.kind).conflicts(want)
}

// lockOf returns the lock that a statement takes.
func (m *model) lockOf(k kind) lock {
	switch k {
	case claim:
		return m.protocol.claimLock
	case record:
		return m.protocol.recordLock
	case restart, cancel:
		return m.protocol.changeLock
	}
	return update
}
