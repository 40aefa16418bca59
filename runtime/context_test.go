package restaq_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

func TestAContextKnowsTheStepsThatItIsWithin(t *testing.T) {
	ctx := context.Background()
	if restaq.InStep(ctx, "a") {
		t.Error("a context outside steps is in one")
	}
	type key struct{}
	inner := restaq.WithStep(context.WithValue(restaq.WithStep(ctx, "a"), key{}, 1), "b")
	inner, cancel := context.WithCancel(inner)
	defer cancel()
	for name, want := range map[string]bool{"a": true, "b": true, "c": false, "": false} {
		if got := restaq.InStep(inner, name); got != want {
			t.Errorf("InStep(%q) = %v, want %v", name, got, want)
		}
	}
	if inner.Value(key{}) != 1 {
		t.Error("a value of the context above is lost")
	}
}

func TestAContextThatIsPrintedShowsNeitherPayloadNorKey(t *testing.T) {
	printed := make(chan string, 1)
	s := step("s", func(ctx context.Context, _ string) (string, error) {
		printed <- fmt.Sprintf("%v %+v %s", ctx, ctx, ctx)
		return "", nil
	})
	s.Key = func(in1) string { return "secret" }
	rt, _ := start(t, memory.New(), quick(), on("h", func(ctx context.Context, _ restaq.Event) error {
		_, err := s.Run(ctx, struct{}{}, in1{"x"})
		return err
	}))
	event := newEvent()
	event.Payload = []byte(`"secret"`)
	e := deliver(t, rt, event)
	wait(t, rt, e.ID, "completed")
	text := <-printed
	for _, word := range []string{"secret", fmt.Sprint(event.Payload)} {
		if strings.Contains(text, word) {
			t.Errorf("context %s holds %s", text, word)
		}
	}
}
