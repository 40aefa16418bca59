package postgres_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

var completed = restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}

var lastID atomic.Uint64

func newID() string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", lastID.Add(1)) }

// insertion is an event with one execution.
func insertion(eventID string, begin bool) *restaq.Insertion {
	return &restaq.Insertion{
		Event: &restaq.Event{
			Source: "stripe", Provider: "stripe", ID: eventID, Type: "stripe.charge.succeeded", Payload: []byte(`{}`),
		},
		Executions: []restaq.NewExecution{{ID: newID(), Handler: "shop.Paid", Begin: begin}},
		Owner:      "owner-1",
		Lease:      time.Minute,
	}
}

// insertOne stores an event with one execution and returns its id.
func insertOne(t *testing.T, s restaq.Store, eventID string, begin bool) string {
	t.Helper()
	in := insertion(eventID, begin)
	if created, _, err := s.Insert(t.Context(), in); err != nil || !created {
		t.Fatalf("Insert = %v, %v", created, err)
	}
	return in.Executions[0].ID
}

// withUser replaces the user of a URL.
func withUser(t *testing.T, address, user, password string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}

func TestSimultaneousDeliveriesHaveOneWinner(t *testing.T) {
	for _, level := range []string{"read committed", "serializable"} {
		t.Run(level, func(t *testing.T) {
			d := database{pgtest.URL(t), "restaq"}
			if level == "serializable" {
				serializable(t, d.url)
			}
			stores := []*store{open(t, d), open(t, d)}
			for round := range 5 {
				event := fmt.Sprint("evt_", round)
				var winners atomic.Int32
				var ids sync.Map
				start := make(chan struct{})
				var wg sync.WaitGroup
				for i := range 100 {
					for _, s := range stores {
						wg.Go(func() {
							<-start
							in := insertion(event, i%2 == 0)
							created, made, err := s.Insert(t.Context(), in)
							if err != nil {
								t.Errorf("Insert: %v", err)
								return
							}
							if created {
								winners.Add(1)
								ids.Store(made[0].ID, true)
								return
							}
							found, err := s.Lookup(t.Context(), "stripe", event, false)
							if err != nil || len(found.Executions) != 1 {
								t.Errorf("the loser's Lookup = %+v, %v", found, err)
								return
							}
							ids.Store(found.Executions[0].ID, true)
						})
					}
				}
				close(start)
				wg.Wait()
				n := 0
				ids.Range(func(any, any) bool { n++; return true })
				if winners.Load() != 1 || n != 1 {
					t.Errorf("round %d: %d winners, %d executions; want 1 of each", round, winners.Load(), n)
				}
			}
		})
	}
}

// Two processes find handlers that an event lacks, and add them at once.
func TestSimultaneousAdditionsMakeOneOriginalPerHandler(t *testing.T) {
	d := database{pgtest.URL(t), "restaq"}
	stores := []*store{open(t, d), open(t, d)}
	insertOne(t, stores[0], "evt_1", false)
	var made atomic.Int32
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			in := &restaq.Insertion{Source: "stripe", EventID: "evt_1", Executions: []restaq.NewExecution{
				{ID: newID(), Handler: "shop.Later"}, {ID: newID(), Handler: "shop.Paid"},
			}}
			_, executions, err := stores[i%2].Insert(t.Context(), in)
			if err != nil {
				t.Errorf("Insert: %v", err)
			}
			made.Add(int32(len(executions)))
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d executions were made, want 1", made.Load())
	}
}

// One process prunes completed executions while another restarts them: each is
// either gone or restarted whole.
func TestPruneAndRestartExcludeEachOther(t *testing.T) {
	d := database{pgtest.URL(t), "restaq"}
	stores := []*store{open(t, d), open(t, d)}
	var ids []string
	for i := range 40 {
		id := insertOne(t, stores[0], fmt.Sprint("evt_", i), true)
		if _, err := stores[0].Finish(t.Context(), restaq.Lease{Execution: id, Attempt: 1, Token: 1}, &completed); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	advance(t, d, time.Hour)
	var pruned, restarted atomic.Int32
	var wg sync.WaitGroup
	wg.Go(func() {
		for range ids {
			done, err := stores[1].Prune(t.Context(), restaq.Prune{OlderThan: time.Minute, Limit: 1})
			if err != nil {
				t.Errorf("Prune: %v", err)
			}
			pruned.Add(int32(done.Executions))
		}
	})
	for i := range ids {
		wg.Go(func() {
			id := ids[len(ids)-1-i]
			_, changed, err := stores[0].Change(t.Context(), id, restaq.Change{
				From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Restarted,
			})
			switch {
			case errors.Is(err, restaq.ErrNotFound):
			case err != nil:
				t.Errorf("Change: %v", err)
			case changed:
				restarted.Add(1)
				if h, err := stores[0].History(t.Context(), id); err != nil || len(h.Attempts) != 1 || h.Event.Payload == nil {
					t.Errorf("restarted execution %s is not whole: %+v, %v", id, h, err)
				}
			}
		})
	}
	wg.Wait()
	if got := pruned.Load() + restarted.Load(); got != int32(len(ids)) {
		t.Errorf("%d pruned and %d restarted, want %d in all", pruned.Load(), restarted.Load(), len(ids))
	}
}

// terminate ends all other connections of a database.
func terminate(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	err := conn.QueryRow(t.Context(), `
		SELECT count(*) FROM (
			SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()
		) ended`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// awaitBlocked waits until n connections of a database wait for a lock.
func awaitBlocked(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	for blocked := 0; blocked < n; {
		err := conn.QueryRow(t.Context(), `
			SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&blocked)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAConnectionLostInACallFailsItAndTheNextCallWorks(t *testing.T) {
	d := database{pgtest.URL(t), "restaq"}
	s := open(t, d)
	admin := connect(t, d.url)
	id := insertOne(t, s, "evt_1", true)
	lease := restaq.Lease{Execution: id, Attempt: 1, Token: 1}

	// Somebody holds the position in the log, so that the call is under way when
	// its connection goes.
	holder := connect(t, d.url)
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `
		INSERT INTO restaq.entry (execution, token, position, outcome, started_at, ended_at)
		VALUES ($1, 1, 1, 0, now(), now())`, id); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	step := restaq.StepRow{Attempt: 1, Seq: 1, Name: "charge", Status: restaq.StepCompleted}
	go func() {
		failed <- s.Record(t.Context(), lease, &restaq.Progress{Steps: []restaq.StepRow{step}})
	}()
	awaitBlocked(t, admin, 1)
	terminate(t, admin)
	if err := <-failed; err == nil || errors.Is(err, restaq.ErrLeaseLost) {
		t.Fatalf("Record on a lost connection = %v, want an error that is not ErrLeaseLost", err)
	}
	if err := s.Record(t.Context(), lease, &restaq.Progress{Steps: []restaq.StepRow{step}}); err != nil {
		t.Errorf("the next call: %v", err)
	}
	if h, err := s.History(t.Context(), id); err != nil || len(h.Steps) != 1 {
		t.Errorf("history %+v, %v; want the step once", h, err)
	}
}

// A server that restarts ends idle connections too. At most one call hears of
// it.
func TestIdleConnectionsThatWereLostFailOneCallAtMost(t *testing.T) {
	d := database{pgtest.URL(t), "restaq"}
	s := open(t, d)
	admin := connect(t, d.url)
	var wg sync.WaitGroup
	for i := range 8 { // as many connections as it may have
		wg.Go(func() { insertOne(t, s, fmt.Sprint("evt_", i), false) })
	}
	wg.Wait()
	if n := terminate(t, admin); n < 2 {
		t.Fatalf("the store had %d idle connections, want some", n)
	}
	failures := 0
	for range 10 {
		if _, err := s.Lookup(t.Context(), "stripe", "evt_1", false); err != nil {
			failures++
		}
	}
	if failures > 1 {
		t.Errorf("%d calls failed, want at most 1", failures)
	}
}

// requests counts what is sent to the server and waited for: the messages Sync
// and Query.
type requests struct{ n atomic.Int32 }

// counted is a connection whose requests are counted.
type counted struct {
	net.Conn
	requests *requests
	started  bool   // the first message, which has no type, was sent
	partial  []byte // the beginning of a message
}

func (c *counted) Write(p []byte) (int, error) {
	c.partial = append(c.partial, p...)
	for head := 1; ; head = 1 {
		if !c.started {
			head = 0
		}
		if len(c.partial) < head+4 {
			break
		}
		n := head + int(binary.BigEndian.Uint32(c.partial[head:]))
		if len(c.partial) < n {
			break
		}
		if kind := c.partial[0]; c.started && (kind == 'S' || kind == 'Q') {
			c.requests.n.Add(1)
		}
		c.started, c.partial = true, c.partial[n:]
	}
	return c.Conn.Write(p)
}

func TestTheHotPathIsOneRequestPerCall(t *testing.T) {
	cfg, err := pgxpool.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	var sent requests
	cfg.ConnConfig.TLSConfig = nil
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &counted{Conn: conn, requests: &sent}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := postgres.OpenConfig(t.Context(), postgres.Config{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// The first time statements are prepared, and names made known.
	for _, count := range []bool{false, true} {
		hotPath(t, s, fmt.Sprint("evt_", count), func(call string, run func() error) {
			before := sent.n.Load()
			if err := run(); err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			if n := sent.n.Load() - before; count && n != 1 {
				t.Errorf("%s took %d requests, want 1", call, n)
			}
		})
	}
}

// hotPath makes the calls of an event with two executions.
func hotPath(t *testing.T, s *postgres.Store, event string, call func(name string, run func() error)) {
	ctx := t.Context()
	in := insertion(event, true)
	in.Executions = append(in.Executions, restaq.NewExecution{ID: newID(), Handler: "shop.Later"})
	lease := restaq.Lease{Execution: in.Executions[0].ID, Attempt: 1, Token: 1}
	step := func(seq int) []restaq.StepRow {
		return []restaq.StepRow{{Attempt: 1, Seq: seq, Name: fmt.Sprint("step", seq), Status: restaq.StepCompleted}}
	}
	call("Lookup", func() error {
		_, err := s.Lookup(ctx, "stripe", event, false)
		if errors.Is(err, restaq.ErrNotFound) {
			err = nil
		}
		return err
	})
	call("Insert", func() error { _, _, err := s.Insert(ctx, in); return err })
	call("Record", func() error { return s.Record(ctx, lease, &restaq.Progress{Steps: step(1)}) })
	call("Record beside another step", func() error { return s.Record(ctx, lease, &restaq.Progress{Steps: step(2), Current: "b"}) })
	call("Renew", func() error {
		_, err := s.Renew(ctx, []restaq.Renewal{{Lease: lease}}, time.Minute)
		return err
	})
	call("Finish", func() error { _, err := s.Finish(ctx, lease, &completed); return err })
	claim := func() (claimed []restaq.Claimed, err error) {
		claimed, err = s.Claim(ctx, restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Later"}, Limit: 9})
		if err == nil && len(claimed) != 1 {
			err = fmt.Errorf("claimed %d, want 1", len(claimed))
		}
		return claimed, err
	}
	var claimed []restaq.Claimed
	call("Claim", func() (err error) { claimed, err = claim(); return err })
	call("Finish with a failure", func() error {
		_, err := s.Finish(ctx, claimed[0].Lease, &restaq.Outcome{
			Status: restaq.Failed, Attempt: restaq.AttemptFailed, Error: "no", Steps: step(1), Retry: true, RetryIn: time.Hour,
		})
		return err
	})
}
