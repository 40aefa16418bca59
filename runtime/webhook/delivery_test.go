package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/webhook"
)

// The second half of the receivers' faults: time, duplicates, and what is
// answered. See receivers_test.go.

// 19: a clock that was wrong made requests fail without a hint, or the future
// was taken without a bound.
func TestReceiver19WrongClockIsNamed(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"a.b"}`)
	now := time.Now().Unix()
	standard := map[string]string{"webhook-id": "m", "webhook-timestamp": fmt.Sprint(now), "webhook-signature": signStandard("synthetic", "m", now, body)}
	standardProvider := webhook.StandardWebhooksConfig{Secrets: []string{"synthetic"}, RawSecrets: true}.Provider()
	stripe := map[string]string{"Stripe-Signature": signStripe("whsec_x", now, body)}
	bounded := webhook.StripeConfig{Secrets: []string{"whsec_x"}, Future: 5 * time.Minute}.Provider()
	for name, test := range map[string]struct {
		provider restaq.Provider
		headers  map[string]string
		clock    time.Duration // of the receiver, beyond the right time
		hint     string        // "" if the request is taken
	}{
		"right":                                 {standardProvider, standard, 0, ""},
		"fast":                                  {standardProvider, standard, 6 * time.Minute, "signed 6m"},
		"slow":                                  {standardProvider, standard, -6 * time.Minute, "ahead of this server's clock, at most 5m0s"},
		"stripe, fast":                          {webhook.Stripe("whsec_x"), stripe, 6 * time.Minute, "ago by this server's clock, at most 5m0s"},
		"stripe, slow: its libraries take it":   {webhook.Stripe("whsec_x"), stripe, -6 * time.Minute, ""},
		"stripe, slow, with a bound of its own": {bounded, stripe, -6 * time.Minute, "ahead of this server's clock"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := restaq.Config{Now: func() time.Time { return time.Now().Add(test.clock) }}
			h := serve(t, test.provider, cfg, nil, on("x.Any", "stripe.*", (&seen{}).take))
			got := h.post(test.headers, body)
			if test.hint == "" {
				if got.code != http.StatusOK {
					t.Errorf("answer %+v", got)
				}
				return
			}
			if got.code != http.StatusUnauthorized || !strings.Contains(got.Error, "timestamp outside tolerance") || !strings.Contains(got.Error, test.hint) {
				t.Errorf("answer %+v, want a hint at the clock", got)
			}
		})
	}
}

// 21: a captured request was taken again, later or under another id.
func TestReceiver21CapturedRequestDoesNotRunAgain(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"a.b","action":"opened"}`)
	var late atomic.Bool
	cfg := restaq.Config{Now: func() time.Time {
		if late.Load() {
			return time.Now().Add(time.Hour)
		}
		return time.Now()
	}}
	for name, test := range map[string]struct {
		provider     restaq.Provider
		first, again map[string]string
		code         int // of the second, an hour later
		status       string
	}{
		"signed timestamp": {webhook.Stripe("whsec_x"), stripeNow(body), stripeNow(body), 401, ""},
		"no timestamp, same id": {webhook.GitHub("secret"), githubHeaders("d-1", "issues", body), githubHeaders("d-1", "issues", body),
			200, "duplicate"},
		// GitHub does not sign the id; nobody can tell this from another event.
		"no timestamp, another id": {webhook.GitHub("secret"), githubHeaders("d-1", "issues", body), githubHeaders("d-2", "issues", body),
			200, "accepted"},
		"no timestamp, another id, id from the body": {webhook.GitHubConfig{Secrets: []string{"secret"}, BodyID: true}.Provider(),
			githubHeaders("d-1", "issues", body), githubHeaders("d-2", "issue_comment", body), 200, "duplicate"},
		"id in the signed body": {acme(func(*webhook.HMACConfig) {}).Provider(), map[string]string{"X-Acme-Signature": signHex("s", body)},
			map[string]string{"X-Acme-Signature": signHex("s", body)}, 200, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			late.Store(false)
			h := serve(t, test.provider, cfg, nil, on("x.Stripe", "stripe.*", (&seen{}).take), on("x.GitHub", "github.*", (&seen{}).take), on("x.Acme", "acme.*", (&seen{}).take))
			first := h.post(test.first, body)
			if first.code != http.StatusOK || first.Status != "accepted" {
				t.Fatalf("answer %+v", first)
			}
			h.wait(first.Executions)
			late.Store(true)
			if got := h.post(test.again, body); got.code != test.code || got.Status != test.status {
				t.Errorf("an hour later: %+v, want %d %s", got, test.code, test.status)
			}
		})
	}
}

// 23: two deliveries at the same time passed a look-up each and both ran.
func TestReceiver23HundredDeliveriesAtOnceAreOneExecution(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"a.b"}`)
	var runs atomic.Int64
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, nil,
		on("pay.One", "stripe.a.b", func(context.Context, restaq.Event) error { runs.Add(1); return nil }))
	headers := stripeNow(body)
	replies := make([]reply, 100)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			<-start
			replies[i] = h.post(headers, body)
		})
	}
	close(start)
	wg.Wait()
	count := map[string]int{}
	for _, r := range replies {
		count[r.Status]++
		if r.code != http.StatusOK || len(r.Executions) != 1 || r.Executions[0] != replies[0].Executions[0] {
			t.Errorf("answer %+v, want the one execution", r)
		}
	}
	if count["accepted"] != 1 || count["duplicate"] != 99 {
		t.Errorf("answers %v, want one accepted and 99 duplicates", count)
	}
	h.wait(replies[0].Executions)
	if handled, _ := h.stored(); handled != 1 || runs.Load() != 1 {
		t.Errorf("%d executions, %d runs", handled, runs.Load())
	}
}

// 24: an event whose handler failed was known already when it came again, and
// was lost.
func TestReceiver24FailureIsRetriedWithoutTheSender(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"a.b"}`)
	var runs atomic.Int64
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{Backoff: restaq.Backoff{Min: time.Millisecond, Max: time.Millisecond}, Poll: 5 * time.Millisecond}, nil,
		on("pay.Flaky", "stripe.a.b", func(context.Context, restaq.Event) error {
			if runs.Add(1) < 3 {
				return errors.New("database is away")
			}
			return nil
		}),
		on("pay.Broken", "stripe.a.b", func(context.Context, restaq.Event) error {
			return restaq.Permanent(errors.New("no such customer"))
		}))
	first := h.post(stripeNow(body), body)
	again := h.post(stripeNow(body), body)
	if first.Status != "accepted" || again.Status != "duplicate" || again.code != http.StatusOK {
		t.Fatalf("answers %+v, %+v", first, again)
	}
	for _, id := range first.Executions {
		e := h.wait([]string{id})
		switch {
		case e.Handler == "pay.Flaky" && (e.Status != restaq.Completed || e.Attempts != 3):
			t.Errorf("%+v, want completed at the third attempt", e)
		case e.Handler == "pay.Broken" && !e.Dead():
			t.Errorf("%+v, want dead", e)
		}
	}
	if got := h.post(stripeNow(body), body); got.Status != "duplicate" || runs.Load() != 3 {
		t.Errorf("afterwards: %+v, %d runs", got, runs.Load())
	}
}

// 26: the sender's patience ended before the handler did, and it sent again.
func TestReceiver26AnswerDoesNotWaitForTheHandler(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"a.b"}`)
	release, entered := make(chan struct{}), make(chan struct{})
	var runs atomic.Int64
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, nil,
		on("pay.Slow", "stripe.a.b", func(context.Context, restaq.Event) error {
			runs.Add(1)
			close(entered)
			<-release
			return nil
		}))
	first := h.post(stripeNow(body), body)
	if first.code != http.StatusOK {
		t.Fatalf("answer %+v", first)
	}
	<-entered
	for range 3 {
		if got := h.post(stripeNow(body), body); got.code != http.StatusOK || got.Status != "duplicate" {
			t.Errorf("sent again meanwhile: %+v", got)
		}
	}
	close(release)
	if e := h.wait(first.Executions); e.Status != restaq.Completed || runs.Load() != 1 {
		t.Errorf("%+v, %d runs", e, runs.Load())
	}
}

// 31: events that came in another order than they happened were refused or
// dropped. There is no promise of order; each is handled with its own payload.
func TestReceiver31AnyOrderIsTaken(t *testing.T) {
	s := &seen{}
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{Concurrency: 1}, nil, on("pay.Sub", "stripe.customer.subscription.*", s.take))
	var executions []string
	for _, body := range []string{
		`{"id":"evt_3","type":"customer.subscription.updated","created":300}`,
		`{"id":"evt_2","type":"customer.subscription.updated","created":200}`,
		`{"id":"evt_1","type":"customer.subscription.created","created":100}`,
		`{"id":"evt_0","type":"customer.subscription.updated"}`,
	} {
		got := h.post(stripeNow([]byte(body)), []byte(body))
		if got.code != http.StatusOK || got.Status != "accepted" {
			t.Errorf("%s: %+v", body, got)
		}
		executions = append(executions, got.Executions...)
	}
	h.wait(executions)
	if events := s.all(); len(events) != 4 {
		t.Errorf("handled %d events, want 4", len(events))
	}
}

// 32: an event that the receiver did not know was answered with an error, and
// the sender switched the hook off.
func TestReceiver32UnknownEventsAreAcknowledged(t *testing.T) {
	h := serve(t, webhook.GitHub("secret"), restaq.Config{Attempts: 1}, nil,
		on("ship.Push", "github.push", func(context.Context, restaq.Event) error { return errors.New("cannot deploy") }))
	for i, test := range []struct{ event, body string }{
		{"ping", `{"zen":"Anything added dilutes everything else.","hook_id":1}`},
		{"pull_request", `{"action":"frobbed"}`},
		{"made_up", `{}`},
		{"issues", `{"action":7}`},
	} {
		got := h.post(githubHeaders(fmt.Sprint(i), test.event, []byte(test.body)), []byte(test.body))
		if got.code != http.StatusOK || len(got.Executions) != 0 {
			t.Errorf("%s: %+v", test.event, got)
		}
	}
	body := []byte(`{"ref":"refs/heads/main"}`)
	got := h.post(githubHeaders("p", "push", body), body)
	if e := h.wait(got.Executions); got.code != http.StatusOK || !e.Dead() {
		t.Errorf("an event whose handler fails: %+v, execution %+v", got, e)
	}
	if got := h.post(githubHeaders("p", "push", body), body); got.code != http.StatusOK {
		t.Errorf("the same again: %+v", got)
	}
	if handled, unhandled := h.stored(); handled != 1 || unhandled != 4 {
		t.Errorf("%d executions and %d unhandled events, want 1 and 4", handled, unhandled)
	}
}

// 33: an event of another version of the sender's interface was refused.
func TestReceiver33OtherVersionsAreTaken(t *testing.T) {
	s := &seen{}
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, nil, on("pay.Any", "stripe.*", s.take))
	bodies := []string{
		`{"id":"evt_1","object":"event","api_version":"2011-01-01","request":"iar_1","type":"charge.succeeded","data":{"object":{"status":"brand_new","amount":null}}}`,
		`{"id":"evt_2","object":"event","api_version":null,"request":{"id":null,"idempotency_key":null},"type":"charge.succeeded","new_field":[{}]}`,
		`{"id":"evt_3","object":"v2.core.event","type":"v2.core.account[configuration.customer].updated","related_object":{"id":"acct_1"}}`,
		`{"id":"evt_4","type":"charge.succeeded"}`,
	}
	var executions []string
	for _, body := range bodies {
		got := h.post(stripeNow([]byte(body)), []byte(body))
		if got.code != http.StatusOK {
			t.Errorf("%s: %+v", body, got)
		}
		executions = append(executions, got.Executions...)
	}
	h.wait(executions)
	payloads := map[string]string{}
	for _, e := range s.all() {
		payloads[e.ID] = string(e.Payload)
	}
	for i, body := range bodies {
		if got := payloads[fmt.Sprintf("evt_%d", i+1)]; got != body {
			t.Errorf("payload %q, want %q", got, body)
		}
	}
}
