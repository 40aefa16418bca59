package restaqtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/codec"
	"github.com/restaq/restaq/runtime/restaqtest"
)

type greetIn struct{ name string }

// greet is a step as generated code describes it.
func greet(call func(ctx context.Context, name string) (string, error)) *restaq.Step[struct{}, greetIn, string] {
	return &restaq.Step[struct{}, greetIn, string]{
		Name: "greet", Func: "example.com/p.greet", Timeout: time.Minute,
		Call: func(ctx context.Context, _ struct{}, in greetIn) (string, error) { return call(ctx, in.name) },
		Codec: restaq.Codec[greetIn, string]{
			AppendIn:  func(dst []byte, in *greetIn) ([]byte, error) { return codec.AppendTuple(dst, in.name) },
			DecodeIn:  func(data []byte, in *greetIn) error { return codec.DecodeTuple(data, &in.name) },
			AppendOut: codec.Append[string],
			DecodeOut: codec.Decode[string],
		},
	}
}

func TestAWrapperReturnsItsOutputAsDecoded(t *testing.T) {
	s := greet(func(_ context.Context, name string) (string, error) { return "hello \xff" + name, nil })
	got, err := s.Run(restaqtest.Context(t), struct{}{}, greetIn{"ada"})
	if err != nil || got != "hello \uFFFDada" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestASecondCallReturnsTheRecordOrFails(t *testing.T) {
	runs := 0
	s := greet(func(_ context.Context, name string) (string, error) { runs++; return name, nil })
	ctx := restaqtest.Context(t)
	for range 2 {
		if got, err := s.Run(ctx, struct{}{}, greetIn{"ada"}); err != nil || got != "ada" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if runs != 1 {
		t.Errorf("the function ran %d times, want once", runs)
	}
	if _, err := s.Run(ctx, struct{}{}, greetIn{"bob"}); err == nil || !strings.Contains(err.Error(), "key=") {
		t.Errorf("other inputs: %v, want an error that asks for key=", err)
	}
}

func TestFailuresAreStepErrors(t *testing.T) {
	boom := errors.New("boom")
	for name, tc := range map[string]struct {
		fn        func(context.Context, string) (string, error)
		text      string
		permanent bool
	}{
		"error":     {func(context.Context, string) (string, error) { return "", boom }, "step greet: boom", false},
		"permanent": {func(context.Context, string) (string, error) { return "", restaq.Permanent(boom) }, "step greet: boom", true},
		"panic":     {func(context.Context, string) (string, error) { panic("oh") }, "step greet: panic: oh", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := greet(tc.fn).Run(restaqtest.Context(t), struct{}{}, greetIn{"x"})
			var step *restaq.StepError
			if !errors.As(err, &step) || err.Error() != tc.text || step.Permanent != tc.permanent {
				t.Errorf("got %v (permanent %v), want %s", err, step != nil && step.Permanent, tc.text)
			}
		})
	}
}

func TestATimeoutIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := greet(func(ctx context.Context, name string) (string, error) { <-ctx.Done(); return name, nil })
		if _, err := s.Run(restaqtest.Context(t), struct{}{}, greetIn{"x"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a timeout", err)
		}
	})
}

func TestTheContextKnowsItsExecution(t *testing.T) {
	var key string
	s := greet(func(ctx context.Context, name string) (string, error) {
		key = restaq.IdempotencyKey(ctx)
		return name, nil
	})
	event := restaq.Event{ID: "evt_1", Type: "acme.x", Payload: []byte(`{}`)}
	ctx := restaqtest.EventContext(t, event)
	if _, err := s.Run(ctx, struct{}{}, greetIn{"x"}); err != nil {
		t.Fatal(err)
	}
	if restaq.ExecutionID(ctx) != restaqtest.ExecutionID || restaq.Attempt(ctx) != 1 || restaq.EventFrom(ctx).ID != "evt_1" {
		t.Errorf("execution %q, attempt %d, event %q", restaq.ExecutionID(ctx), restaq.Attempt(ctx), restaq.EventFrom(ctx).ID)
	}
	if len(key) != 32 || key == restaq.IdempotencyKey(ctx) {
		t.Errorf("idempotency key %q of the step, %q of the handler", key, restaq.IdempotencyKey(ctx))
	}
}

func TestAWrapperOutsideAnExecutionNamesItsStep(t *testing.T) {
	_, err := greet(nil).Run(t.Context(), struct{}{}, greetIn{"x"})
	if !errors.Is(err, restaq.ErrNoExecution) || !strings.Contains(err.Error(), "step greet") {
		t.Errorf("got %v", err)
	}
}

func TestAStepThatCallsItselfFails(t *testing.T) {
	var s *restaq.Step[struct{}, greetIn, string]
	s = greet(func(ctx context.Context, name string) (string, error) { return s.Run(ctx, struct{}{}, greetIn{name}) })
	if _, err := s.Run(restaqtest.Context(t), struct{}{}, greetIn{"x"}); err == nil || !strings.Contains(err.Error(), "calls itself") {
		t.Errorf("got %v", err)
	}
}

func TestAStepWithATransactionGetsTheTests(t *testing.T) {
	s := greet(nil)
	s.Call, s.Tx = nil, "*sql.Tx"
	s.CallTx = func(_ context.Context, tx any, _ struct{}, in greetIn) (string, error) {
		return tx.(string) + in.name, nil
	}
	_, err := s.Run(restaqtest.Context(t), struct{}{}, greetIn{"x"})
	if err == nil || err.Error() != "step greet: it takes a *sql.Tx: give one by restaqtest.WithTransaction" {
		t.Errorf("without: %v", err)
	}
	got, err := s.Run(restaqtest.WithTransaction(restaqtest.Context(t), "tx "), struct{}{}, greetIn{"x"})
	if err != nil || got != "tx x" {
		t.Errorf("got %q, %v", got, err)
	}
}
