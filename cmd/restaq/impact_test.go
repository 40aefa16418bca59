package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/codec"
	"github.com/restaq/restaq/runtime/memory"
)

// step describes a step as generated code does.
func step(name, shape string, readBy ...string) *restaq.Step[struct{}, int, int] {
	return &restaq.Step[struct{}, int, int]{
		Name: name, Func: "example.com/shop." + name,
		Key:  func(in int) string { return fmt.Sprint(in) },
		Call: func(_ context.Context, _ struct{}, in int) (int, error) { return in, nil },
		Codec: restaq.Codec[int, int]{
			AppendIn:  func(dst []byte, in *int) ([]byte, error) { return codec.AppendTuple(dst, *in) },
			DecodeIn:  func(data []byte, in *int) error { return codec.DecodeTuple(data, in) },
			AppendOut: codec.Append[int], DecodeOut: codec.Decode[int], Shape: shape, ReadBy: readBy,
		},
	}
}

// Executions by how many steps they have records of, each with two keys.
func TestImpactTellsWhatIsNewWhatStopsAndWhatNobodyAsksFor(t *testing.T) {
	store := memory.New()
	rt, err := restaq.New(store, restaq.Config{
		Logger: slog.New(slog.DiscardHandler), Backoff: restaq.Backoff{Min: time.Hour, Max: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	steps := []*restaq.Step[struct{}, int, int]{step("pay", "p1"), step("tax", "t1", "t2"), step("mail", "m1"), step("note", "n1")}
	begun := make(chan struct{}, 100) // attempts
	handler := restaq.Handler[restaq.Event]{Name: "shop.Paid", Events: []string{"shop.paid"}, Func: func(ctx context.Context, e restaq.Event) error {
		begun <- struct{}{}
		for _, s := range steps[:len(e.ID)-1] {
			for key := range 2 {
				if _, err := s.Run(ctx, struct{}{}, key); err != nil {
					return err
				}
			}
		}
		return errors.New("not yet")
	}}
	parts := []restaq.Part{handler}
	for _, s := range steps {
		parts = append(parts, s.Bind(struct{}{}))
	}
	if err := rt.Register(parts...); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- rt.Run(ctx) }()
	for _, id := range []string{"e", "e1", "e12", "e123", "e1234"} { // no step, one, two, …
		receipt, err := rt.Deliver(t.Context(), restaq.Event{Type: "shop.paid", ID: id, Payload: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		if len(receipt.Executions) != 1 {
			t.Fatalf("%d executions, want 1", len(receipt.Executions))
		}
		<-begun
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	next := &lockedBuild{}
	if err := next.add([]byte(`{
		"handlers": {"shop.Settled": {"was": ["shop.Paid"], "steps": ["charge", "tax", "mail", "new", "elsewhere"]}},
		"steps": {
			"charge": {"output": "p2", "was": ["pay"], "earlier": {"p1": {"read": "no"}}},
			"tax": {"output": "t2"},
			"mail": {"output": "m1"},
			"new": {"output": "none"}
		}
	}`)); err != nil {
		t.Fatal(err)
	}
	infos, err := rt.Handlers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := newImpact(next, infos)
	if err := i.count(t.Context(), rt, false); err != nil {
		t.Fatal(err)
	}
	want := []impactLine{
		{"shop.Settled", "charge", "shape", 1, 0, 4, 0},
		{"shop.Settled", "new", "new", 5, 0, 0, 0},
		{"shop.Settled", "note", "removed", 0, 0, 0, 1},
		{"shop.Settled", "tax", "shape", 2, 3, 0, 0}, // the records say that t2 reads them
	}
	if got := i.lines(); !slices.Equal(got, want) || i.executions != 5 || i.stops != 4 {
		t.Errorf("%d executions, %d stop:\n%+v\nwant 5, 4:\n%+v", i.executions, i.stops, got, want)
	}
}
