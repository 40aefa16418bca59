//go:build linux

package chaos

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

// underLoad runs trouble for the time of a scenario at random while three
// workers take events, then waits for the end of all work and checks it.
func (f *fleet) underLoad(short time.Duration, allowed []restaq.AttemptOutcome, configure func(*workerConfig), trouble func(ctx context.Context)) {
	f.t.Helper()
	f.underLoadOf(short, allowed, configure, func(ctx context.Context, _ *sendings) { trouble(ctx) })
}

// underLoadOf is underLoad for trouble that looks at what is sent.
func (f *fleet) underLoadOf(short time.Duration, allowed []restaq.AttemptOutcome, configure func(*workerConfig), trouble func(ctx context.Context, s *sendings)) {
	f.t.Helper()
	s := newSendings()
	for i := range 3 {
		cfg := workerConfig{Name: fmt.Sprint("worker-", i)}
		if configure != nil {
			configure(&cfg)
		}
		f.first(s, f.start(cfg))
	}
	ctx, stop := context.WithTimeout(f.t.Context(), span(f.t, short))
	defer stop()
	var group sync.WaitGroup
	group.Go(func() { f.load(ctx, s, 4, 50*time.Millisecond, 5) })
	var seen sightings
	group.Go(func() { seen = f.watch(ctx, s) })
	trouble(ctx, s)
	group.Wait()
	f.settle()
	ev := f.verify(s, evidence{seen: seen, allowed: allowed})
	report(f.t, s, ev)
}

// The server is killed and starts again. What had begun before goes on in the
// same processes: nothing is lost, but attempts may be, if the server is away
// for longer than a lease.
func TestServerIsKilledAndStartsAgain(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	f := newFleetOn(t, "postgres", server.url)
	kills := 0
	f.underLoad(5*time.Second, crashes, nil, func(ctx context.Context) {
		for ; pause(ctx, time.Duration(500+rand.N(1000))*time.Millisecond) == nil; kills++ {
			limited, cancel := context.WithTimeout(t.Context(), patience)
			err := server.kill(limited)
			if err == nil {
				_ = pause(ctx, time.Duration(rand.N(1500))*time.Millisecond)
				err = server.start(limited)
			}
			cancel()
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Logf("%d kills of the server", kills)
	if kills == 0 {
		t.Error("the server was never killed")
	}
}

// Every connection is ended by the server, over and over.
func TestConnectionsAreTerminated(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	conn, err := pgx.Connect(t.Context(), f.target)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	ended := 0
	f.underLoad(3*time.Second, crashes, nil, func(ctx context.Context) {
		for pause(ctx, time.Duration(20+rand.N(150))*time.Millisecond) == nil {
			n, err := terminateOthers(t.Context(), conn)
			if err != nil {
				t.Error(err)
				return
			}
			ended += n
		}
	})
	t.Logf("%d connections ended", ended)
	if ended == 0 {
		t.Error("no connection was ended")
	}
}

// The database's default is serializable. Three workers under load hear of no
// serialization failure and of no deadlock, and lose nothing.
func TestSerializableByDefault(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "postgres")
	f.onDatabase(func(_ *sql.DB, conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `DO $$ BEGIN
			EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
		END $$`)
		return err
	})
	f.underLoadOf(2*time.Second, nil, func(cfg *workerConfig) {
		cfg.Lease, cfg.Deliver = time.Minute, patience // a slow answer is no wrong one
	}, func(ctx context.Context, s *sendings) {
		<-ctx.Done()
		s.polite(t)
		if n := s.refused.Load(); n > 0 {
			t.Errorf("%d deliveries were refused", n)
		}
	})
	for _, e := range f.entries() {
		if e.What == refused && !strings.HasSuffix(e.Text, ": fails in the first attempt") {
			t.Errorf("a step was told %q", e.Text)
		}
	}
}

// terminateOthers ends all connections to a database but one.
func terminateOthers(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	err = conn.QueryRow(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n)
	return n, err
}
