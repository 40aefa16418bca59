package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

const demoSecret = "whsec_demo"

// demoCharge is an event as Stripe sends it.
const demoCharge = `{
  "id": "evt_demo_1",
  "object": "event",
  "type": "charge.succeeded",
  "created": 1796102400,
  "livemode": false,
  "data": {
    "object": {
      "id": "ch_demo_1",
      "object": "charge",
      "amount": 2999,
      "currency": "eur",
      "customer": "cus_demo_1",
      "status": "succeeded"
    }
  }
}`

// demoStore returns the store of a demo: a fresh SQLite file unless another
// kind is asked for.
func demoStore(url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return ""
	}
	return url
}

// runDemo starts the service, sends it real signed requests, and writes what
// happens to w.
func runDemo(ctx context.Context, w io.Writer, storeURL string) (err error) {
	if storeURL == "" {
		dir, err := os.MkdirTemp("", "restaq-demo")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		storeURL = "sqlite:" + filepath.Join(dir, "billing.db")
	}
	store, err := openStore(ctx, storeURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	b := &Billing{ledger: new(Ledger), mailer: new(Mailer), warehouse: new(Warehouse)}
	rt, err := restaq.New(store, restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := b.RegisterHandlers(rt); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- run(ctx, rt, listener, demoSecret) }()
	d := &demo{w: w, rt: rt, billing: b, url: "http://" + listener.Addr().String() + "/webhooks/stripe"}
	err = d.tell(ctx)
	stop()
	return errors.Join(err, <-stopped)
}

// demo is what the demonstration's parts share.
type demo struct {
	w       io.Writer
	rt      *restaq.Runtime
	billing *Billing
	url     string
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.w, format+"\n", args...) }

// tell tells the story, in order.
func (d *demo) tell(ctx context.Context) error {
	d.say("A charge succeeds, and Stripe delivers it three times, twice at once:")
	id, err := d.deliverThrice(ctx)
	if err != nil {
		return err
	}
	d.say("\nOne execution was made. Its first attempt failed: the mailer timed out. The\nsecond skipped what was done, and finished:\n")
	if _, err := d.rt.Wait(ctx, id); err != nil {
		return err
	}
	if err := d.show(ctx, id); err != nil {
		return err
	}

	d.say("\nA request that Stripe did not sign is refused:")
	status, body, err := d.post(ctx, demoCharge, "whsec_wrong")
	if err != nil {
		return err
	}
	d.say("  %d %s", status, body)

	d.say("\nA restart runs all four steps again:\n")
	if _, err := d.rt.Restart(ctx, id); err != nil {
		return err
	}
	return d.show(ctx, id)
}

// deliverThrice posts the event twice at the same time and then once more, and
// returns the execution that all three answers name.
func (d *demo) deliverThrice(ctx context.Context) (string, error) {
	var wg sync.WaitGroup
	answers := make([]answer, 3)
	errs := make([]error, 3)
	deliver := func(i int) { answers[i], errs[i] = d.deliver(ctx) }
	for i := range 2 {
		wg.Go(func() { deliver(i) })
	}
	wg.Wait()
	deliver(2)
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	if answers[1].Status == "accepted" { // which of the two won is a matter of luck
		answers[0], answers[1] = answers[1], answers[0]
	}
	for _, a := range answers {
		if len(a.Executions) != 1 || a.Executions[0] != answers[0].Executions[0] {
			return "", fmt.Errorf("deliveries made different executions: %v", answers)
		}
		d.say("  200 %s, execution %s", a.Status, a.Executions[0])
	}
	return answers[0].Executions[0], nil
}

// answer is the body of an acknowledged delivery.
type answer struct {
	Status     string   `json:"status"`
	Executions []string `json:"executions"`
}

func (d *demo) deliver(ctx context.Context) (answer, error) {
	var a answer
	status, body, err := d.post(ctx, demoCharge, demoSecret)
	if err != nil {
		return a, err
	}
	if status != http.StatusOK {
		return a, fmt.Errorf("delivery was answered %d %s", status, body)
	}
	return a, json.Unmarshal([]byte(body), &a)
}

// post sends an event as Stripe does: the signature covers the time and the
// body.
func (d *demo) post(ctx context.Context, event, secret string) (status int, body string, err error) {
	now := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", now, event)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, strings.NewReader(event))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", now, hex.EncodeToString(mac.Sum(nil))))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSpace(string(data)), err
}

// show prints an execution's history and what reached the outside world.
func (d *demo) show(ctx context.Context, id string) error {
	h, err := d.rt.Inspect(ctx, id)
	if err != nil {
		return err
	}
	d.say("%s", h.Tree())
	d.say("payments %d, fees %d, receipts sent %d (tried %d), shipments %d", d.billing.ledger.payments.Load(), d.billing.ledger.fees.Load(),
		d.billing.mailer.sent.Load(), d.billing.mailer.tries.Load(), d.billing.warehouse.shipped.Load())
	return nil
}
