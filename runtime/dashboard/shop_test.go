package dashboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

// shop is a runtime with something to look at: the billing example's handler, by
// its name, steps and graph, and two others.
type shop struct {
	rt     *restaq.Runtime
	store  *memory.Store
	broken atomic.Bool  // the bank takes no refunds
	behind atomic.Int64 // of the clock: a time.Duration
	hold   chan struct{}
	slow   atomic.Bool // steps take their time, for the pictures
	last   string      // the id of the last charge of fill
	held   atomic.Bool // pushes are being shipped until hold is closed
}

const (
	charged  = "billing.Billing.ChargeSucceeded"
	refunded = "billing.Billing.ChargeRefunded"
	pushed   = "ship.Deployer.Push"
)

// openShop starts a shop that ends with the test.
func openShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{store: memory.New(), hold: make(chan struct{})}
	s.broken.Store(true)
	var err error
	s.rt, err = restaq.New(s.store, restaq.Config{
		Logger:   slog.New(slog.DiscardHandler),
		Attempts: 5, Backoff: restaq.Backoff{Min: time.Millisecond, Max: time.Millisecond},
		Now:    func() time.Time { return time.Now().Add(-time.Duration(s.behind.Load())) },
		Redact: []string{"receipt_email"},
	})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := os.ReadFile("../../examples/billing/restaq.graph.json")
	if err != nil {
		t.Fatal(err)
	}
	handlers := []restaq.Part{
		restaq.Handler[restaq.Event]{Name: charged, Events: []string{"stripe.charge.succeeded"}, Func: s.charge, Graph: string(graph)},
		restaq.Handler[restaq.Event]{Name: refunded, Events: []string{"stripe.charge.refunded"}, Func: s.refund},
		restaq.Handler[restaq.Event]{Name: pushed, Events: []string{"github.push"}, Func: s.push, Graph: pushGraph},
	}
	if err := s.rt.Register(handlers...); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.rt.Run(ctx) }()
	t.Cleanup(func() {
		s.release()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// release lets pushes be shipped.
func (s *shop) release() {
	if s.held.CompareAndSwap(false, true) {
		close(s.hold)
	}
}

// do is a step that returns v. It takes a while if the shop is slow.
func do[T any](ctx context.Context, s *shop, name string, v T) (T, error) {
	return restaq.Do(ctx, name, func(context.Context) (T, error) {
		s.dawdle(len(name))
		return v, nil
	})
}

// dawdle takes a time that is the same each time, so that pictures are.
func (s *shop) dawdle(n int) {
	if s.slow.Load() {
		<-time.After(time.Duration(n*n%23) * time.Millisecond)
	}
}

type payment struct {
	ChargeID string `json:"charge_id"`
	Amount   int    `json:"amount"`
	Email    string `json:"receipt_email"`
}

func (s *shop) charge(ctx context.Context, e restaq.Event) error {
	if _, err := do(ctx, s, "record-payment", payment{"ch_" + e.ID, 2999, "ann@example.org"}); err != nil {
		return err
	}
	if _, err := do(ctx, s, "calculate-fee", map[string]int{"fee": 117, "net": 2882}); err != nil {
		return err
	}
	_, err := restaq.Do(ctx, "send-receipt", func(ctx context.Context) (restaq.None, error) {
		s.dawdle(9)
		if restaq.Attempt(ctx) == 1 {
			return restaq.None{}, errors.New("mail to ann@example.org: dial tcp 198.51.100.7:587: i/o timeout")
		}
		return restaq.None{}, nil
	})
	if err != nil {
		return err
	}
	_, err = do(ctx, s, "notify-fulfillment", "shipment_"+e.ID)
	return err
}

func (s *shop) refund(ctx context.Context, e restaq.Event) error {
	if _, err := do(ctx, s, "find-payment", "pay_"+e.ID); err != nil {
		return err
	}
	_, err := restaq.Do(ctx, "refund-at-bank", func(context.Context) (string, error) {
		if s.broken.Load() {
			return "", restaq.Permanent(errors.New("bank answered 422: account_closed: the account of this card was closed on 2026-11-28"))
		}
		return "re_" + e.ID, nil
	})
	return err
}

const pushGraph = `{"version":1,"events":["github.push"],"steps":{"build":{"func":"Deployer.build"},"deploy":{"func":"Deployer.deploy"}},"flow":[
	{"kind":"if","cases":[{"when":"push.Deleted","body":[{"kind":"return"}]},{}]},
	{"kind":"step","name":"build","fails":true},
	{"kind":"loop","text":"_, region := range regions","body":[{"kind":"step","name":"deploy","fails":true}]}]}`

func (s *shop) push(ctx context.Context, _ restaq.Event) error {
	if _, err := do(ctx, s, "build", "image:4f2a91c"); err != nil {
		return err
	}
	_, err := restaq.Do(ctx, "deploy", func(ctx context.Context) (string, error) {
		select {
		case <-s.hold:
			return "eu-central", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	return err
}

// deliver delivers an event and returns its execution.
func (s *shop) deliver(t *testing.T, e restaq.Event) restaq.Execution {
	t.Helper()
	r, err := s.rt.Deliver(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Executions) != 1 {
		t.Fatalf("%d executions of %s", len(r.Executions), e.ID)
	}
	return r.Executions[0]
}

// deliverCharge delivers a charge and waits until it is handled.
func (s *shop) deliverCharge(t *testing.T, id string) restaq.Execution {
	t.Helper()
	return s.wait(t, s.deliver(t, restaq.Event{Type: "stripe.charge.succeeded", ID: id, Payload: chargePayload(id), Header: http.Header{"User-Agent": {"Stripe/1.0"}}}))
}

// deliverRefund delivers a refund and waits until it is handled.
func (s *shop) deliverRefund(t *testing.T, id string) restaq.Execution {
	t.Helper()
	return s.wait(t, s.deliver(t, restaq.Event{Type: "stripe.charge.refunded", ID: id, Payload: chargePayload(id)}))
}

func (s *shop) wait(t *testing.T, e restaq.Execution) restaq.Execution {
	t.Helper()
	e, err := s.rt.Wait(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func chargePayload(id string) []byte {
	data, err := json.MarshalIndent(map[string]any{
		"id": id, "object": "event", "api_version": "2026-10-29", "livemode": true, "type": "charge.succeeded",
		"data": map[string]any{"object": map[string]any{
			"id": "ch_" + id, "object": "charge", "amount": 2999, "currency": "eur", "customer": "cus_Q8kd", "paid": true,
			"receipt_email": "ann@example.org", "receipt_number": nil,
			"billing_details": map[string]any{"address": map[string]any{"city": "Köln", "country": "DE"}, "name": "Ann Example"},
			"outcome":         map[string]any{"network_status": "approved_by_network", "risk_level": "normal", "risk_score": 12},
		}},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return data
}

// fill makes a day's work: executions of all kinds, and counts of the last hour.
func (s *shop) fill(t *testing.T) {
	t.Helper()
	for i := range 40 {
		s.behind.Store(int64(time.Duration(50-i) * time.Minute))
		id := fmt.Sprintf("evt_1QKx%02dLkd", i)
		if i%7 == 5 {
			s.deliverRefund(t, id)
		} else {
			s.last = s.deliverCharge(t, id).ID
		}
	}
	s.behind.Store(0)
	s.deliver(t, restaq.Event{Type: "github.push", ID: "0d2c6e1a-7f3b-11ef-9d5e", Payload: []byte(`{"ref":"refs/heads/main","deleted":false}`)})
	now := time.Now().UTC().Truncate(time.Minute)
	var counts []restaq.Count
	add := func(at time.Time, kind restaq.CountKind, name, result string, bucket int, n int64) {
		if n > 0 {
			counts = append(counts, restaq.Count{Minute: at, Kind: kind, Name: name, Result: result, Bucket: bucket, N: n})
		}
	}
	for i := range int64(60) {
		at := now.Add(-time.Duration(i) * time.Minute)
		wave := 40 + (i*17+i*i*3)%29
		add(at, restaq.CountDelivery, "stripe", "accepted", 0, wave)
		add(at, restaq.CountDelivery, "stripe", "duplicate", 0, wave/9)
		add(at, restaq.CountDelivery, "github", "accepted", 0, 6+i%5)
		add(at, restaq.CountDelivery, "github", "unhandled", 0, 2+i%3)
		if i >= 20 && i < 26 {
			add(at, restaq.CountRefusal, "stripe", "signature does not match", 0, 9+i%4)
		}
		add(at, restaq.CountAttempt, charged, "completed", int(14+i%4), wave/2)
		add(at, restaq.CountAttempt, charged, "completed", int(19+i%3), wave/8)
		add(at, restaq.CountAttempt, charged, "retrying", 17, (i%11)/4)
		add(at, restaq.CountAttempt, refunded, "completed", int(12+i%3), 5+i%4)
		if i < 9 {
			add(at, restaq.CountAttempt, refunded, "dead", 16, 2+i%2)
		}
		add(at, restaq.CountAttempt, pushed, "completed", int(30+i%2), i%3)
	}
	if err := s.store.AddCounts(t.Context(), counts, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
}
