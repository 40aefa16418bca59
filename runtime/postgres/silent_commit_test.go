package postgres

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// deafened is a connection whose server hears no statement being prepared while
// deaf is set, and says nothing.
type deafened struct {
	net.Conn
	deaf *atomic.Bool
}

func (d *deafened) Write(b []byte) (int, error) {
	if d.deaf.Load() && bytes.Contains(b, []byte("restaq_0\x00")) {
		return len(b), nil
	}
	return d.Conn.Write(b)
}

// A shared commit whose connection falls silent while its statements are being
// prepared is given up, so that those that queue up behind it go on.
func TestACommitThatIsNotEvenPreparedIsBounded(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	var deaf atomic.Bool
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &deafened{Conn: conn, deaf: &deaf}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := OpenConfig(t.Context(), Config{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(ctx context.Context) error {
		_, err := s.Lookup(ctx, "s", "none", false)
		if errors.Is(err, restaq.ErrNotFound) {
			return nil
		}
		return err
	}
	if err := lookup(t.Context()); err != nil { // the connection is good, as of now
		t.Fatal(err)
	}
	deaf.Store(true)
	s.writePool.Reset()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	together(t, s.writes, func() { lookup(ctx) }, func() { lookup(ctx) })
	deaf.Store(false)
	again, cancel := context.WithTimeout(t.Context(), commitLimit+20*time.Second)
	defer cancel()
	if err := lookup(again); err != nil {
		t.Fatalf("after a silent commit: %v", err) // and the Store cannot be closed
	}
	s.Close()
}
