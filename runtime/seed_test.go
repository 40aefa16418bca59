package restaq_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// The rules of the system that this one follows, literally.

// charge is that system's example: four steps, of which the third fails the
// first time. The script says which call of which step fails how.
type charge struct {
	runs   counter
	script map[string]error // by "step call", such as "send-receipt 1"
}

func (c *charge) step(ctx context.Context, name string) error {
	_, err := step(name, func(context.Context, string) (string, error) {
		n := c.runs.add(name)
		return "ok", c.script[name+" "+string(rune('0'+n))]
	}).Run(ctx, struct{}{}, in1{"ch_1"})
	return err
}

func (c *charge) handle(ctx context.Context, _ restaq.Event) error {
	for _, name := range []string{"record-payment", "calculate-fee", "send-receipt", "notify-fulfillment"} {
		if err := c.step(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func TestSeedCompletedIsCachedFailedRunsAgainUnknownRuns(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		c := &charge{script: map[string]error{"send-receipt 1": errors.New("smtp: timeout")}}
		rt, _ := start(t, open(), quick(), on("h", c.handle))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "completed")
		c.runs.want(t, map[string]int{"record-payment": 1, "calculate-fee": 1, "send-receipt": 2, "notify-fulfillment": 1})
	})
}

func TestSeedHistoryTree(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		c := &charge{script: map[string]error{"step4 2": errors.New("some new error")}}
		timeout := step("step3", func(ctx context.Context, _ string) (string, error) {
			if c.runs.add("step3") == 1 {
				<-ctx.Done()
			}
			return "ok", nil
		})
		timeout.Timeout = 5 * time.Millisecond
		cfg := quick()
		cfg.Attempts = 2
		rt, _ := start(t, open(), cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			for _, name := range []string{"step1", "step2"} {
				if err := c.step(ctx, name); err != nil {
					return err
				}
			}
			if _, err := timeout.Run(ctx, struct{}{}, in1{"ch_1"}); err != nil {
				return err
			}
			if err := c.step(ctx, "step4"); err != nil {
				return err
			}
			return errors.New("try everything again")
		}))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "dead")
		want := "Execution: " + e.ID + ` | Status: failed | Attempts: 2
├─ Attempt 1
│  ├─ step1: completed
│  ├─ step2: completed
│  └─ step3: failed (timeout)
└─ Attempt 2
   ├─ step1: (skipped - cached)
   ├─ step2: (skipped - cached)
   ├─ step3: completed
   ├─ step4: completed
   └─ handler: failed (try everything again)
`
		if got := inspect(t, rt, e.ID).Tree(); got != want {
			t.Errorf("history:\n%s\nwant:\n%s", got, want)
		}
	})
}

func TestSeedAManualRetryDuringAnAutomaticOneJoinsIt(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		var runs counter
		rt, _ := start(t, open(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			switch runs.add("h") {
			case 1:
				return errors.New("transient")
			case 2:
				entered.open()
				return release.pass(ctx)
			}
			return nil
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		joined := make(chan restaq.Execution)
		for range 3 {
			go func() {
				got, err := rt.Retry(t.Context(), e.ID)
				if err != nil {
					t.Error(err)
				}
				joined <- got
			}()
		}
		release.open()
		for range 3 {
			if got := await(t, joined); got.Status != restaq.Completed || got.Attempts != 2 {
				t.Errorf("joined retry: %s after %d attempts, want completed after 2", got.Status, got.Attempts)
			}
		}
		runs.want(t, map[string]int{"h": 2})
	})
}

func TestSeedRestartsAskedWhileAnAttemptRunsAreOne(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		entered, release := newGate(), newGate()
		var runs counter
		store := &watched{Store: open(), wished: make(chan struct{}, 3)}
		s := step("s", func(ctx context.Context, _ string) (string, error) {
			if runs.add("s") == 1 {
				entered.open()
				return "", release.pass(ctx)
			}
			return "", nil
		})
		rt, _ := start(t, store, quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := s.Run(ctx, struct{}{}, in1{"x"})
			return err
		}))
		e := deliver(t, rt, newEvent())
		await(t, entered)
		results := make(chan restaq.Execution)
		for range 3 {
			go func() {
				got, err := rt.Restart(t.Context(), e.ID)
				if err != nil {
					t.Error(err)
				}
				results <- got
			}()
		}
		for range 3 { // each wish is noted before the attempt may end
			await(t, store.wished)
		}
		release.open()
		for range 3 {
			if got := await(t, results); got.Status != restaq.Completed || got.Attempts != 2 {
				t.Errorf("a restart got %s after %d attempts, want completed after 2", got.Status, got.Attempts)
			}
		}
		runs.want(t, map[string]int{"s": 2})
	})
}

// watched tells when a wish has been noted.
type watched struct {
	restaq.Store
	wished chan struct{}
}

func (w *watched) Change(ctx context.Context, id string, c restaq.Change) (*restaq.Execution, bool, error) {
	e, changed, err := w.Store.Change(ctx, id, c)
	if c.To == restaq.Running && changed {
		w.wished <- struct{}{}
	}
	return e, changed, err
}

func TestSeedTheFirstLineOfAnErrorIsShown(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		long := strings.Repeat("é", 100)
		c := &charge{script: map[string]error{"record-payment 1": errors.New("first\nsecond"), "record-payment 2": errors.New(long)}}
		cfg := quick()
		cfg.Attempts = 2
		rt, _ := start(t, open(), cfg, on("h", c.handle))
		e := deliver(t, rt, newEvent())
		wait(t, rt, e.ID, "dead")
		tree := inspect(t, rt, e.ID).Tree()
		for _, want := range []string{"record-payment: failed (first)\n", "record-payment: failed (" + strings.Repeat("é", 79) + "…)\n"} {
			if !strings.Contains(tree, want) {
				t.Errorf("history:\n%swant it to hold %q", tree, want)
			}
		}
	})
}
