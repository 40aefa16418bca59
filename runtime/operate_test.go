package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/webhook"
)

func TestBulkDoesAnActionToAllThatAFilterFinds(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var broken atomic.Bool
		broken.Store(true)
		rt, _ := start(t, open(), quick(), on("h", func(context.Context, restaq.Event) error {
			if broken.Load() {
				return restaq.Permanent(errors.New("bank is closed"))
			}
			return nil
		}))
		var ids []string
		for range 40 {
			ids = append(ids, deliver(t, rt, newEvent()).ID)
		}
		for _, id := range ids {
			wait(t, rt, id, "dead")
		}
		broken.Store(false)
		person := restaq.WithPerson(t.Context(), "ann")
		dead := restaq.Filter{Statuses: []string{"dead"}, Text: "bank", Limit: 3, Cursor: "not used"}

		var reports []restaq.BulkResult
		done, err := rt.Bulk(person, restaq.Bulk{Action: restaq.ActionRetry, Filter: dead, Progress: func(r restaq.BulkResult) { reports = append(reports, r) }})
		if err != nil || done.Done != 40 || done.Skipped+done.Failed != 0 {
			t.Fatalf("retry: %+v, %v", done, err)
		}
		if len(reports) < 2 || reports[len(reports)-1].Done != 40 || !slices.IsSortedFunc(reports, func(a, b restaq.BulkResult) int { return a.Done - b.Done }) {
			t.Errorf("progress: %v", reports)
		}
		for _, id := range ids {
			wait(t, rt, id, "completed")
		}
		// A completed one is nothing to cancel, and each replay is of one that
		// was there before.
		if done, err := rt.Bulk(person, restaq.Bulk{Action: restaq.ActionCancel}); err != nil || done.Skipped != 40 || done.Done != 0 {
			t.Errorf("cancel: %+v, %v", done, err)
		}
		if done, err := rt.Bulk(person, restaq.Bulk{Action: restaq.ActionReplay}); err != nil || done.Done != 40 {
			t.Errorf("replay: %+v, %v", done, err)
		}
		if n, err := rt.Count(t.Context(), restaq.Filter{}, 1000); err != nil || n != 80 {
			t.Errorf("executions after the replay: %d, %v; want 80", n, err)
		}
		if done, err := rt.Bulk(person, restaq.Bulk{Action: restaq.ActionRestart, Filter: restaq.Filter{EventID: "none"}}); err != nil || done.Done != 0 {
			t.Errorf("restart of none: %+v, %v", done, err)
		}
		// Those that are named, whatever the filter says; each is in the audit.
		named := restaq.Bulk{Action: restaq.ActionRestart, IDs: append(slices.Clone(ids[:20]), "none"), Filter: restaq.Filter{EventID: "none"}}
		if done, err := rt.Bulk(person, named); err != nil || done.Done != 20 || done.Skipped != 1 {
			t.Errorf("restart of 20 and one that there is not: %+v, %v", done, err)
		}
		if done, err := rt.Bulk(person, restaq.Bulk{Action: restaq.ActionRestart, IDs: []string{}}); err != nil || done.Done != 0 {
			t.Errorf("restart of none that are named: %+v, %v", done, err)
		}
		if page, err := rt.Audit(t.Context(), restaq.AuditFilter{Action: "restart", Execution: ids[3]}); err != nil || len(page.Entries) != 1 {
			t.Errorf("audit of one that was named: %+v, %v", page, err)
		}
		for _, b := range []restaq.Bulk{
			{}, {Action: restaq.ActionRetry, IDs: make([]string, 1001)},
			{Action: "delete"}, {Action: restaq.ActionRetry, Filter: restaq.Filter{Unhandled: true}},
			{Action: restaq.ActionRetry, Filter: restaq.Filter{Statuses: []string{"odd"}}},
		} {
			if _, err := rt.Bulk(person, b); err == nil {
				t.Errorf("Bulk(%+v) succeeded", b)
			}
		}
	})
}

func TestBulkWaitsWhileMuchIsOutstanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		rt := receive(t, store, quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		for range 50 { // nobody runs them
			deliver(t, rt, newEvent())
		}
		begun := time.Now()
		done, err := rt.Bulk(t.Context(), restaq.Bulk{Action: restaq.ActionRestart})
		if err != nil || done.Done != 50 {
			t.Fatalf("%+v, %v", done, err)
		}
		if pages := 4; time.Since(begun) < time.Duration(pages)*10*time.Second {
			t.Errorf("it took %v over %d pages, though nothing was begun", time.Since(begun), pages)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if done, err := rt.Bulk(ctx, restaq.Bulk{Action: restaq.ActionRestart}); !errors.Is(err, context.DeadlineExceeded) || done.Done != 0 {
			t.Errorf("with an end: %+v, %v", done, err)
		}
		if done, err := rt.Bulk(t.Context(), restaq.Bulk{Action: restaq.ActionCancel}); err != nil || done.Done != 50 {
			t.Errorf("what makes no work does not wait: %+v, %v", done, err)
		}
	})
}

func TestTheAuditNamesWhoAskedForWhat(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt, _ := start(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		event := newEvent()
		e := deliver(t, rt, event)
		wait(t, rt, e.ID, "completed")
		ctx := restaq.WithPerson(t.Context(), "ann\x00 \xff")
		rt.Retry(ctx, e.ID)
		rt.Restart(ctx, e.ID)
		rt.Replay(ctx, e.ID)
		rt.Cancel(ctx, e.ID) // it is completed, and asked for all the same
		rt.Cancel(ctx, "no such")
		rt.ReplayEvent(ctx, event.Source, event.ID)
		rt.Bulk(ctx, restaq.Bulk{Action: restaq.ActionReplay, Filter: restaq.Filter{Handler: "h", Statuses: []string{"dead"}}})
		rt.Prune(ctx, restaq.Prune{OlderThan: time.Hour})
		rt.Retry(t.Context(), e.ID) // by the program itself

		page, err := rt.Audit(t.Context(), restaq.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range page.Entries {
			if a.Person != "ann\uFFFD \uFFFD" {
				t.Errorf("person %q", a.Person)
			}
			got = append(got, strings.TrimSpace(a.Action+" "+a.Execution+" "+a.Detail))
		}
		slices.Reverse(got)
		want := []string{
			"retry " + e.ID, "restart " + e.ID, "replay " + e.ID, "cancel " + e.ID, "cancel no such",
			"replay-event  " + event.Source + " " + event.ID, "replay  status=dead handler=h",
			"prune  completed,cancelled,dead older than 1h0m0s",
		}
		if !slices.Equal(got, want) {
			t.Errorf("audit\n%q\nwant\n%q", got, want)
		}
	})
}

func TestWhatHappensIsCountedByTheMinute(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		fail := make(map[string]error)
		cfg := quick()
		cfg.Attempts, cfg.Concurrency = 2, 1
		rt, stop := start(t, store, cfg,
			on("h", func(_ context.Context, event restaq.Event) error { return fail[event.ID] }, "acme.order.created"))
		fail["evt_bad"] = errors.New("no")
		for _, id := range []string{"evt_good", "evt_bad", "evt_good"} {
			receipt, err := rt.Deliver(t.Context(), restaq.Event{Source: "shop", ID: id, Type: "acme.order.created"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := rt.Wait(t.Context(), receipt.Executions[0].ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := rt.Deliver(t.Context(), restaq.Event{Source: "shop", ID: "evt_other", Type: "acme.order.paid"}); err != nil {
			t.Fatal(err)
		}
		hook := rt.Webhook(webhook.Stripe("whsec_secret"))
		for i := range 30 { // signatures that are no signatures, for one reason
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Stripe-Signature", fmt.Sprint("t=", i))
			hook.ServeHTTP(httptest.NewRecorder(), r)
		}
		if err := stop(); err != nil { // which writes what was counted
			t.Fatal(err)
		}
		counts, err := rt.Counts(t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		refused := int64(0)
		for _, c := range counts {
			switch {
			case c.Kind == restaq.CountRefusal:
				refused += c.N
				continue
			case c.Kind == restaq.CountAttempt && (c.Bucket < 1 || restaq.LatencyBound(c.Bucket) > time.Minute):
				t.Errorf("bucket %d of an attempt that took no time", c.Bucket)
			}
			got[fmt.Sprint(c.Kind, " ", c.Name, " ", c.Result)] += c.N
		}
		want := map[string]int64{
			"delivery shop accepted": 2, "delivery shop duplicate": 1, "delivery shop unhandled": 1,
			"attempt h completed": 1, "attempt h retrying": 1, "attempt h dead": 1,
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || refused != 30 {
			t.Errorf("counts %v, %d refused\nwant %v, 30 refused", got, refused, want)
		}
		if _, err := rt.Counts(t.Context(), time.Time{}, time.Now(), time.Second); err == nil {
			t.Error("a step of a second is taken")
		}
	})
}

func TestAMinuteIsWrittenWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		rt := receive(t, store, quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		deliver(t, rt, newEvent()) // no Run, as in a process that only receives
		read := func() int {
			counts, err := rt.Counts(t.Context(), time.Time{}, time.Now().Add(time.Hour), 0)
			if err != nil {
				t.Fatal(err)
			}
			return len(counts)
		}
		if n := read(); n != 0 {
			t.Fatalf("%d counts at once", n)
		}
		time.Sleep(time.Minute)
		deliver(t, rt, newEvent())
		synctest.Wait()
		if n := read(); n != 1 {
			t.Errorf("%d counts in the next minute, want those of the one before", n)
		}
	})
}

func TestReasonsOfRefusalsDoNotFillTheStore(t *testing.T) {
	store := memory.New()
	rt, stop := start(t, store, quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
	for i := range 100 {
		rt.CountRefusal("shop", fmt.Sprint("reason ", i))
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	counts, err := rt.Counts(t.Context(), time.Time{}, time.Now().Add(time.Hour), 0)
	var n, other int64
	for _, c := range counts {
		n += c.N
		if c.Result == "other" {
			other = c.N
		}
	}
	if err != nil || n != 100 || other != 80 {
		t.Errorf("%d counted, %d of them as other, %v; want 100, 80", n, other, err)
	}
}

func TestLatencyBucketsAreInOrder(t *testing.T) {
	for d := time.Microsecond; d < 10*time.Hour; d += d/7 + 1 {
		b := restaq.LatencyBucket(d)
		if d >= restaq.LatencyBound(b) || b > 1 && d < restaq.LatencyBound(b-1) {
			t.Fatalf("%v is in bucket %d, which ends at %v and begins at %v", d, b, restaq.LatencyBound(b), restaq.LatencyBound(b-1))
		}
	}
}
