package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

// transacting is a store with one running execution and a table of numbers,
// and what happens to the connection of its next commit.
type transacting struct {
	*testing.T
	*store
	lease restaq.Lease
	tap   *tap
}

func newTransacting(t *testing.T) *transacting {
	t.Helper()
	address := pgtest.URL(t)
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	f := &transacting{T: t, tap: &tap{met: make(chan struct{})}}
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &tapped{Conn: conn, tap: f.tap}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s, err := postgres.OpenConfig(t.Context(), postgres.Config{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f.store = &store{Store: s, database: database{address, "restaq"}}
	txs.Prepare(t, f.store)
	f.lease = restaq.Lease{Execution: "01900000-0000-7000-8000-000000000001", Attempt: 1, Token: 1}
	created, _, err := s.Insert(t.Context(), &restaq.Insertion{
		Event:      &restaq.Event{Source: "s", Provider: "s", ID: "evt_1", Type: "s.paid"},
		Executions: []restaq.NewExecution{{ID: f.lease.Execution, Handler: "shop.Paid", Begin: true}},
		Owner:      "old", Lease: time.Minute,
	})
	if err != nil || !created {
		t.Fatalf("Insert = %v, %v", created, err)
	}
	return f
}

// step runs a step under a lease of length d; do may be nil.
func (f *transacting) step(d time.Duration, do func(ctx context.Context, tx pgx.Tx) error) error {
	return f.Transact(f.Context(), f.lease, d, func(ctx context.Context, tx any) (*restaq.Progress, error) {
		if do != nil {
			if err := do(ctx, tx.(pgx.Tx)); err != nil {
				return nil, err
			}
		}
		if err := f.write(ctx, tx.(pgx.Tx)); err != nil {
			return nil, err
		}
		return f.row(), nil
	})
}

func (f *transacting) write(ctx context.Context, tx pgx.Tx) error {
	return txs.Write(ctx, f.store, tx, 1)
}

func (f *transacting) row() *restaq.Progress {
	return &restaq.Progress{Steps: []restaq.StepRow{{Attempt: 1, Seq: 1, Name: "pay", Status: restaq.StepCompleted}}}
}

// takeOver lets the lease run out and claims what is due.
func (f *transacting) takeOver() int {
	f.Helper()
	advance(f.T, f.database, time.Hour)
	claimed, err := open(f.T, f.database).Claim(f.Context(), restaq.Claim{Owner: "new", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 1})
	if err != nil {
		f.Fatal(err)
	}
	return len(claimed)
}

// stored checks that writes and record are there, or that neither is.
func (f *transacting) stored(want bool) {
	f.Helper()
	n := 0
	if want {
		n = 1
	}
	if written := txs.Written(f.T, f.store); len(written) != n {
		f.Errorf("written: %v, want %d", written, n)
	}
	h, err := f.History(f.Context(), f.lease.Execution)
	if err != nil || len(h.Steps) != n {
		f.Errorf("%d steps are recorded, %v; want %d", len(h.Steps), err, n)
	}
	recorded, err := f.Recorded(f.Context(), f.lease, 1)
	if err != nil || recorded != want {
		f.Errorf("Recorded = %v, %v; want %v", recorded, err, want)
	}
}

// await waits until a query says true.
func (f *transacting) await(sql string, args ...any) {
	f.Helper()
	conn := connect(f.T, f.url)
	for met := false; !met; {
		if err := conn.QueryRow(f.Context(), sql, args...).Scan(&met); err != nil {
			f.Fatal(err)
		}
	}
}

const goneSQL = `SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)`

// tap is what happens to the next commit.
type tap struct {
	mu  sync.Mutex
	how string // "" for nothing
	met chan struct{}
}

func (t *tap) set(how string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.how = how
}

// meets returns what happens to a message: at most one has anything happen.
func (t *tap) meets(b []byte) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.how == "" || !bytes.Contains(b, []byte("Q\x00\x00\x00\x0bcommit\x00")) {
		return ""
	}
	how := t.how
	t.how = ""
	close(t.met)
	return how
}

// tapped is a connection that loses its commit.
type tapped struct {
	net.Conn
	tap   *tap
	holed bool // everything that comes is swallowed, as by a broken network
}

func (c *tapped) Write(b []byte) (int, error) {
	switch c.tap.meets(b) {
	case "answer lost":
		if n, err := c.Conn.Write(b); err != nil {
			return n, err
		}
		c.Conn.Read(make([]byte, 1)) // the server has answered
		c.Conn.Close()
		return len(b), nil
	case "question lost":
		c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	case "black hole":
		c.holed = true
	}
	if c.holed {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// Close closes nothing that the network hides from the server.
func (c *tapped) Close() error {
	if c.holed {
		return nil
	}
	return c.Conn.Close()
}

func TestACommitWhoseAnswerIsLostIsFoundOut(t *testing.T) {
	f := newTransacting(t)
	f.tap.set("answer lost")
	if err := f.step(time.Minute, nil); !errors.Is(err, restaq.ErrUncertain) {
		t.Fatalf("Transact = %v, want ErrUncertain", err)
	}
	f.stored(true)
}

func TestACommitThatNeverArrivedIsFoundOut(t *testing.T) {
	f := newTransacting(t)
	f.tap.set("question lost")
	if err := f.step(time.Minute, nil); !errors.Is(err, restaq.ErrUncertain) {
		t.Fatalf("Transact = %v, want ErrUncertain", err)
	}
	if recorded, err := f.Recorded(t.Context(), f.lease, 1); err != nil || recorded {
		t.Errorf("Recorded = %v, %v", recorded, err)
	}
	f.stored(false)
	if err := f.step(time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	f.stored(true)
}

func TestATransactionInABlackHoleEndsBeforeItsLease(t *testing.T) {
	f := newTransacting(t)
	f.tap.set("black hole")
	done := make(chan error, 1)
	go func() { done <- f.step(4*time.Second, nil) }()
	<-f.tap.met
	// The server waits for the commit, and its lock holds off a take-over.
	if n := f.takeOver(); n != 0 {
		t.Fatal("the execution was taken over under a transaction that may still commit")
	}
	// Whoever asks waits for the end, which the server brings about.
	if recorded, err := f.Recorded(t.Context(), f.lease, 1); err != nil || recorded {
		t.Errorf("Recorded = %v, %v", recorded, err)
	}
	if n := f.takeOver(); n != 1 {
		t.Error("the execution was not taken over after the transaction's end")
	}
	if err := <-done; !errors.Is(err, restaq.ErrUncertain) {
		t.Errorf("Transact = %v, want ErrUncertain", err)
	}
	f.stored(false)
}

func TestATransactionThatIdlesForHalfALeaseIsEnded(t *testing.T) {
	f := newTransacting(t)
	err := f.step(time.Second, func(ctx context.Context, tx pgx.Tx) error {
		f.await(goneSQL, tx.Conn().PgConn().PID())
		return nil
	})
	if err == nil || errors.Is(err, restaq.ErrConnectionLost) {
		t.Errorf("Transact = %v, want a failure of the step", err)
	}
	f.stored(false)
	if err := f.step(time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	f.stored(true)
}

func TestATransactionWhoseConnectionIsLostLeavesNothing(t *testing.T) {
	own := errors.New("what the step makes of it")
	for name, after := range map[string]func(f *transacting, ctx context.Context, tx pgx.Tx) error{
		"and the step does not notice": func(*transacting, context.Context, pgx.Tx) error { return nil },
		"and the step says so":         func(f *transacting, ctx context.Context, tx pgx.Tx) error { return f.write(ctx, tx) },
		"and the step says otherwise": func(f *transacting, ctx context.Context, tx pgx.Tx) error {
			f.write(ctx, tx)
			tx.Rollback(ctx)
			return own
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTransacting(t)
			err := f.Transact(t.Context(), f.lease, time.Minute, func(ctx context.Context, tx any) (*restaq.Progress, error) {
				if err := f.write(ctx, tx.(pgx.Tx)); err != nil {
					return nil, err
				}
				pid := tx.(pgx.Tx).Conn().PgConn().PID()
				exec(t, f.url, `SELECT pg_terminate_backend($1)`, int32(pid))
				f.await(goneSQL, pid)
				return f.row(), after(f, ctx, tx.(pgx.Tx))
			})
			if !errors.Is(err, restaq.ErrConnectionLost) || errors.Is(err, restaq.ErrUncertain) {
				t.Errorf("Transact = %v, want ErrConnectionLost", err)
			}
			f.stored(false)
		})
	}
}

// pgx closes a connection when the context of a statement ends.
func TestAStatementWhoseContextEndsIsTheStepsOwnFailure(t *testing.T) {
	f := newTransacting(t)
	err := f.step(time.Minute, func(ctx context.Context, tx pgx.Tx) error {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
		return err
	})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, restaq.ErrConnectionLost) {
		t.Errorf("Transact = %v, want the end of the statement's context", err)
	}
	f.stored(false)
}

func TestALeaseLostWhileAStepRunsLeavesNothing(t *testing.T) {
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			f := newTransacting(t)
			err := f.step(time.Minute, func(ctx context.Context, tx pgx.Tx) error {
				if err := isolate(ctx, tx, level); err != nil {
					return err
				}
				if n := f.takeOver(); n != 1 {
					t.Fatal("a step that has not written its record holds off a take-over")
				}
				return nil
			})
			if !errors.Is(err, restaq.ErrLeaseLost) && code(err) != "40001" {
				t.Errorf("Transact = %v, want ErrLeaseLost or a serialization failure", err)
			}
			f.stored(false)
		})
	}
}

func TestRenewalsDoNotDisturbAStepAtAnyIsolationLevel(t *testing.T) {
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		t.Run(level, func(t *testing.T) {
			f := newTransacting(t)
			renew := func(ctx context.Context) {
				lost, err := f.Renew(ctx, []restaq.Renewal{{Lease: f.lease, Progress: restaq.Progress{Current: "pay"}}}, time.Minute)
				if len(lost) > 0 || err != nil {
					t.Errorf("Renew = %v, %v", lost, err)
				}
			}
			renew(t.Context())
			err := f.step(time.Minute, func(ctx context.Context, tx pgx.Tx) error {
				err := isolate(ctx, tx, level)
				renew(ctx)
				return err
			})
			if err != nil {
				t.Errorf("Transact = %v", err)
			}
			f.stored(true)
		})
	}
}

func TestASerializationFailureLeavesNothing(t *testing.T) {
	f := newTransacting(t)
	err := f.step(time.Minute, func(ctx context.Context, tx pgx.Tx) error {
		if err := isolate(ctx, tx, "SERIALIZABLE"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SELECT sum(n) FROM restaq.number`); err != nil {
			return err
		}
		other, err := connect(t, f.url).BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.Serializable})
		if err != nil {
			return err
		}
		if _, err := other.Exec(ctx, `INSERT INTO restaq.number SELECT -coalesce(sum(n), 0) FROM restaq.number`); err != nil {
			return err
		}
		return other.Commit(ctx)
	})
	if code(err) != "40001" {
		t.Errorf("Transact = %v, want a serialization failure", err)
	}
	if written := txs.Written(t, f.store); !slices.Equal(written, []int{0}) {
		t.Errorf("written: %v, want what the other transaction wrote", written)
	}
	if recorded, err := f.Recorded(t.Context(), f.lease, 1); err != nil || recorded {
		t.Errorf("Recorded = %v, %v", recorded, err)
	}
}

// isolate sets a transaction's level and has it take its snapshot.
func isolate(ctx context.Context, tx pgx.Tx, level string) error {
	if _, err := tx.Exec(ctx, `SET TRANSACTION ISOLATION LEVEL `+level); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `SELECT count(*) FROM restaq.number`)
	return err
}

// code is the SQLSTATE of an error; "" if it has none.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

func TestAStepThatIsCarelessLeavesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(ctx context.Context, tx pgx.Tx) error
		want string
	}{
		"goes past an error": {func(ctx context.Context, tx pgx.Tx) error {
			tx.Exec(ctx, `SELECT 1/0`)
			return nil
		}, "the step went past an error of one of its statements"},
		"leaves rows open": {func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Query(ctx, `SELECT generate_series(1, 100000)`)
			return err
		}, "conn busy"},
		"commits and begins": {func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `COMMIT; BEGIN`)
			return err
		}, "ended its transaction itself"},
		"commits and fails": {func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `COMMIT`)
			return errors.Join(err, errors.New("oops"))
		}, "ended its transaction itself"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTransacting(t)
			err := f.Transact(t.Context(), f.lease, time.Minute, func(ctx context.Context, tx any) (*restaq.Progress, error) {
				return f.row(), test.do(ctx, tx.(pgx.Tx))
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Transact = %v, want %q", err, test.want)
			}
			f.stored(false)
			if err := f.step(time.Minute, nil); err != nil {
				t.Errorf("the next one: %v", err)
			}
			f.stored(true)
		})
	}
}

func TestAStepMayUseSavepoints(t *testing.T) {
	f := newTransacting(t)
	err := f.step(time.Minute, func(ctx context.Context, tx pgx.Tx) error {
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `SELECT 1/0`)
			return err
		})
		if code(err) != "22012" {
			t.Errorf("the savepoint: %v", err)
		}
		return pgx.BeginFunc(ctx, tx, func(pgx.Tx) error { return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	f.stored(true)
}
