package sqlite

import (
	"context"
	"errors"
	"sync"
)

// reader is the pool of connections that read.
type reader struct {
	path   string
	free   chan *conn // nil stands for a connection that is not open yet
	once   sync.Once  // guards closing
	closed chan struct{}
}

func openReader(path string, conns int) *reader {
	r := &reader{path: path, free: make(chan *conn, conns), closed: make(chan struct{})}
	for range conns {
		r.free <- nil
	}
	return r
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
		err = errors.Join(errs...)
	})
	return err
}

// take waits for a connection. The caller puts it back into r.free.
func (r *reader) take(ctx context.Context) (c *conn, err error) {
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
		err = whileBusy(ctx, busyLimit, func() (err error) {
			c, err = openConn(r.path, "query_only = ON")
			return err
		})
		if err != nil {
			r.free <- nil
			return nil, err
		}
	}
	return c, nil
}

// read runs fn, whose queries find what they want by an index and take no time
// to speak of. Each has a snapshot of its own; the statements are kept for the
// next time.
func (r *reader) read(ctx context.Context, fn func(query queryFunc) error) error {
	return r.with(ctx, func(c *conn) error { return fn(patiently(ctx, c.query)) })
}

// readOnce is read for a statement that is put together as needed, and not
// kept. It ends with ctx.
func (r *reader) readOnce(ctx context.Context, fn func(query queryFunc) error) error {
	return r.with(ctx, func(c *conn) error { return fn(c.queryUntil(ctx, patiently(ctx, c.queryOnce))) })
}

// snapshot runs fn, whose queries all see the file as it is at the first, and
// end with ctx.
func (r *reader) snapshot(ctx context.Context, fn func(query queryFunc) error) error {
	return r.with(ctx, func(c *conn) error {
		if _, err := c.exec(`BEGIN`); err != nil {
			return err
		}
		err := fn(c.queryUntil(ctx, patiently(ctx, c.query)))
		_, end := c.exec(`COMMIT`)
		return errors.Join(err, end)
	})
}

func (r *reader) with(ctx context.Context, fn func(c *conn) error) error {
	c, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer func() { r.free <- c }()
	return fn(c)
}

// patiently returns query for statements that wait for a lock. There may be one
// while a process puts the file in order.
func patiently(ctx context.Context, query queryFunc) queryFunc {
	return func(text string, args ...any) (rows, error) {
		found, err := query(text, args...)
		if err == nil || !busy(err) {
			return found, err
		}
		err = whileBusy(ctx, busyLimit, func() (err error) {
			found, err = query(text, args...)
			return err
		})
		return found, err
	}
}
