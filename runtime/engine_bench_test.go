package restaq_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// BenchmarkExecution measures what the runtime itself spends on an execution
// of four steps: the store answers at once and keeps nothing, and the codecs
// are as plain as codecs can be.
//
//	go test ./runtime -run '^$' -bench Execution -benchmem
func BenchmarkExecution(b *testing.B) {
	for _, atOnce := range []int{1, 64} {
		b.Run(fmt.Sprint(atOnce, " at once"), func(b *testing.B) { benchmarkExecution(b, atOnce) })
	}
}

func benchmarkExecution(b *testing.B, atOnce int) {
	store := &nullStore{ended: make(chan struct{}, atOnce)}
	rt, err := restaq.New(store, restaq.Config{
		Logger: slog.New(slog.DiscardHandler), Concurrency: 512, Poll: time.Hour, // a claim takes all slots for a moment
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := rt.Register(restaq.Handler[benchOrder]{
		Name: "restaq_test.place", Events: []string{"bench.order.placed"}, Func: place, Decode: decodeBenchOrder,
	}); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	result := make(chan error, 1)
	go func() { result <- rt.Run(ctx) }()
	rt.WaitActive()
	rt.WaitIdle()
	for range atOnce {
		store.ended <- struct{}{}
	}
	id := []byte("event-")
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		<-store.ended
		id = strconv.AppendInt(id[:len("event-")], int64(n), 10)
		if _, err := rt.Deliver(ctx, restaq.Event{
			Source: "bench", Provider: "bench", ID: string(id), Type: "bench.order.placed", Payload: []byte(`order-1 2000`),
		}); err != nil {
			b.Fatal(err)
		}
	}
	for range atOnce {
		<-store.ended
	}
	b.StopTimer()
	stop()
	if err := <-result; err != nil {
		b.Fatal(err)
	}
}

// nullStore begins every execution at once and forgets it.
type nullStore struct {
	restaq.Store // none: what is not below is not called
	ended        chan struct{}
}

func (s *nullStore) Lookup(context.Context, string, string, bool) (*restaq.StoredEvent, error) {
	return nil, restaq.ErrNotFound
}

func (s *nullStore) Insert(_ context.Context, in *restaq.Insertion) (bool, []restaq.Execution, error) {
	executions := make([]restaq.Execution, len(in.Executions))
	for i := range in.Executions {
		if !in.Executions[i].Begin {
			return false, nil, fmt.Errorf("execution %s does not begin at once", in.Executions[i].ID)
		}
		executions[i] = restaq.Execution{
			ID: in.Executions[i].ID, Handler: in.Executions[i].Handler, Event: in.Event.Ref(), Status: restaq.Running, Attempts: 1,
		}
	}
	return true, executions, nil
}

func (s *nullStore) Record(context.Context, restaq.Lease, *restaq.Progress) error { return nil }

func (s *nullStore) Renew(context.Context, []restaq.Renewal, time.Duration) ([]string, error) {
	return nil, nil
}

func (s *nullStore) Claim(context.Context, restaq.Claim) ([]restaq.Claimed, error) { return nil, nil }

func (s *nullStore) Finish(_ context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	s.ended <- struct{}{}
	return &restaq.Execution{ID: lease.Execution, Status: o.Status, Attempts: lease.Attempt}, nil
}

// The workflow is that of bench/workflow: an order goes through four steps, of
// which two return something.
type (
	benchOrder struct {
		ID     string
		Amount int64
	}
	benchPayment struct {
		Order       string
		Amount, Fee int64
	}
)

func decodeBenchOrder(_ string, payload []byte) (o benchOrder, err error) {
	id, amount, _ := bytes.Cut(payload, []byte(" "))
	o.ID = string(id)
	o.Amount, err = strconv.ParseInt(string(amount), 10, 64)
	return o, err
}

func place(ctx context.Context, order benchOrder) error {
	if _, err := reserveBench.Run(ctx, struct{}{}, order.ID); err != nil {
		return err
	}
	payment, err := chargeBench.Run(ctx, struct{}{}, order)
	if err != nil {
		return err
	}
	label, err := packBench.Run(ctx, struct{}{}, payment)
	if err != nil {
		return err
	}
	_, err = shipBench.Run(ctx, struct{}{}, label)
	return err
}

var (
	reserveBench = restaq.Step[struct{}, string, restaq.None]{
		Name: "reserve", Func: "example.com/bench.reserve",
		Call:  func(context.Context, struct{}, string) (restaq.None, error) { return restaq.None{}, nil },
		Codec: restaq.Codec[string, restaq.None]{AppendIn: appendBenchTuple[*string](appendBenchString)},
	}
	chargeBench = restaq.Step[struct{}, benchOrder, benchPayment]{
		Name: "charge", Func: "example.com/bench.charge",
		Call: func(_ context.Context, _ struct{}, o benchOrder) (benchPayment, error) {
			return benchPayment{o.ID, o.Amount, o.Amount/40 + 30}, nil
		},
		Codec: restaq.Codec[benchOrder, benchPayment]{
			AppendIn:  appendBenchTuple[*benchOrder](appendBenchOrder),
			AppendOut: appendBenchPayment,
			DecodeOut: func(_ []byte, p *benchPayment) error { p.Order, p.Amount, p.Fee = "order-1", 2000, 80; return nil },
			Shape:     "90dea09ee90f67a6",
		},
	}
	packBench = restaq.Step[struct{}, benchPayment, string]{
		Name: "pack", Func: "example.com/bench.pack",
		Call: func(_ context.Context, _ struct{}, p benchPayment) (string, error) { return p.Order, nil },
		Codec: restaq.Codec[benchPayment, string]{
			AppendIn:  appendBenchTuple[*benchPayment](appendBenchPayment),
			AppendOut: appendBenchString,
			DecodeOut: func(data []byte, s *string) error { *s = string(data[1 : len(data)-1]); return nil },
			Shape:     "fffb964f94172686",
		},
	}
	shipBench = restaq.Step[struct{}, string, restaq.None]{
		Name: "ship", Func: "example.com/bench.ship",
		Call:  func(context.Context, struct{}, string) (restaq.None, error) { return restaq.None{}, nil },
		Codec: restaq.Codec[string, restaq.None]{AppendIn: appendBenchTuple[*string](appendBenchString)},
	}
)

// appendBenchTuple is an array of one input.
func appendBenchTuple[P any](element func(dst []byte, v P) ([]byte, error)) func(dst []byte, in P) ([]byte, error) {
	return func(dst []byte, in P) ([]byte, error) {
		dst, err := element(append(dst, '['), in)
		return append(dst, ']'), err
	}
}

func appendBenchString(dst []byte, s *string) ([]byte, error) {
	dst = append(dst, '"')
	dst = append(dst, *s...)
	return append(dst, '"'), nil
}

func appendBenchOrder(dst []byte, o *benchOrder) ([]byte, error) {
	dst, _ = appendBenchString(append(dst, `{"id":`...), &o.ID)
	dst = strconv.AppendInt(append(dst, `,"amount":`...), o.Amount, 10)
	return append(dst, '}'), nil
}

func appendBenchPayment(dst []byte, p *benchPayment) ([]byte, error) {
	dst, _ = appendBenchString(append(dst, `{"order":`...), &p.Order)
	dst = strconv.AppendInt(append(dst, `,"amount":`...), p.Amount, 10)
	dst = strconv.AppendInt(append(dst, `,"fee":`...), p.Fee, 10)
	return append(dst, '}'), nil
}
