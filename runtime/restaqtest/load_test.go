package restaqtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/restaqtest"
)

// TestAnExecutionThatHappenedRunsAgain lets an execution die of its second step
// and runs its handler in a test, from what restaq export writes.
func TestAnExecutionThatHappenedRunsAgain(t *testing.T) {
	var ran []string
	broken := true
	handler := func(ctx context.Context, event restaq.Event) error {
		for _, name := range []string{"record", "send"} {
			got, err := restaq.Do(ctx, name, func(context.Context) (string, error) {
				ran = append(ran, name)
				if name == "send" && broken {
					return "", restaq.Permanent(errors.New("no such mailbox"))
				}
				return name + " done", nil
			})
			if err != nil {
				return err
			}
			if got != name+" done" {
				t.Errorf("step %s returns %q", name, got)
			}
		}
		return nil
	}
	rt, err := restaq.New(memory.New(), restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Register(restaq.Handler[restaq.Event]{Name: "shop.Paid", Events: []string{"shop.paid"}, Func: handler}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- rt.Run(ctx) }()
	receipt, err := rt.Deliver(ctx, restaq.Event{ID: "evt_1", Type: "shop.paid", Payload: []byte(`{"total":1999}`)})
	if err != nil {
		t.Fatal(err)
	}
	id := receipt.Executions[0].ID
	if e, err := rt.Wait(ctx, id); err != nil || !e.Dead() {
		t.Fatalf("the execution is %+v, %v; want it dead", e, err)
	}
	h, err := rt.Inspect(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dead.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}

	r := restaqtest.Load(t, file)
	var payload struct{ Total int }
	if err := json.Unmarshal(r.Event.Payload, &payload); err != nil || payload.Total != 1999 || r.Event.ID != "evt_1" || r.Execution.ID != id {
		t.Errorf("loaded %+v with payload %s, %v", r.Execution, r.Event.Payload, err)
	}
	ran = nil
	if err := handler(r.Context(t), r.Event); !restaq.IsPermanent(err) || !strings.Contains(err.Error(), "no such mailbox") || ran != nil {
		t.Errorf("it ends with %v and ran %q; want the recorded failure, and no step run", err, ran)
	}
	broken = false
	r.Forget(t, "send")
	if err := handler(r.Context(t), r.Event); err != nil || !slices.Equal(ran, []string{"send"}) {
		t.Errorf("once mended it ends with %v and ran %q; want send alone", err, ran)
	}
}
