package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// conn is a connection to the file, on SQLite itself: the way through
// database/sql costs as much again as most statements of this package.
//
// Whoever has a conn alone uses it. It has no locks of its own, and its
// statements are kept until it is closed.
type conn struct {
	tls   *libc.TLS
	db    uintptr
	cell  uintptr // memory for a pointer that a call returns
	arena arena
	stmts map[string]*stmt // by their text
}

// openConn opens the file, which is there, with settings for the connection.
// It does not wait for locks: whoever uses it does.
func openConn(path string, pragmas ...string) (*conn, error) {
	c := &conn{tls: libc.NewTLS(), stmts: map[string]*stmt{}}
	c.cell = libc.Xmalloc(c.tls, 8)
	err := c.open(path)
	for _, pragma := range append([]string{"synchronous = FULL", "trusted_schema = OFF"}, pragmas...) {
		if err == nil {
			err = c.script(`PRAGMA ` + pragma)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *conn) open(path string) error {
	name, err := libc.CString(path)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, name)
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.cell, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_NOMUTEX, 0)
	c.db = libc.AtomicLoadPUintptr(c.cell) // there to tell of an error, too
	if rc != lib.SQLITE_OK {
		return c.failure(rc)
	}
	lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	return nil
}

// close closes the connection and frees what belongs to it.
func (c *conn) close() error {
	for _, s := range c.stmts {
		s.finalize()
	}
	var err error
	if rc := lib.Xsqlite3_close_v2(c.tls, c.db); rc != lib.SQLITE_OK {
		err = c.failure(rc)
	}
	c.arena.free(c.tls)
	libc.Xfree(c.tls, c.cell)
	c.tls.Close()
	return err
}

// interrupt makes the statement under way fail. Unlike all else it may be
// called by others, until the connection is closed.
func (c *conn) interrupt() {
	tls := libc.NewTLS()
	defer tls.Close()
	lib.Xsqlite3_interrupt(tls, c.db)
}

// stmt returns a prepared statement, which is kept.
func (c *conn) stmt(text string) (*stmt, error) {
	if s := c.stmts[text]; s != nil {
		return s, nil
	}
	s, err := c.prepare(text)
	if err == nil {
		c.stmts[text] = s
	}
	return s, err
}

func (c *conn) prepare(text string) (*stmt, error) {
	sql, err := libc.CString(text)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, sql)
	if rc := lib.Xsqlite3_prepare_v3(c.tls, c.db, sql, -1, lib.SQLITE_PREPARE_PERSISTENT, c.cell, 0); rc != lib.SQLITE_OK {
		return nil, c.failure(rc)
	}
	return &stmt{conn: c, handle: libc.AtomicLoadPUintptr(c.cell)}, nil
}

// script runs statements without arguments, which are not kept.
func (c *conn) script(text string) error {
	sql, err := libc.CString(text)
	if err != nil {
		return err
	}
	defer libc.Xfree(c.tls, sql)
	for rest := sql; ; {
		tail := c.arena.need(c.tls, 8)
		if rc := lib.Xsqlite3_prepare_v3(c.tls, c.db, rest, -1, 0, c.cell, tail); rc != lib.SQLITE_OK {
			return c.failure(rc)
		}
		rest = libc.AtomicLoadPUintptr(tail)
		s := &stmt{conn: c, handle: libc.AtomicLoadPUintptr(c.cell)}
		if s.handle == 0 { // nothing but space is left
			return nil
		}
		_, err := s.exec()
		s.finalize()
		if err != nil {
			return err
		}
	}
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(text string, args ...any) (changed int64, err error) {
	s, err := c.stmt(text)
	if err != nil {
		return 0, err
	}
	return s.exec(args...)
}

// query runs a statement that returns rows.
func (c *conn) query(text string, args ...any) (rows, error) {
	s, err := c.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.query(args...)
}

// queryOnce is query for a statement that is not kept.
func (c *conn) queryOnce(text string, args ...any) (rows, error) {
	s, err := c.prepare(text)
	if err != nil {
		return nil, err
	}
	s.once = true
	found, err := s.query(args...)
	if err != nil {
		s.finalize()
	}
	return found, err
}

// queryUntil returns query for statements that end with ctx.
func (c *conn) queryUntil(ctx context.Context, query queryFunc) queryFunc {
	if ctx.Done() == nil {
		return query
	}
	return func(text string, args ...any) (rows, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := &interruptible{ctx: ctx, over: make(chan struct{}), quiet: make(chan struct{})}
		r.stop = context.AfterFunc(ctx, func() { r.interrupt(c) })
		var err error
		if r.rows, err = query(text, args...); err != nil {
			r.release()
			return nil, r.because(err)
		}
		return r, nil
	}
}

// interruptible are rows whose statement ends with a context.
type interruptible struct {
	rows
	once  sync.Once
	ctx   context.Context
	stop  func() bool
	over  chan struct{} // closed when the statement is to be left alone
	quiet chan struct{} // closed when it is
}

// interrupt goes on until the statement is over: SQLite forgets an interrupt
// that comes just before the statement begins.
func (r *interruptible) interrupt(c *conn) {
	defer close(r.quiet)
	for {
		c.interrupt()
		again := time.NewTimer(10 * time.Millisecond)
		select {
		case <-again.C:
		case <-r.over:
			again.Stop()
			return
		}
	}
}

func (r *interruptible) Err() error { return r.because(r.rows.Err()) }

func (r *interruptible) Close() error {
	err := r.rows.Close()
	r.once.Do(r.release)
	return err
}

// release makes sure that no statement after this one is interrupted.
func (r *interruptible) release() {
	close(r.over)
	if !r.stop() {
		<-r.quiet
	}
}

func (r *interruptible) because(err error) error {
	if primaryCode(err) == lib.SQLITE_INTERRUPT {
		return r.ctx.Err()
	}
	return err
}

// libError is an error of SQLite.
type libError struct {
	code int // extended
	text string
}

func (e *libError) Error() string { return e.text }

// failure is the error that rc stands for, with what the connection has to say
// about its last call.
func (c *conn) failure(rc int32) error {
	text := libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
	if c.db != 0 {
		if more := libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db)); more != text && !strings.HasPrefix(more, "not an error") {
			text += ": " + more
		}
	}
	return &libError{int(rc), fmt.Sprintf("%s (%d)", text, rc)}
}

// arena is memory that SQLite sees: the texts and blobs bound to one statement
// at a time.
type arena struct {
	start uintptr
	bytes []byte // the same memory
}

// arenaKept is how much an arena keeps for the next statement, in bytes.
const arenaKept = 1 << 20

// need returns memory of n bytes, valid until the next call.
func (a *arena) need(tls *libc.TLS, n int) uintptr {
	if n > len(a.bytes) || len(a.bytes) > arenaKept || a.start == 0 {
		a.free(tls)
		size := max(n, 4096)
		if size <= arenaKept {
			size = 1 << bits.Len(uint(size-1))
		}
		a.start = libc.Xmalloc(tls, libc.Tsize_t(size))
		if a.start == 0 {
			panic(fmt.Sprintf("sqlite: out of memory: %d bytes", size))
		}
		a.bytes = libc.GoBytes(a.start, size)
	}
	return a.start
}

func (a *arena) free(tls *libc.TLS) {
	if a.start != 0 {
		libc.Xfree(tls, a.start)
	}
	a.start, a.bytes = 0, nil
}
