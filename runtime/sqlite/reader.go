package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// queryFunc runs a statement that returns rows.
type queryFunc func(query string, args ...any) (*sql.Rows, error)

// reader is the pool of connections that read. Each has prepared statements of
// its own, so that whoever has a connection never waits for another one.
type reader struct {
	db     *sql.DB
	free   chan *readConn // nil stands for a connection that is not open yet
	once   sync.Once      // guards closing
	closed chan struct{}
}

// readConn is a connection that reads. Whoever took it from the pool alone
// uses it.
type readConn struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // by their text
}

func openReader(path string, conns int) (*reader, error) {
	db, err := sql.Open("sqlite", dsn(path, "query_only(ON)"))
	if err != nil {
		return nil, err
	}
	r := &reader{db: db, free: make(chan *readConn, conns), closed: make(chan struct{})}
	for range conns {
		r.free <- nil
	}
	return r, nil
}

// close closes the connections, after the reads under way.
func (r *reader) close() (err error) {
	r.once.Do(func() {
		close(r.closed)
		var errs []error
		for range cap(r.free) {
			if c := <-r.free; c != nil {
				errs = append(errs, c.close())
			}
		}
		err = errors.Join(append(errs, r.db.Close())...)
	})
	return err
}

func (c *readConn) close() error {
	for _, stmt := range c.stmts {
		stmt.Close()
	}
	return c.conn.Close()
}

// take waits for a connection. The caller puts it back into r.free.
func (r *reader) take(ctx context.Context) (c *readConn, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case c = <-r.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.closed:
		return nil, errClosed
	}
	if c == nil {
		conn, err := r.db.Conn(ctx)
		if err != nil {
			r.free <- nil
			return nil, err
		}
		c = &readConn{conn: conn, stmts: map[string]*sql.Stmt{}}
	}
	return c, nil
}

// read runs fn with a connection. Each of its queries has a snapshot of its
// own; the statements are kept for the next time.
func (r *reader) read(ctx context.Context, fn func(query queryFunc) error) error {
	c, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer func() { r.free <- c }()
	return fn(c.query(ctx))
}

// readOnce is read for a statement that is put together as needed, and not
// kept.
func (r *reader) readOnce(ctx context.Context, fn func(query queryFunc) error) error {
	c, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer func() { r.free <- c }()
	return fn(func(text string, args ...any) (*sql.Rows, error) { return c.conn.QueryContext(ctx, text, args...) })
}

// snapshot runs fn, whose queries all see the file as it is at the first.
func (r *reader) snapshot(ctx context.Context, fn func(query queryFunc) error) error {
	c, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer func() { r.free <- c }()
	if err := c.exec(`BEGIN`); err != nil {
		return err
	}
	return errors.Join(fn(c.query(ctx)), c.exec(`COMMIT`))
}

func (c *readConn) stmt(text string) (*sql.Stmt, error) {
	if stmt := c.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.conn.PrepareContext(context.Background(), text)
	if err == nil {
		c.stmts[text] = stmt
	}
	return stmt, err
}

// query runs statements that end with ctx.
func (c *readConn) query(ctx context.Context) queryFunc {
	return func(text string, args ...any) (*sql.Rows, error) {
		stmt, err := c.stmt(text)
		if err != nil {
			return nil, err
		}
		return stmt.QueryContext(ctx, args...)
	}
}

// exec begins or ends a transaction, which must end whether or not the
// caller's context has.
func (c *readConn) exec(text string) error {
	stmt, err := c.stmt(text)
	if err == nil {
		_, err = stmt.Exec()
	}
	return err
}
