package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// gate is a group whose commits wait to be let through.
type gate struct {
	group
	begun   chan []*call // one value for each commit, when it begins
	proceed chan struct{}
}

func newGate(lanes int) *gate {
	g := &gate{begun: make(chan []*call), proceed: make(chan struct{})}
	g.lanes = lanes
	g.commit = func(_ context.Context, calls []*call) {
		g.begun <- calls
		<-g.proceed
		for _, c := range calls {
			c.committed = true
		}
	}
	return g
}

// queued waits until n calls are queued up.
func (g *gate) queued(n int) {
	for length := -1; length != n; {
		g.mu.Lock()
		length = len(g.queue)
		g.mu.Unlock()
	}
}

func TestACallGoesAtOnceIfThereIsNothingToCombineItWith(t *testing.T) {
	g := newGate(1)
	c := new(call)
	ended := make(chan error)
	go func() { ended <- g.do(t.Context(), c) }()
	if calls := <-g.begun; len(calls) != 1 || calls[0] != c {
		t.Errorf("committed %v, want the call alone", calls)
	}
	g.proceed <- struct{}{}
	if err := <-ended; err != nil || !c.committed {
		t.Errorf("do = %v, committed %v", err, c.committed)
	}
}

func TestWhatQueuesUpDuringACommitSharesTheNext(t *testing.T) {
	g := newGate(1)
	var wg sync.WaitGroup
	do := func() {
		wg.Go(func() {
			if err := g.do(t.Context(), new(call)); err != nil {
				t.Error(err)
			}
		})
	}
	do()
	<-g.begun
	for range 5 {
		do()
	}
	g.queued(5)
	g.proceed <- struct{}{}
	if calls := <-g.begun; len(calls) != 5 {
		t.Errorf("%d calls share the commit, want 5", len(calls))
	}
	g.proceed <- struct{}{}
	wg.Wait()
	do() // the lane is free again
	<-g.begun
	g.proceed <- struct{}{}
	wg.Wait()
}

func TestACallerThatGivesUpLeavesTheOthersAlone(t *testing.T) {
	g := newGate(1)
	var wg sync.WaitGroup
	wg.Go(func() { g.do(t.Context(), new(call)) })
	<-g.begun
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- g.do(ctx, new(call)) }()
	g.queued(1)
	stays := new(call)
	wg.Go(func() { g.do(t.Context(), stays) })
	g.queued(2)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("do = %v, want context.Canceled", err)
	}
	g.proceed <- struct{}{}
	if calls := <-g.begun; len(calls) != 1 || calls[0] != stays {
		t.Errorf("%d calls share the commit, want the one that stayed", len(calls))
	}
	g.proceed <- struct{}{}
	wg.Wait()
}

// What a call points to, a payload say, is its caller's again once do has
// returned.
func TestACallerDoesNotLeaveWhileItsCallIsRead(t *testing.T) {
	g := newGate(1)
	commit := g.commit
	ctx, cancel := context.WithCancel(t.Context())
	c := &call{in: []byte("payload")}
	g.commit = func(ctx context.Context, calls []*call) {
		g.read(calls, func(calls []*call) {
			if !slices.Contains(calls, c) {
				return
			}
			cancel()
			for range 1000 {
				runtime.Gosched()
				if text := string(c.in.([]byte)); text != "payload" {
					t.Errorf("the call reads %q", text)
					return
				}
			}
		})
		commit(ctx, calls)
	}
	var wg sync.WaitGroup
	wg.Go(func() { g.do(t.Context(), new(call)) })
	<-g.begun
	wg.Go(func() {
		if err := g.do(ctx, c); err != nil {
			copy(c.in.([]byte), "changed")
		}
	})
	wg.Go(func() {
		g.queued(1)
		g.proceed <- struct{}{}
		<-g.begun
		g.proceed <- struct{}{}
	})
	wg.Wait()
}

func TestACallerCanLeaveACommitThatOthersShare(t *testing.T) {
	g := newGate(1)
	var wg sync.WaitGroup
	wg.Go(func() { g.do(t.Context(), new(call)) })
	<-g.begun
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- g.do(ctx, new(call)) }()
	wg.Go(func() {
		if err := g.do(t.Context(), new(call)); err != nil {
			t.Error(err)
		}
	})
	g.queued(2)
	g.proceed <- struct{}{}
	calls := <-g.begun
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("do = %v, want context.Canceled", err)
	}
	left := 0
	for _, c := range calls {
		if c.left.Load() {
			left++
		}
	}
	if len(calls) != 2 || left != 1 {
		t.Errorf("%d of %d calls know that their caller has left, want 1 of 2", left, len(calls))
	}
	g.proceed <- struct{}{}
	wg.Wait()
}

func TestACommitIsBounded(t *testing.T) {
	for _, test := range []struct {
		name  string
		sizes []int
		want  []int // calls of each commit
	}{
		{"bytes", []int{maxGroupBytes / 2, maxGroupBytes / 2, 1, 2 * maxGroupBytes, 1}, []int{2, 1, 1, 1}},
		{"calls", make([]int, maxGroup+1), []int{maxGroup, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newGate(1)
			g.busy = 1
			for _, size := range test.sizes {
				g.queue = append(g.queue, &call{size: size})
			}
			for _, want := range test.want {
				if calls := g.take(); len(calls) != want {
					t.Errorf("%d calls share a commit, want %d", len(calls), want)
				}
			}
			if calls := g.take(); calls != nil || g.busy != 0 {
				t.Errorf("%d calls are left, %d lanes in use, want none", len(calls), g.busy)
			}
		})
	}
}

// many is a store with n running executions.
func many(t *testing.T, n int) (s *Store, admin *pgx.Conn, leases []restaq.Lease) {
	t.Helper()
	return manyAt(t, pgtest.URL(t), n)
}

// manyAt is many at a database's address.
func manyAt(t *testing.T, address string, n int) (s *Store, admin *pgx.Conn, leases []restaq.Lease) {
	t.Helper()
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if admin, err = pgx.Connect(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close(context.Background()) })
	for i := range n {
		l := restaq.Lease{Execution: fmt.Sprintf("01900000-0000-7000-8000-%012d", i), Attempt: 1, Token: 1}
		created, _, err := s.Insert(t.Context(), &restaq.Insertion{
			Event:      &restaq.Event{Source: "s", Provider: "s", ID: fmt.Sprint("evt_", i), Type: "s.paid"},
			Executions: []restaq.NewExecution{{ID: l.Execution, Handler: "shop.Paid", Begin: true}},
			Owner:      "me", Lease: time.Minute,
		})
		if err != nil || !created {
			t.Fatalf("Insert = %v, %v", created, err)
		}
		leases = append(leases, l)
	}
	return s, admin, leases
}

// together has the calls that the functions make share one commit.
func together(t *testing.T, g *group, calls ...func()) {
	t.Helper()
	g.mu.Lock()
	if g.busy != 0 {
		t.Fatal("the group is in use")
	}
	g.busy = g.lanes
	g.mu.Unlock()
	var wg sync.WaitGroup
	for _, fn := range calls {
		wg.Go(fn)
	}
	for queued := 0; queued < len(calls); {
		g.mu.Lock()
		queued = len(g.queue)
		g.mu.Unlock()
	}
	g.mu.Lock()
	g.busy = 1
	g.mu.Unlock()
	g.next()
	wg.Wait()
}

func progress(seq int) *restaq.Progress {
	return &restaq.Progress{Steps: []restaq.StepRow{{Attempt: 1, Seq: seq, Name: fmt.Sprint("step", seq), Status: restaq.StepCompleted}}}
}

// Each call of a commit gets what it would have got alone, though one was
// written before, one has lost its lease to another process, or one ends with a
// wish. What is plain shares the commit.
func TestCallsThatShareACommitGetResultsOfTheirOwn(t *testing.T) {
	for _, test := range []struct {
		name       string
		lost, wish bool
		share      int // calls that the commit does
	}{
		{"plain calls", false, false, 8},
		{"one has lost its lease", true, false, 0},
		{"one ends with a wish", false, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, admin, leases := many(t, 9)
			ctx := t.Context()
			if err := s.Record(ctx, leases[1], progress(1)); err != nil {
				t.Fatal(err)
			}
			want := map[int]restaq.Status{2: restaq.Completed, 3: restaq.Completed, 4: restaq.Completed, 5: restaq.Failed}
			if test.wish {
				want[2] = restaq.Pending
				if _, changed, err := s.Change(ctx, leases[2].Execution, restaq.Change{
					From: []restaq.Status{restaq.Running}, To: restaq.Running, Kind: restaq.Restarted,
				}); err != nil || !changed {
					t.Fatalf("Change = %v, %v", changed, err)
				}
			}
			if test.lost {
				takeOver(t, s, admin, leases[0])
			}
			shared := 0
			commit := s.writes.commit
			s.writes.commit = func(ctx context.Context, calls []*call) {
				commit(ctx, calls)
				for _, c := range calls {
					if c.committed {
						shared++
					}
				}
			}
			errs := make([]error, len(leases))
			ends := make([]*restaq.Execution, len(leases))
			completed := &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}
			withStep := &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted, Steps: progress(1).Steps}
			failed := &restaq.Outcome{
				Status: restaq.Failed, Attempt: restaq.AttemptFailed, Error: "no", Retry: true, RetryIn: time.Hour, Steps: progress(1).Steps,
			}
			together(t, s.writes,
				func() { errs[0] = s.Record(ctx, leases[0], progress(1)) },
				func() { errs[1] = s.Record(ctx, leases[1], progress(1)) },
				func() { ends[2], errs[2] = s.Finish(ctx, leases[2], completed) },
				func() { ends[3], errs[3] = s.Finish(ctx, leases[3], completed) },
				func() { ends[4], errs[4] = s.Finish(ctx, leases[4], withStep) },
				func() { ends[5], errs[5] = s.Finish(ctx, leases[5], failed) },
				func() { errs[6] = s.Record(ctx, leases[6], progress(1)) },
				func() {
					p := progress(1)
					p.Current = "step2"
					errs[7] = s.Record(ctx, leases[7], p)
				},
				func() {
					p := progress(2)
					p.Steps[0].Error, p.Steps[0].Status = "no", restaq.StepFailed
					errs[8] = s.Record(ctx, leases[8], p)
				},
			)
			if shared != test.share {
				t.Errorf("%d calls shared the commit, want %d", shared, test.share)
			}
			for i, err := range errs {
				if want := i == 0 && test.lost; errors.Is(err, restaq.ErrLeaseLost) != want || !want && err != nil {
					t.Errorf("call %d = %v, lease lost: %v", i, err, want)
				}
			}
			for i, want := range want {
				if x := ends[i]; x == nil || x.Status != want || x.ID != leases[i].Execution || x.Event.ID != fmt.Sprint("evt_", i) {
					t.Errorf("Finish %d = %+v, want status %s", i, x, want)
				}
			}
			wantSteps := []int{1, 1, 0, 0, 1, 1, 1, 1, 1}
			if test.lost {
				wantSteps[0] = 0
			}
			for i, want := range wantSteps {
				h, err := s.History(ctx, leases[i].Execution)
				if err != nil || len(h.Steps) != want {
					t.Errorf("execution %d has %d steps, want %d, %v", i, len(h.Steps), want, err)
				}
			}
		})
	}
}

// A caller that left a commit does not know that its attempt has ended, and ends
// it again. The log gets no second end.
func TestAnAttemptThatHasEndedIsNotEndedAgain(t *testing.T) {
	s, admin, leases := many(t, 2)
	finish := func(lease restaq.Lease) func() {
		id, _ := parseLease(lease)
		tail := s.tails.get(id, lease.Token)
		return func() {
			if _, err := s.finishShared(t.Context(), tail, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}, nil); err != nil {
				t.Error(err)
			}
		}
	}
	first, second := finish(leases[0]), finish(leases[1])
	for range 2 {
		together(t, s.writes, first, second)
	}
	for _, lease := range leases {
		if x, err := s.Finish(t.Context(), lease, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted}); err != nil || x.Status != restaq.Completed {
			t.Errorf("Finish = %+v, %v", x, err)
		}
	}
	if n, err := one[int64](t.Context(), admin, `SELECT count(*) FROM restaq.entry`); err != nil || n != 2 {
		t.Errorf("%d entries, %v, want an end for each of two", n, err)
	}
}

// takeOver lets a lease run out and has another process take the execution.
func takeOver(t *testing.T, s *Store, admin *pgx.Conn, lease restaq.Lease) {
	t.Helper()
	if _, err := admin.Exec(t.Context(), `UPDATE restaq.work SET lease_until = now() - interval '1 hour' WHERE execution = $1`, lease.Execution); err != nil {
		t.Fatal(err)
	}
	other, err := OpenConfig(t.Context(), Config{Pool: s.pool})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	claimed, err := other.Claim(t.Context(), restaq.Claim{Owner: "other", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 10})
	if err != nil || len(claimed) != 1 || claimed[0].Lease.Execution != lease.Execution {
		t.Fatalf("Claim = %+v, %v", claimed, err)
	}
}

// Simultaneous deliveries of one event, in one commit, make one execution.
func TestDeliveriesOfOneEventThatShareACommitMakeOne(t *testing.T) {
	s, _, _ := many(t, 1)
	const n = 6
	created := make([]bool, n)
	var calls []func()
	for i := range n {
		calls = append(calls, func() {
			var err error
			created[i], _, err = s.Insert(t.Context(), &restaq.Insertion{
				Event:      &restaq.Event{Source: "s", Provider: "s", ID: fmt.Sprint("new", i%2), Type: "s.paid"},
				Executions: []restaq.NewExecution{{ID: fmt.Sprintf("01900000-0000-7000-8000-1%011d", i), Handler: "shop.Paid"}},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	together(t, s.writes, calls...)
	winners := 0
	for _, c := range created {
		if c {
			winners++
		}
	}
	if winners != 2 {
		t.Errorf("%d deliveries of 2 events created one, want 2", winners)
	}
	for i := range 2 {
		found, err := s.Lookup(t.Context(), "s", fmt.Sprint("new", i), false)
		if err != nil || len(found.Executions) != 1 {
			t.Errorf("Lookup = %+v, %v, want one execution", found, err)
		}
	}
}

// A row that somebody holds delays its own caller alone: neither the calls that
// it would share a commit with nor any renewal.
func TestABlockedRowHoldsUpItsOwnCallerAlone(t *testing.T) {
	s, admin, leases := many(t, 4)
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM restaq.work WHERE execution = $1 FOR UPDATE`, leases[0].Execution); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(t.Context(), leases[0], progress(1)); err != nil {
		t.Errorf("Record, which needs no row of work = %v", err)
	}
	blocked, freed := make(chan error, 1), make(chan error, 3)
	together(t, s.writes,
		func() {
			go func() {
				_, err := s.Finish(t.Context(), leases[0], &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
				blocked <- err
			}()
		},
		func() { freed <- s.Record(t.Context(), leases[1], progress(1)) },
		func() {
			_, err := s.Finish(t.Context(), leases[2], &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
			freed <- err
		},
		func() { freed <- s.Record(t.Context(), leases[3], progress(1)) },
	)
	for range 3 {
		if err := <-freed; err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Renew(ctx, []restaq.Renewal{{Lease: leases[0]}, {Lease: leases[1]}}, time.Hour); err == nil {
		t.Error("Renew of a row that is held succeeded")
	}
	var renewed bool
	if err := s.pool.QueryRow(t.Context(), `SELECT lease_until > now() + interval '30 minutes' FROM restaq.work WHERE execution = $1`,
		leases[1].Execution).Scan(&renewed); err != nil || !renewed {
		t.Errorf("the other lease was renewed: %v, %v", renewed, err)
	}
	select {
	case err := <-blocked:
		t.Fatalf("Finish of the held row = %v, want it to wait", err)
	default:
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-blocked; err != nil {
		t.Errorf("Finish of the row that was held = %v", err)
	}
}

// An event that a transaction of somebody's has inserted and not committed
// delays its own redelivery alone.
func TestAnEventInAnOpenTransactionHoldsUpItsOwnDeliveryAlone(t *testing.T) {
	s, admin, _ := many(t, 1)
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	insert := func(id string) *restaq.Insertion {
		return &restaq.Insertion{Event: &restaq.Event{Source: "s", Provider: "s", ID: id, Type: "s.paid"}}
	}
	if created, _, err := s.InsertTx(t.Context(), tx, insert("held")); err != nil || !created {
		t.Fatalf("InsertTx = %v, %v", created, err)
	}
	blocked := make(chan bool, 1)
	together(t, s.writes,
		func() {
			go func() {
				created, _, err := s.Insert(t.Context(), insert("held"))
				if err != nil {
					t.Error(err)
				}
				blocked <- created
			}()
		},
		func() {
			if created, _, err := s.Insert(t.Context(), insert("free")); err != nil || !created {
				t.Errorf("Insert = %v, %v", created, err)
			}
		},
	)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if <-blocked {
		t.Error("the delivery that waited created the event a second time")
	}
}
