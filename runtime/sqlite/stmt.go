package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	restaq "github.com/restaq/restaq/runtime"
)

// rows are the result of a query: of a statement here, or of a transaction
// that belongs to a user.
type rows interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
	Close() error
}

// queryFunc runs a statement that returns rows.
type queryFunc func(query string, args ...any) (rows, error)

// stmt is a prepared statement. It is run from its beginning to its end before
// it is run again; as rows it is its own result.
type stmt struct {
	conn   *conn
	handle uintptr
	once   bool // finalized with its rows
	open   bool // as rows
	ready  bool // Next has a row already
	row    bool // the statement stands at one
	err    error
}

// exec runs the statement to its end.
func (s *stmt) exec(args ...any) (changed int64, err error) {
	if err := s.bind(args, 0); err != nil { // its memory lasts until the end
		return 0, err
	}
	more := true
	for more && err == nil {
		more, err = s.step()
	}
	s.reset()
	if err != nil {
		return 0, err
	}
	return lib.Xsqlite3_changes64(s.conn.tls, s.conn.db), nil
}

// query runs the statement up to its first row, so that it has the locks that
// it needs. The caller closes the rows.
func (s *stmt) query(args ...any) (rows, error) {
	if s.open {
		panic("sqlite: a statement is run again before its rows are closed")
	}
	if err := s.bind(args, lib.SQLITE_TRANSIENT); err != nil {
		return nil, err
	}
	row, err := s.step()
	if err != nil {
		s.reset()
		return nil, err
	}
	s.open, s.ready, s.row, s.err = true, true, row, nil
	return s, nil
}

// step goes on to the next row and reports whether there is one.
func (s *stmt) step() (bool, error) {
	switch rc := lib.Xsqlite3_step(s.conn.tls, s.handle); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.conn.failure(rc)
	}
}

func (s *stmt) reset() { lib.Xsqlite3_reset(s.conn.tls, s.handle) } // repeats the error of the step

func (s *stmt) finalize() { lib.Xsqlite3_finalize(s.conn.tls, s.handle) }

// bind sets the arguments, of which there are as many as parameters. keep is
// SQLite's word for how long their memory lasts.
func (s *stmt) bind(args []any, keep uintptr) error {
	if n := lib.Xsqlite3_bind_parameter_count(s.conn.tls, s.handle); int(n) != len(args) {
		return fmt.Errorf("%d arguments for %d parameters", len(args), n)
	}
	size := 0
	for _, arg := range args {
		size += length(arg)
	}
	s.conn.arena.need(s.conn.tls, size)
	used := 0
	for i, arg := range args {
		if rc := s.bindOne(int32(i+1), arg, &used, keep); rc != lib.SQLITE_OK {
			return s.conn.failure(rc)
		}
	}
	return nil
}

// length is how much memory a value needs.
func length(arg any) int {
	switch v := arg.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case restaq.Status:
		return len(v)
	case restaq.StepStatus:
		return len(v)
	case restaq.AttemptOutcome:
		return len(v)
	}
	return 0
}

func (s *stmt) bindOne(i int32, arg any, used *int, keep uintptr) (rc int32) {
	switch v := arg.(type) {
	case nil:
		return lib.Xsqlite3_bind_null(s.conn.tls, s.handle, i)
	case int64:
		return s.bindInt(i, v)
	case int:
		return s.bindInt(i, int64(v))
	case restaq.AttemptKind:
		return s.bindInt(i, int64(v))
	case bool:
		if v {
			return s.bindInt(i, 1)
		}
		return s.bindInt(i, 0)
	case string:
		return s.bindText(i, v, used, keep)
	case restaq.Status:
		return s.bindText(i, string(v), used, keep)
	case restaq.StepStatus:
		return s.bindText(i, string(v), used, keep)
	case restaq.AttemptOutcome:
		return s.bindText(i, string(v), used, keep)
	case []byte:
		if v == nil {
			return lib.Xsqlite3_bind_null(s.conn.tls, s.handle, i)
		}
		at := s.conn.arena.start + uintptr(*used)
		*used += copy(s.conn.arena.bytes[*used:], v)
		return lib.Xsqlite3_bind_blob(s.conn.tls, s.handle, i, at, int32(len(v)), keep)
	default:
		panic("sqlite: cannot bind a " + reflect.TypeOf(arg).String())
	}
}

func (s *stmt) bindInt(i int32, v int64) int32 {
	return lib.Xsqlite3_bind_int64(s.conn.tls, s.handle, i, v)
}

func (s *stmt) bindText(i int32, v string, used *int, keep uintptr) int32 {
	at := s.conn.arena.start + uintptr(*used)
	*used += copy(s.conn.arena.bytes[*used:], v)
	return lib.Xsqlite3_bind_text(s.conn.tls, s.handle, i, at, int32(len(v)), keep)
}

// Next goes on to the next row.
func (s *stmt) Next() bool {
	if s.ready {
		s.ready = false
	} else if s.row {
		s.row, s.err = s.step()
	}
	return s.row
}

// Err is what ended the rows before their end.
func (s *stmt) Err() error { return s.err }

// Close ends the rows. They may be closed again.
func (s *stmt) Close() error {
	if s.open {
		s.open = false
		s.reset()
		if s.once {
			s.finalize()
		}
	}
	return nil
}

// Scan reads the columns of the row.
func (s *stmt) Scan(targets ...any) error {
	if !s.row {
		return errors.New("scan: there is no row")
	}
	for i, target := range targets {
		if err := s.scanOne(int32(i), target); err != nil {
			return fmt.Errorf("scan column %d: %w", i, err)
		}
	}
	return nil
}

func (s *stmt) scanOne(i int32, target any) error {
	switch t := target.(type) {
	case *string:
		*t = s.text(i)
	case *restaq.Status:
		*t = restaq.Status(s.text(i))
	case *restaq.StepStatus:
		*t = restaq.StepStatus(s.text(i))
	case *restaq.AttemptOutcome:
		*t = restaq.AttemptOutcome(s.text(i))
	case *int64:
		*t = s.integer(i)
	case *int:
		*t = int(s.integer(i))
	case *restaq.AttemptKind:
		*t = restaq.AttemptKind(s.integer(i))
	case *bool:
		*t = s.integer(i) != 0
	case *[]byte:
		*t = s.blob(i)
	case blob:
		*t.b = s.blob(i)
	case moment:
		*t.t = time.Time{}
		if !s.null(i) {
			*t.t = time.UnixMicro(s.integer(i)).UTC()
		}
	case sql.Scanner:
		return t.Scan(s.value(i))
	default:
		return fmt.Errorf("cannot scan into a %T", target)
	}
	return nil
}

// value is a column as database/sql would hand it on.
func (s *stmt) value(i int32) any {
	switch lib.Xsqlite3_column_type(s.conn.tls, s.handle, i) {
	case lib.SQLITE_NULL:
		return nil
	case lib.SQLITE_INTEGER:
		return s.integer(i)
	case lib.SQLITE_TEXT:
		return s.text(i)
	default:
		return s.blob(i)
	}
}

func (s *stmt) null(i int32) bool {
	return lib.Xsqlite3_column_type(s.conn.tls, s.handle, i) == lib.SQLITE_NULL
}

func (s *stmt) integer(i int32) int64 { return lib.Xsqlite3_column_int64(s.conn.tls, s.handle, i) }

func (s *stmt) text(i int32) string {
	at := lib.Xsqlite3_column_text(s.conn.tls, s.handle, i)
	if n := lib.Xsqlite3_column_bytes(s.conn.tls, s.handle, i); n > 0 {
		return string(libc.GoBytes(at, int(n)))
	}
	return ""
}

// blob copies a column of bytes. NULL is nil, and an empty value is not.
func (s *stmt) blob(i int32) []byte {
	if s.null(i) {
		return nil
	}
	at := lib.Xsqlite3_column_blob(s.conn.tls, s.handle, i)
	n := lib.Xsqlite3_column_bytes(s.conn.tls, s.handle, i)
	b := make([]byte, n)
	if n > 0 {
		copy(b, libc.GoBytes(at, int(n)))
	}
	return b
}
