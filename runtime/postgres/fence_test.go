package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// fenced is a store with one running execution, and a transaction beside it.
type fenced struct {
	*testing.T
	*Store
	tx    pgx.Tx
	admin *pgx.Conn
	lease restaq.Lease
}

func newFenced(t *testing.T) *fenced {
	address := pgtest.URL(t)
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &fenced{T: t, Store: s, lease: restaq.Lease{Execution: "01900000-0000-7000-8000-000000000001", Attempt: 1, Token: 1}}
	created, _, err := s.Insert(t.Context(), &restaq.Insertion{
		Event:      &restaq.Event{Source: "s", Provider: "s", ID: "evt_1", Type: "s.paid"},
		Executions: []restaq.NewExecution{{ID: f.lease.Execution, Handler: "shop.Paid", Begin: true}},
		Owner:      "old", Lease: time.Minute,
	})
	if err != nil || !created {
		t.Fatalf("Insert = %v, %v", created, err)
	}
	for range 2 {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		f.admin = conn
		if f.tx == nil {
			if f.tx, err = conn.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// expire lets the lease run out.
func (f *fenced) expire() {
	f.Helper()
	if _, err := f.admin.Exec(f.Context(), `UPDATE restaq.work SET lease_until = now() - interval '1 hour'`); err != nil {
		f.Fatal(err)
	}
}

// commit commits the transaction beside.
func (f *fenced) commit() {
	f.Helper()
	if err := f.tx.Commit(f.Context()); err != nil {
		f.Fatal(err)
	}
}

// write is what Record does the careful way, in the transaction beside.
func (f *fenced) write(seq int) (held bool) {
	f.Helper()
	row := f.raw(recordSQL, seq, func(id pgtype.UUID, b *batch, rows *entryRows) [][]byte {
		return append(b.parameters(rows.all()), id.Bytes[:], int8Param(f.lease.Token), nil)
	})
	return row != nil
}

// writeFast is what Record does in a shared commit, in the transaction beside.
func (f *fenced) writeFast(seq int) {
	f.Helper()
	f.raw(allEntriesSQL, seq, func(_ pgtype.UUID, b *batch, rows *entryRows) [][]byte { return b.parameters(rows.all()) })
}

func (f *fenced) raw(sql string, seq int, params func(id pgtype.UUID, b *batch, rows *entryRows) [][]byte) [][]byte {
	f.Helper()
	id, _ := parseLease(f.lease)
	next, written, err := f.readLog(f.Context(), f.tx, id, f.lease.Token)
	if err != nil {
		f.Fatal(err)
	}
	b := newBatch()
	rows := b.entries()
	rows.addNew(id, int32(f.lease.Token), &next, &written, f.steps(seq), []int32{0})
	row, err := rawRow(f.Context(), f.tx, sql, params(id, b, &rows))
	if err != nil {
		f.Fatal(err)
	}
	return row
}

// takeOver is what Claim does, in q.
func (f *fenced) takeOver(q querier) []restaq.Claimed {
	f.Helper()
	rows, err := q.Query(f.Context(), claimSQL, []string{"shop.Paid"}, int64(10), ownerID("new"), time.Minute.Microseconds(), true, pgtype.UUID{}, false, int64(0), []pgtype.UUID{})
	if err != nil {
		f.Fatal(err)
	}
	claimed, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (restaq.Claimed, error) {
		c, _, err := scanClaimed(rows)
		return c, err
	})
	if err != nil {
		f.Fatal(err)
	}
	return claimed
}

func (f *fenced) steps(seq int) []restaq.StepRow {
	return []restaq.StepRow{{Attempt: 1, Seq: seq, Name: fmt.Sprint("step", seq), Status: restaq.StepCompleted}}
}

// recorded is how many steps the history has.
func (f *fenced) recorded() int {
	f.Helper()
	h, err := f.History(f.Context(), f.lease.Execution)
	if err != nil {
		f.Fatal(err)
	}
	return len(h.Steps)
}

// awaitBlocked waits until a connection waits for a lock.
func (f *fenced) awaitBlocked() {
	f.Helper()
	for blocked := false; !blocked; {
		err := f.admin.QueryRow(f.Context(), `
			SELECT count(*) > 0 FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&blocked)
		if err != nil {
			f.Fatal(err)
		}
	}
}

func TestAWriteUnderWayHoldsOffATakeOverUntilItHasCommitted(t *testing.T) {
	f := newFenced(t)
	f.expire()
	if !f.write(1) {
		t.Fatal("the owner's write found its lease gone")
	}
	if claimed := f.takeOver(f.pool); len(claimed) != 0 {
		t.Fatal("the execution was taken over under a write that had not committed")
	}
	f.commit()
	if claimed := f.takeOver(f.pool); len(claimed) != 1 {
		t.Fatal("the execution was not taken over after the write")
	}
	if n := f.recorded(); n != 1 {
		t.Errorf("the new owner sees %d steps, want 1", n)
	}
}

func TestAWriteThatMeetsATakeOverWaitsAndWritesNothing(t *testing.T) {
	for _, call := range []struct {
		name string
		run  func(f *fenced) error
	}{
		{"Record", func(f *fenced) error {
			return f.Record(f.Context(), f.lease, &restaq.Progress{Steps: f.steps(1)})
		}},
		{"Finish", func(f *fenced) error {
			_, err := f.Finish(f.Context(), f.lease, &restaq.Outcome{
				Status: restaq.Completed, Attempt: restaq.AttemptCompleted, Steps: f.steps(1),
			})
			return err
		}},
		{"Renew", func(f *fenced) error {
			lost, err := f.Renew(f.Context(), []restaq.Renewal{{Lease: f.lease, Progress: restaq.Progress{Steps: f.steps(1)}}}, time.Minute)
			if err == nil && len(lost) == 1 {
				err = restaq.ErrLeaseLost
			}
			return err
		}},
	} {
		t.Run(call.name, func(t *testing.T) {
			f := newFenced(t)
			f.expire()
			if claimed := f.takeOver(f.tx); len(claimed) != 1 {
				t.Fatal("nothing to take over")
			}
			result := make(chan error)
			go func() { result <- call.run(f) }()
			f.awaitBlocked()
			f.commit()
			if err := <-result; !errors.Is(err, restaq.ErrLeaseLost) {
				t.Errorf("the old owner's %s = %v, want ErrLeaseLost", call.name, err)
			}
			if n := f.recorded(); n != 0 {
				t.Errorf("%d steps slipped in after the take-over", n)
			}
		})
	}
}

func TestACancelWaitsForAWriteUnderWayAndRefusesTheNext(t *testing.T) {
	f := newFenced(t)
	f.write(1)
	result := make(chan error)
	go func() {
		_, changed, err := f.Change(f.Context(), f.lease.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})
		if err == nil && !changed {
			err = errors.New("not changed")
		}
		result <- err
	}()
	f.awaitBlocked()
	f.commit()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if err := f.Record(t.Context(), f.lease, &restaq.Progress{Steps: f.steps(2)}); !errors.Is(err, restaq.ErrLeaseLost) {
		t.Errorf("Record after the cancel = %v, want ErrLeaseLost", err)
	}
	if n := f.recorded(); n != 1 {
		t.Errorf("%d steps are recorded, want 1", n)
	}
}

// A write in a shared commit locks nothing: its position alone holds off whoever
// wants to end the log.
func TestATakeOverWaitsForAWriteAtItsPosition(t *testing.T) {
	f := newFenced(t)
	f.expire()
	f.writeFast(1)
	results := make(chan []restaq.Claimed)
	go func() { results <- f.takeOver(f.pool) }()
	f.awaitBlocked()
	f.commit()
	if claimed := <-results; len(claimed) != 0 {
		t.Fatal("the execution was taken over by a claim that had not seen the write")
	}
	if claimed := f.takeOver(f.pool); len(claimed) != 1 {
		t.Fatal("the execution was not taken over after the write")
	}
	if n := f.recorded(); n != 1 {
		t.Errorf("the new owner sees %d steps, want 1", n)
	}
}

// A statement of the old owner that the server comes to when all is over.
func TestAWriteThatComesLateFindsItsPositionTaken(t *testing.T) {
	f := newFenced(t)
	id, _ := parseLease(f.lease)
	b := newBatch()
	rows := b.entries()
	next, written := int32(1), seqs(nil)
	rows.addNew(id, 1, &next, &written, f.steps(1), []int32{0}) // sent before the take-over
	f.expire()
	if claimed := f.takeOver(f.pool); len(claimed) != 1 {
		t.Fatal("nothing to take over")
	}
	if _, err := rawRow(t.Context(), f.tx, allEntriesSQL, b.parameters(rows.all())); !gaveWay(err) {
		t.Errorf("the late write = %v, want a duplicate key", err)
	}
	if n := f.recorded(); n != 0 {
		t.Errorf("%d steps slipped in after the take-over", n)
	}
}

func TestACancelFollowsAWriteAtItsPosition(t *testing.T) {
	f := newFenced(t)
	f.writeFast(1)
	result := make(chan error)
	go func() {
		_, changed, err := f.Change(f.Context(), f.lease.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})
		if err == nil && !changed {
			err = errors.New("not changed")
		}
		result <- err
	}()
	f.awaitBlocked()
	f.commit()
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if err := f.Record(t.Context(), f.lease, &restaq.Progress{Steps: f.steps(2)}); !errors.Is(err, restaq.ErrLeaseLost) {
		t.Errorf("Record after the cancel = %v, want ErrLeaseLost", err)
	}
	h, err := f.History(t.Context(), f.lease.Execution)
	if err != nil || len(h.Steps) != 1 || len(h.Attempts) != 1 || h.Attempts[0].Outcome != restaq.AttemptCancelled {
		t.Errorf("history %+v, %v; want a step and a cancelled attempt", h, err)
	}
}

// A write of an old owner that does not end keeps its own execution from being
// claimed, and nothing else.
func TestAClaimGoesAroundAWriteThatDoesNotEnd(t *testing.T) {
	f := newFenced(t)
	insert := func(n int, begin bool) string {
		id := fmt.Sprintf("01900000-0000-7000-8000-%012d", n)
		if _, _, err := f.Insert(t.Context(), &restaq.Insertion{
			Event:      &restaq.Event{Source: "s", Provider: "s", ID: fmt.Sprint("evt_", n), Type: "s.paid"},
			Executions: []restaq.NewExecution{{ID: id, Handler: "shop.Paid", Begin: begin}}, Owner: "old", Lease: time.Minute,
		}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	due, expired := insert(2, false), insert(3, true)
	f.expire()
	f.writeFast(1)
	claimed, err := f.Claim(t.Context(), restaq.Claim{Owner: "new", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range claimed {
		ids = append(ids, c.Execution.ID)
	}
	if slices.Sort(ids); !slices.Equal(ids, []string{due, expired}) {
		t.Errorf("claimed %v, want %s and %s", ids, due, expired)
	}
	f.commit()
	if claimed := f.takeOver(f.pool); len(claimed) != 1 || claimed[0].Execution.ID != f.lease.Execution {
		t.Errorf("claimed %+v after the write has ended", claimed)
	}
}

func TestARenewalDoesNotWaitForAWriteUnderWay(t *testing.T) {
	f := newFenced(t)
	f.write(1)
	lost, err := f.Renew(t.Context(), []restaq.Renewal{{Lease: f.lease}}, time.Minute)
	if err != nil || len(lost) != 0 {
		t.Errorf("Renew = %v, %v", lost, err)
	}
	f.commit()
}

// A completed execution is reopened only after the finish that a change waited
// for, and counts on from it.
func TestARestartThatMeetsAFinishFollowsIt(t *testing.T) {
	f := newFenced(t)
	id, _ := parseID(f.lease.Execution)
	b := newBatch()
	rows, ends := b.entries(), b.ends()
	ends.add(0, id, int32(f.lease.Token), 1, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
	if row, err := rawRow(t.Context(), f.tx, finishSQL, b.parameters(append(rows.all(), ends.all()...))); err != nil || row == nil {
		t.Fatal(row, err)
	}
	type result struct {
		e       *restaq.Execution
		changed bool
		err     error
	}
	results := make(chan result)
	go func() {
		e, changed, err := f.Change(f.Context(), f.lease.Execution, restaq.Change{
			From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Restarted,
		})
		results <- result{e, changed, err}
	}()
	f.awaitBlocked()
	f.commit()
	r := <-results
	if r.err != nil || !r.changed || r.e.Status != restaq.Pending || r.e.Attempts != 1 {
		t.Fatalf("Change = %+v, %v, %v", r.e, r.changed, r.err)
	}
	claimed := f.takeOver(f.pool)
	if len(claimed) != 1 || claimed[0].Lease.Token != 2 || claimed[0].Lease.Attempt != 2 || claimed[0].Kind != restaq.Restarted {
		t.Errorf("claimed %+v", claimed)
	}
}

func TestRenewalsAreHOT(t *testing.T) {
	f := newFenced(t)
	id, _ := parseID(f.lease.Execution)
	const renewals = 20
	for i := range renewals {
		if held, err := column[string](t.Context(), f.tx, renewSQL,
			[]pgtype.UUID{id}, []int64{1}, []string{fmt.Sprint("step", i)}, time.Minute.Microseconds()); err != nil || len(held) != 1 {
			t.Fatalf("renew = %v, %v", held, err)
		}
	}
	var all, hot int
	err := f.tx.QueryRow(t.Context(), `
		SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relid = 'restaq.work'::regclass`).Scan(&all, &hot)
	if err != nil {
		t.Fatal(err)
	}
	if all != renewals || hot != renewals {
		t.Errorf("%d of %d updates were HOT, want %d of %d", hot, all, renewals, renewals)
	}
}

// The table of work is large here, and most of it dead, so that a plan that
// reads it whole would pay for it.
func TestAClaimReadsOnlyUnfinishedWork(t *testing.T) {
	f := newFenced(t)
	if _, err := f.admin.Exec(t.Context(), `
		INSERT INTO restaq.work (execution, place, token, attempts, handler, order_key, status, due_at, finished_at)
		SELECT gen_random_uuid(), n, 1, 1, restaq.term_id('handler' || n % 5),
			CASE WHEN n % 20 = 0 THEN n END,
			CASE WHEN n % 10 = 0 THEN 'pending' ELSE 'failed' END,
			CASE WHEN n % 10 = 0 THEN now() END,
			CASE WHEN n % 10 > 0 THEN now() END
		FROM generate_series(1, 50000) n`); err != nil {
		t.Fatal(err)
	}
	if _, err := f.admin.Exec(t.Context(), `ANALYZE restaq.work`); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		if _, err := f.admin.Exec(t.Context(), `SET plan_cache_mode = `+mode); err != nil {
			t.Fatal(err)
		}
		if _, err := f.admin.Exec(t.Context(), `PREPARE claim (text[], bigint, uuid, bigint, boolean, uuid, boolean, bigint, uuid[]) AS `+claimSQL); err != nil {
			t.Fatal(err)
		}
		lines, err := column[string](t.Context(), f.admin, `
			EXPLAIN (COSTS OFF) EXECUTE claim (ARRAY['handler0', 'handler3'], 64, gen_random_uuid(), 60000000, true, NULL, true, 0, '{}')`)
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if !strings.Contains(plan, "work_unfinished") {
			t.Errorf("%s: the index is not used:\n%s", mode, plan)
		}
		if strings.Contains(plan, "Seq Scan on work") {
			t.Errorf("%s: the plan reads all work:\n%s", mode, plan)
		}
		if _, err := f.admin.Exec(t.Context(), `DEALLOCATE claim`); err != nil {
			t.Fatal(err)
		}
	}
}
