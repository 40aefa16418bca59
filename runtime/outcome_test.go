package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var errDeclined = errors.New("card declined")

type cardError struct{ Code string }

func (e *cardError) Error() string { return "card " + e.Code }

func TestAPermanentFailureIsAnOutcome(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		pay := step("pay", func(context.Context, string) (string, error) {
			runs.add("pay")
			return "", restaq.Permanent(fmt.Errorf("charge: %w", errors.Join(errDeclined, &cardError{"51"})))
		})
		cfg := quick()
		cfg.Errors = []error{errDeclined, (*cardError)(nil)}
		_, h := run(t, open(), cfg, "completed", func(ctx context.Context, _ restaq.Event) error {
			_, err := pay.Run(ctx, struct{}{}, in1{"x"})
			var failure *restaq.StepError
			var card *cardError
			if !errors.As(err, &failure) || !failure.Permanent || failure.Step != "pay" {
				t.Errorf("attempt %d got %v, want a permanent StepError", restaq.Attempt(ctx), err)
			}
			if !errors.Is(err, errDeclined) || !errors.As(err, &card) || card.Code != "51" {
				t.Errorf("attempt %d cannot see the causes of %v", restaq.Attempt(ctx), err)
			}
			if want := "step pay: charge: card declined\ncard 51"; err.Error() != want {
				t.Errorf("attempt %d got %q, want %q", restaq.Attempt(ctx), err, want)
			}
			if restaq.Attempt(ctx) < 3 { // the handler goes past the failure
				return errors.New("transient")
			}
			return nil
		})
		runs.want(t, map[string]int{"pay": 1})
		if len(h.Tries) != 3 || h.Tries[2].Steps[0].Status != restaq.StepSkipped {
			t.Errorf("history:\n%s", h.Tree())
		}
	})
}

func TestRetryRunsAnewThePermanentFailureThatEndedTheExecution(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		passed := step("passed", func(context.Context, string) (string, error) {
			runs.add("passed")
			return "", restaq.Permanent(errors.New("gone past"))
		})
		ending := step("ending", func(context.Context, string) (string, error) {
			if runs.add("ending") < 3 {
				return "", restaq.Permanent(errors.New("the end"))
			}
			return "", nil
		})
		rt, h := run(t, open(), quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
			if _, err := passed.Run(ctx, struct{}{}, in1{"x"}); err == nil {
				t.Error("the failure that the handler goes past was run anew")
			}
			_, err := ending.Run(ctx, struct{}{}, in1{"x"})
			if err != nil {
				return fmt.Errorf("handler: %w", err)
			}
			return nil
		})
		for _, want := range []string{"dead", "completed"} {
			got, err := rt.Retry(t.Context(), h.ID)
			if err != nil || word(&got) != want {
				t.Fatalf("retry: %s, %v; want %s", word(&got), err, want)
			}
		}
		runs.want(t, map[string]int{"passed": 1, "ending": 3})
	})
}

func TestOfJoinedFailuresThePermanentOneEndsTheExecution(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		for _, last := range []string{"ending", "transient"} {
			var runs counter
			transient := step("transient", func(context.Context, string) (string, error) {
				if runs.add("transient") == 1 {
					return "", errors.New("once")
				}
				return "", nil
			})
			ending := step("ending", func(context.Context, string) (string, error) {
				if runs.add("ending") == 1 {
					return "", restaq.Permanent(errors.New("the end"))
				}
				return "", nil
			})
			rt, h := run(t, store, quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
				_, end := ending.Run(ctx, struct{}{}, in1{"x"})
				if restaq.Attempt(ctx) == 1 {
					return errors.New("the permanent failure comes from its record")
				}
				_, once := transient.Run(ctx, struct{}{}, in1{"x"})
				if last == "ending" {
					return errors.Join(once, end)
				}
				return errors.Join(end, once)
			})
			if h.Attempts != 2 {
				t.Errorf("dead after %d attempts, want 2:\n%s", h.Attempts, h.Tree())
			}
			if got, err := rt.Retry(t.Context(), h.ID); err != nil || word(&got) != "completed" {
				t.Errorf("retry: %s, %v; want completed", word(&got), err)
			}
			runs.want(t, map[string]int{"ending": 2, "transient": 2})
		}
	})
}

func TestAStepsOwnAttemptsAreItsOwnBudget(t *testing.T) {
	failing := func(runs *counter, name string, attempts int) *restaq.Step[struct{}, in1, string] {
		s := step(name, func(context.Context, string) (string, error) {
			if n := runs.add(name); n <= 3 {
				return "", fmt.Errorf("failure %d", n)
			}
			return "", nil
		})
		s.Attempts = attempts
		return s
	}
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		// More attempts than the handler's one: they use none of the handler's.
		cfg := quick()
		cfg.Attempts = 2
		var runs counter
		more, plain := failing(&runs, "more", 5), step("plain", func(context.Context, string) (string, error) {
			if runs.add("plain") == 1 {
				return "", errors.New("once")
			}
			return "", nil
		})
		run(t, store, cfg, "completed", func(ctx context.Context, _ restaq.Event) error {
			if _, err := more.Run(ctx, struct{}{}, in1{"x"}); err != nil {
				return err
			}
			_, err := plain.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		runs.want(t, map[string]int{"more": 4, "plain": 2})
	})
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		// Fewer than the handler's; a person's retry opens a fresh budget.
		var runs counter
		fewer := failing(&runs, "fewer", 2)
		rt, h := run(t, open(), quick(), "dead", func(ctx context.Context, _ restaq.Event) error {
			_, err := fewer.Run(ctx, struct{}{}, in1{"x"})
			return err
		})
		runs.want(t, map[string]int{"fewer": 2})
		if _, err := rt.Retry(t.Context(), h.ID); err != nil {
			t.Fatal(err)
		}
		wait(t, rt, h.ID, "completed")
		runs.want(t, map[string]int{"fewer": 4})
	})
}

func TestAttemptsRunOutAndRetryOpensAFreshBudget(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var runs counter
		cfg := quick()
		cfg.Attempts = 3
		rt, h := run(t, open(), cfg, "dead", func(context.Context, restaq.Event) error {
			return fmt.Errorf("failure %d", runs.add("h"))
		})
		if h.Attempts != 3 || h.Error != "failure 3" || h.FinishedAt.IsZero() {
			t.Errorf("dead after %d attempts with %q, finished at %v", h.Attempts, h.Error, h.FinishedAt)
		}
		got, err := rt.Retry(t.Context(), h.ID)
		if err != nil || got.Attempts < 4 { // the next one may have begun already
			t.Fatalf("retry: %d attempts, %v", got.Attempts, err)
		}
		wait(t, rt, h.ID, "dead")
		runs.want(t, map[string]int{"h": 6})
	})
}

func TestRetryAfterSetsTheDelay(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt, _ := start(t, open(), quick(), on("h", func(context.Context, restaq.Event) error {
			return fmt.Errorf("downstream: %w", restaq.RetryAfter(errors.New("503"), time.Hour))
		}))
		e := deliver(t, rt, newEvent())
		got := attemptEnd(t, rt, e.ID, 1)
		if !got.Retrying() || got.Error != "downstream: 503" {
			t.Fatalf("execution is %s (%s), want it retrying", word(&got), got.Error)
		}
		if d := time.Until(got.RetryAt); d < 59*time.Minute || d > 66*time.Minute {
			t.Errorf("due again in %v, want an hour and up to a tenth more", d)
		}
	})
}
