package restaq_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/codec"
	"github.com/restaq/restaq/runtime/memory"
)

// What two builds of a step return, and how the newer one describes it.
type (
	payV1 struct{ Amount int }
	payV2 struct{ Total int }
)

// build is a program on a store: a step "pay", behind which attempts fail until
// done says that they need not.
type build[Out any] struct {
	step *restaq.Step[struct{}, in1, Out]
	runs atomic.Int32 // of the step
	got  chan Out     // what a caller was handed
	done atomic.Bool
}

func newBuild[Out any](out Out, shape string) *build[Out] {
	b := &build[Out]{got: make(chan Out, 100)}
	b.step = step("pay", func(context.Context, string) (Out, error) {
		b.runs.Add(1)
		return out, nil
	})
	b.step.Codec.Shape = shape
	return b
}

func (b *build[Out]) handler() restaq.Part {
	return on("h", func(ctx context.Context, _ restaq.Event) error {
		out, err := b.step.Run(ctx, struct{}{}, in1{"x"})
		if err != nil {
			return nil // the handler goes past the error, which is no way out
		}
		b.got <- out
		if !b.done.Load() {
			return errors.New("not yet")
		}
		return nil
	})
}

// patientConfig has retries wait for a person.
func patientConfig() restaq.Config {
	cfg := quick()
	cfg.Backoff = restaq.Backoff{Min: time.Hour, Max: time.Hour}
	return cfg
}

// recordBy has a build make the record of an execution, and stop.
func recordBy[Out any](t *testing.T, open func() restaq.Store, b *build[Out]) string {
	t.Helper()
	rt, stop := start(t, open(), patientConfig(), b.handler())
	e := deliver(t, rt, newEvent())
	attemptEnd(t, rt, e.ID, 1)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	<-b.got
	return e.ID
}

func TestANewerBuildStopsAtARecordThatItDoesNotReadUntilAFixedOneIsDeployed(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		id := recordBy(t, open, newBuild(payV1{5}, "v1"))

		broken := newBuild(payV2{5}, "v2")
		broken.step.Codec.Earlier = []string{"v1"}
		var failure error
		rt, stop := start(t, open(), patientConfig(), on("h", func(ctx context.Context, _ restaq.Event) error {
			_, failure = broken.step.Run(ctx, struct{}{}, in1{"x"})
			return failure
		}))
		e, err := rt.Retry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Dead() || e.StoppedBy != restaq.StoppedBySchema || e.Step != "" || broken.runs.Load() != 0 {
			t.Errorf("execution %+v, the step ran %d times; want it stopped by its schema before the step ran", e, broken.runs.Load())
		}
		for _, word := range []string{"step pay", `"v1"`, `"v2"`, "//restaq:convert", "retry", "restart"} {
			if !strings.Contains(e.Error, word) {
				t.Errorf("the error %q says nothing of %s", e.Error, word)
			}
		}
		var shape *restaq.ShapeError
		if !errors.As(failure, &shape) || *shape != (restaq.ShapeError{Step: "pay", Recorded: "v1", Wanted: "v2"}) || !restaq.IsPermanent(failure) {
			t.Errorf("the handler got %#v", failure)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}

		fixed := newBuild(payV2{6}, "v2")
		fixed.done.Store(true)
		fixed.step.Codec.Converters = []restaq.Converter[payV2]{
			restaq.ConvertFrom("v0", codec.Decode[payV1], func(payV1) (payV2, error) { return payV2{}, errors.New("not this one") }),
			restaq.ConvertFrom("v1", codec.Decode[payV1], func(old payV1) (payV2, error) { return payV2{Total: old.Amount * 100}, nil }),
		}
		rt, _ = start(t, open(), patientConfig(), fixed.handler())
		if _, err := rt.Retry(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		wait(t, rt, id, "completed")
		if got := <-fixed.got; got.Total != 500 || fixed.runs.Load() != 0 {
			t.Errorf("the caller got %+v, the step ran %d times; want the converted record and none", got, fixed.runs.Load())
		}
		h := inspect(t, rt, id)
		if first := h.Tries[0].Steps[0]; first.Shape != "v1" || string(first.Output) != `{"Amount":5}` {
			t.Errorf("the record is %s of shape %s, want it as it was", first.Output, first.Shape)
		}
	})
}

func TestAConverterThatFailsStopsTheExecution(t *testing.T) {
	for name, convert := range map[string]func(payV1) (payV2, error){
		"returns an error": func(payV1) (payV2, error) { return payV2{}, errors.New("no rate for 2019") },
		"panics":           func(payV1) (payV2, error) { panic("no rate for 2019") },
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.New()
			id := recordBy(t, func() restaq.Store { return store }, newBuild(payV1{5}, "v1"))
			b := newBuild(payV2{}, "v2")
			b.step.Codec.Reads = []string{"v1"} // a converter has the say
			b.step.Codec.Converters = []restaq.Converter[payV2]{restaq.ConvertFrom("v1", codec.Decode[payV1], convert)}
			rt, _ := start(t, store, patientConfig(), b.handler())
			e, err := rt.Retry(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if !e.Dead() || e.StoppedBy != restaq.StoppedBySchema || !strings.Contains(e.Error, "step pay") || !strings.Contains(e.Error, "convert: ") ||
				!strings.Contains(e.Error, "no rate for 2019") || b.runs.Load() != 0 {
				t.Errorf("execution is %+v", e)
			}
			if h := inspect(t, rt, id); (name == "panics") != strings.Contains(h.Tries[1].Stack, "TestAConverterThatFails") {
				t.Errorf("stack %q", h.Tries[1].Stack)
			}
		})
	}
}

// While a deploy is under way both builds claim: what the newer one recorded is
// not lost on the older one, and the newer one finishes it.
func TestAnOlderBuildLeavesANewerRecordToTheNewerBuild(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		newer := newBuild(payV2{7}, "v2")
		newer.step.Codec.Earlier = []string{"v1"}
		id := recordBy(t, open, newer)

		older := newBuild(payV1{5}, "v1")
		old, _ := start(t, open(), patientConfig(), older.handler())
		e, err := old.Retry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if e.Status != restaq.Pending || !strings.Contains(e.Error, "left to other processes") || e.Step != "pay" || older.runs.Load() != 0 {
			t.Errorf("execution %+v, the step ran %d times; want it left to others", e, older.runs.Load())
		}
		if page, err := old.List(t.Context(), restaq.Filter{StoppedBy: restaq.StoppedBySchema}); err != nil || len(page.Executions) != 0 {
			t.Errorf("stopped by schema: %+v, %v; want none", page.Executions, err)
		}

		newer.done.Store(true)
		now, _ := start(t, open(), patientConfig(), newer.handler())
		wait(t, now, id, "completed") // both claim, and the older one does not claim it again
		if got := <-newer.got; got.Total != 7 || newer.runs.Load() != 1 || older.runs.Load() != 0 {
			t.Errorf("got %+v; the newer step ran %d times, the older one %d times", got, newer.runs.Load(), older.runs.Load())
		}
		h := inspect(t, now, id)
		var outcomes []restaq.AttemptOutcome
		for _, a := range h.Tries {
			outcomes = append(outcomes, a.Outcome)
		}
		if !slices.Equal(outcomes, []restaq.AttemptOutcome{restaq.AttemptFailed, restaq.AttemptReleased, restaq.AttemptCompleted}) {
			t.Errorf("outcomes %v", outcomes)
		}
		if !strings.Contains(h.Tree(), "├─ Attempt 2 (released)\n") {
			t.Errorf("history:\n%s", h.Tree())
		}
	})
}

func TestAnOlderBuildReadsANewerRecordThatListsItsShape(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		type wider struct {
			Amount int
			Note   string
		}
		newer := newBuild(wider{7, "n"}, "v2")
		newer.step.Codec.ReadBy = []string{"v0", "v1"}
		id := recordBy(t, open, newer)
		older := newBuild(payV1{5}, "v1")
		older.done.Store(true)
		rt, _ := start(t, open(), patientConfig(), older.handler())
		if _, err := rt.Retry(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		wait(t, rt, id, "completed")
		if got := <-older.got; got.Amount != 7 || older.runs.Load() != 0 {
			t.Errorf("got %+v, the step ran %d times", got, older.runs.Load())
		}
	})
}

// Nobody newer: a rollback, or a shape that no lock file knows.
func TestAnExecutionThatNoBuildReadsEndsWithAWordToAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		newer := newBuild(payV2{7}, "v2")
		newer.step.Codec.Earlier = []string{"v1"}
		rt := receive(t, store, patientConfig(), newer.handler())
		stop := inBubble(t, rt)
		e := deliver(t, rt, newEvent())
		synctest.Wait()
		stop()

		var log syncBuffer
		cfg := patientConfig()
		cfg.Poll = time.Second
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		older := newBuild(payV1{5}, "v1")
		rolledBack := receive(t, store, cfg, older.handler())
		stop = inBubble(t, rolledBack)
		began := time.Now()
		if _, err := rolledBack.Retry(t.Context(), e.ID); err != nil {
			t.Fatal(err)
		}
		got, err := rolledBack.Wait(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Dead() || got.StoppedBy != restaq.StoppedBySchema || !strings.Contains(got.Error, `"v2"`) {
			t.Errorf("execution is %+v", got)
		}
		if took := time.Since(began); took < 15*time.Minute || took > 17*time.Minute {
			t.Errorf("it was left to others for %v, want 15 min", took)
		}
		if got.Attempts > 20 || older.runs.Load() != 0 {
			t.Errorf("%d attempts, the step ran %d times; want a look a minute and no run", got.Attempts, older.runs.Load())
		}
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "left to other processes") || !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("log:\n%s", &log)
		}

		// A person's retry gives it to others once more.
		e, err = rolledBack.Retry(t.Context(), e.ID)
		if err != nil || e.Status != restaq.Pending {
			t.Errorf("retried: %+v, %v; want it left to others", e, err)
		}
		stop()
	})
}

// inBubble runs rt until stop is called.
func inBubble(t *testing.T, rt *restaq.Runtime) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- rt.Run(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}

func TestDoLeavesARecordOfAnotherShapeToOthersAndThenStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		var runs int
		cfg := patientConfig()
		cfg.HandoverTimeout = time.Nanosecond
		rt := receive(t, store, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			var err error
			if restaq.Attempt(ctx) == 1 {
				_, err = restaq.Do(ctx, "pay", func(context.Context) (payV1, error) { runs++; return payV1{5}, nil })
				return errors.Join(err, errors.New("not yet"))
			}
			_, err = restaq.Do(ctx, "pay", func(context.Context) (payV2, error) { runs++; return payV2{5}, nil })
			return err
		}))
		stop := inBubble(t, rt)
		e := deliver(t, rt, newEvent())
		synctest.Wait()
		if e, err := rt.Retry(t.Context(), e.ID); err != nil || e.Status != restaq.Pending {
			t.Errorf("at first: %+v, %v; want it left to others", e, err)
		}
		got, err := rt.Wait(t.Context(), e.ID)
		if err != nil || !got.Dead() || got.StoppedBy != restaq.StoppedBySchema || runs != 1 {
			t.Errorf("execution is %+v, %v; the step ran %d times", got, err, runs)
		}
		stop()
	})
}

func TestOtherReasonsForWhichExecutionsAreDead(t *testing.T) {
	store := memory.New()
	cfg := quick()
	cfg.Attempts, cfg.StrictInputs = 2, true
	s := step("pay", func(context.Context, string) (int, error) { return 1, nil })
	rt, _ := start(t, store, cfg, on("h", func(ctx context.Context, e restaq.Event) error {
		switch string(e.Payload) {
		case `"permanent"`:
			return restaq.Permanent(errors.New("no"))
		case `"changed-input"`:
			_, err := s.Run(ctx, struct{}{}, in1{time.Now().String()})
			return errors.Join(err, errors.New("later"))
		}
		return errors.New("again")
	}))
	for _, reason := range []restaq.StopReason{restaq.StoppedByPermanent, restaq.StoppedByChangedInput, restaq.StoppedByAttempts} {
		event := newEvent()
		event.Payload = []byte(`"` + reason + `"`)
		e := wait(t, rt, deliver(t, rt, event).ID, "dead")
		if e.StoppedBy != reason {
			t.Errorf("stopped by %q (%s), want %q", e.StoppedBy, e.Error, reason)
		}
	}
}

// Very many executions that this build cannot read: the process passes some over
// by name, and has the store put off the others. None of them is tried again
// and again.
func TestManyExecutionsLeftToOthersAreNotTriedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 600
		store := memory.New()
		cfg := patientConfig()
		cfg.Poll = time.Second
		newer := newBuild(payV2{7}, "v2")
		newer.got = make(chan payV2, 2*many)
		rt := receive(t, store, cfg, newer.handler())
		stop := inBubble(t, rt)
		var ids []string
		for range many {
			ids = append(ids, deliver(t, rt, newEvent()).ID)
		}
		synctest.Wait()
		stop()

		older := newBuild(payV1{5}, "v1")
		old := receive(t, store, cfg, older.handler())
		for _, id := range ids {
			makeDue(t, store, id)
		}
		stopOld := inBubble(t, old)
		<-time.After(50 * time.Second) // of the bubble
		for _, id := range ids {
			if h := inspect(t, old, id); h.Status != restaq.Pending || h.Attempts != 2 {
				t.Fatalf("execution %s has %d attempts within a minute and is %s:\n%s", id, h.Attempts, h.Status, h.Tree())
			}
		}
		stopOld()

		newer.done.Store(true)
		rt = receive(t, store, cfg, newer.handler())
		stop = inBubble(t, rt)
		for _, id := range ids {
			wait(t, rt, id, "completed")
		}
		stop()
		if newer.runs.Load() != many || older.runs.Load() != 0 {
			t.Errorf("the newer step ran %d times, the older one %d times; want %d and none", newer.runs.Load(), older.runs.Load(), many)
		}
	})
}

func TestRecordsAreThoseThatCountForTheNextAttempt(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		kept := renamed("kept", []string{"old"}, func(context.Context, string) (int, error) { return 1, nil })
		kept.Codec.ReadBy = []string{"shape-0"}
		final := step("final", func(context.Context, string) (int, error) { return 0, restaq.Permanent(errors.New("no")) })
		flaky := step("flaky", func(context.Context, string) (int, error) { return 0, errors.New("not yet") })
		late := step("late", func(context.Context, string) (int, error) { return 2, nil })
		under := newGate()
		rt, _ := start(t, open(), patientConfig(), on("h", func(ctx context.Context, _ restaq.Event) error {
			kept.Run(ctx, struct{}{}, in1{"b"})
			kept.Run(ctx, struct{}{}, in1{"a"})
			final.Run(ctx, struct{}{}, in1{"x"})
			if restaq.Attempt(ctx) == 1 {
				_, err := flaky.Run(ctx, struct{}{}, in1{"x"})
				return err
			}
			late.Run(ctx, struct{}{}, in1{"x"})
			return under.pass(ctx)
		}))
		e := deliver(t, rt, newEvent())
		attemptEnd(t, rt, e.ID, 1)
		want := []restaq.Record{
			{Name: "final", Func: "example.com/test.final", Shape: "shape-1", Permanent: true},
			{Name: "kept[a]", Func: "example.com/test.kept", Shape: "shape-1", ReadBy: []string{"shape-0"}, Was: []string{"old[a]"}},
			{Name: "kept[b]", Func: "example.com/test.kept", Shape: "shape-1", ReadBy: []string{"shape-0"}, Was: []string{"old[b]"}},
		}
		another := receive(t, open(), quick())
		check := func(when string) {
			t.Helper()
			got, err := another.Records(t.Context(), e.ID)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: records\n%+v, %v; want\n%+v", when, got, err, want)
			}
		}
		check("between attempts")
		if step := want[1].Step(); step != "kept" {
			t.Errorf("the step of %s is %q", want[1].Name, step)
		}

		// While an attempt runs, what it has recorded counts.
		makeDue(t, open(), e.ID)
		want = append(want, restaq.Record{Name: "late", Func: "example.com/test.late", Shape: "shape-1"})
		eventually(t, func() bool {
			records, err := another.Records(t.Context(), e.ID)
			return err == nil && len(records) == len(want)
		})
		check("under way")
		under.open()
		wait(t, rt, e.ID, "completed")
		if _, err := another.Records(t.Context(), "01900000-0000-7000-8000-000000000000"); !errors.Is(err, restaq.ErrNotFound) {
			t.Errorf("records of an unknown execution: %v", err)
		}
	})
}
