package sqlite

import (
	restaq "github.com/restaq/restaq/runtime"
)

// memory is what the writer knows of the file without reading it: the
// executions that run, and the numbers of the next rows. Most writes are of
// executions that this very connection began.
//
// SQLite counts the commits of other connections, of any process. A
// transaction, which keeps all others out, begins by looking at that count: if
// it is another one, everything is forgotten and read anew where needed. A
// rollback forgets everything, too.
type memory struct {
	version   int64                 // SQLite's count
	running   map[string]*execution // by id
	event     int64                 // number of the last event; 0 if it is not known
	execution int64                 // number of the last execution; 0 if it is not known

	introduced map[string]bool // owners of leases that stand in restaq_owner
}

// refresh forgets what may have changed.
func (m *memory) refresh(query queryFunc) error {
	var version int64
	if err := scanOne(query, []any{&version}, `PRAGMA data_version`); err != nil {
		return err
	}
	if version != m.version {
		m.forget()
		m.version = version
	}
	return nil
}

func (m *memory) forget() {
	m.version, m.event, m.execution = 0, 0, 0
	m.running = map[string]*execution{}
}

// rolledBack forgets what was written, too.
func (m *memory) rolledBack() {
	m.forget()
	m.introduced = map[string]bool{}
}

// keep notes how an execution is stored now. The caller lets go of e.
func (m *memory) keep(e *execution) {
	if e.Status == restaq.Running {
		m.running[e.ID] = e
	} else {
		delete(m.running, e.ID)
	}
}

// number returns the number of the next row of a table whose last one is in
// *last, if it is known.
func (t *tx) number(last *int64, max string) (int64, error) {
	if t.user != nil {
		last = new(int64)
	}
	if *last == 0 {
		if err := scanOne(t.query, []any{last}, max); err != nil {
			return 0, err
		}
	}
	return *last + 1, nil
}

func (t *tx) nextEvent() (int64, error) {
	return t.number(&t.w.event, `SELECT coalesce(max(seq), 0) FROM restaq_event`)
}

func (t *tx) nextExecution() (int64, error) {
	return t.number(&t.w.execution, `SELECT coalesce(max(seq), 0) FROM restaq_execution`)
}
