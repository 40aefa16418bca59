package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/webhook"
)

// The faults of webhook receivers, by the numbers of the list that the project
// keeps of them, driven over HTTP. Each comment says what other receivers did.

// 1: the signature was checked over a body that had been parsed and written
// again, and failed without a hint.
func TestReceiver01SignatureCoversTheBytesAsSent(t *testing.T) {
	body := []byte("{\r\n  \"type\": \"charge.succeeded\",\n\t\"id\": \"evt_1\" , \"z\":1,\"a\":[ ]}\r\n")
	s := &seen{}
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, nil, on("pay.Charge", "stripe.charge.*", s.take))
	got := h.post(stripeNow(body), body)
	if got.code != http.StatusOK {
		t.Fatalf("answer %+v", got)
	}
	h.wait(got.Executions)
	if events := s.all(); len(events) != 1 || string(events[0].Payload) != string(body) {
		t.Errorf("handled %+v, want the bytes as sent", events)
	}

	rewritten := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, parsesBodies, on("pay.Charge", "stripe.charge.*", s.take))
	if got := rewritten.post(stripeNow(body), body); got.code != http.StatusUnauthorized || !strings.Contains(got.Error, "something in front of the handler changed it") {
		t.Errorf("behind a middleware that rewrites bodies: %+v", got)
	}
	drained := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, readsBodies, on("pay.Charge", "stripe.charge.*", s.take))
	if got := drained.post(stripeNow(body), body); got.code < 400 || !strings.Contains(got.Error, "body was read") {
		t.Errorf("behind a middleware that reads bodies: %+v", got)
	}
	p := webhook.Stripe("whsec_x")
	_, err := p.Receive(request(stripeNow(body), body), nil, time.Now())
	wantError(t, err, webhook.ErrBodyRead, fmt.Sprintf("Content-Length is %d", len(body)))
}

// parsesBodies is a middleware that decodes JSON and encodes it again.
func parsesBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v any
		if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(again))
		next.ServeHTTP(w, r)
	})
}

// readsBodies is a middleware that reads a body and puts nothing back.
func readsBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// 2: the hash went over text that had been decoded, trimmed or taken for ASCII.
func TestReceiver02EverySpellingHasItsOwnSignature(t *testing.T) {
	spellings := []string{
		`{"id":"evt_%d","type":"a.b","x":"é😀♥"}`,
		`{"id":"evt_%d","type":"a.b","x":"\u00e9\ud83d\ude00\u2665"}`,
		`{"id":"evt_%d","type":"a.b","x":"\u00E9\uD83D\uDE00♥"}`,
		`{"id":"evt_%d","type":"a.b","x":"\\u00e9"}`,
		`{"id":"evt_%d","type":"a.b","x":"<b>&amp;"}`,
		`{"id":"evt_%d","type":"a.b","x":"\u003cb\u003e\u0026amp;"}`,
		"{\"id\":\"evt_%d\",\"type\":\"a.b\",\"x\":1}\r\n",
		"\n{\"id\":\"evt_%d\",\"type\":\"a.b\",\"x\":1}",
	}
	s := &seen{}
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, nil, on("pay.Any", "stripe.*", s.take))
	for i, spelling := range spellings {
		body := fmt.Appendf(nil, spelling, i)
		if got := h.post(stripeNow(body), body); got.code != http.StatusOK {
			t.Errorf("%s: %+v", body, got)
		}
		for j, other := range spellings {
			if i == j {
				continue
			}
			if got := h.post(stripeNow(fmt.Appendf(nil, other, i)), body); got.code != http.StatusUnauthorized {
				t.Errorf("%s with the signature of spelling %d: %+v", body, j, got)
			}
		}
	}
}

// 3: a form was refused, dropped, or its inner JSON taken for what is signed.
func TestReceiver03FormOfGitHub(t *testing.T) {
	inner := `{"action":"closed","x":"é & = + %"}`
	s := &seen{}
	h := serve(t, webhook.GitHub("secret"), restaq.Config{}, nil, on("ship.PR", "github.pull_request.closed", s.take))
	form := func(delivery, body string) map[string]string {
		return with(githubHeaders(delivery, "pull_request", []byte(body)), "Content-Type", "application/x-www-form-urlencoded")
	}
	body := url.Values{"payload": {inner}}.Encode()
	got := h.post(form("d-1", body), []byte(body))
	if got.code != http.StatusOK {
		t.Fatalf("answer %+v", got)
	}
	h.wait(got.Executions)
	if events := s.all(); len(events) != 1 || string(events[0].Payload) != inner || events[0].Type != "github.pull_request.closed" {
		t.Errorf("handled %+v", events)
	}
	for _, bad := range []string{"", "a=b", body + "&" + body, body + "&payload", "payload=%"} {
		if got := h.post(form("d-2", bad), []byte(bad)); got.code != http.StatusBadRequest {
			t.Errorf("form %q: %+v", bad, got)
		}
	}
	headers := with(githubHeaders("d-3", "pull_request", []byte(inner)), "Content-Type", "application/x-www-form-urlencoded")
	if got := h.post(headers, []byte(body)); got.code != http.StatusUnauthorized {
		t.Errorf("signature over the inner JSON: %+v", got)
	}
}

// endless is a body without an end that counts what is read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func (*endless) Close() error { return nil }

// 5: a body was read to its end before anything was checked.
func TestReceiver05LargeBodyIsNotRead(t *testing.T) {
	const limit = 1 << 20
	h := serve(t, webhook.StripeConfig{Secrets: []string{"whsec_x"}, MaxBody: limit}.Provider(), restaq.Config{}, nil, on("pay.Any", "stripe.*", (&seen{}).take))
	endpoint := h.server.Config.Handler
	for name, test := range map[string]struct{ length, most int64 }{
		"1 GiB announced":      {1 << 30, 0},
		"a byte too many":      {limit + 1, 0},
		"chunked, without end": {-1, limit + 1},
	} {
		t.Run(name, func(t *testing.T) {
			body := &endless{}
			r := httptest.NewRequest(http.MethodPost, "/", body)
			r.ContentLength = test.length
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			endpoint.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("answer %d", w.Code)
			}
			if body.read > test.most {
				t.Errorf("read %d bytes, want at most %d", body.read, test.most)
			}
		})
	}
	head, tail := `{"id":"evt_1","type":"a.b","x":"`, `"}`
	exact := []byte(head + strings.Repeat("x", limit-len(head)-len(tail)) + tail)
	if got := h.send(stripeNow(exact), io.MultiReader(bytes.NewReader(exact))); got.code != http.StatusOK {
		t.Errorf("a chunked body of exactly the limit: %+v", got)
	}
	if got := webhook.Stripe("whsec_x").Endpoint().MaxBody; got != 0 {
		t.Errorf("default limit %d, want the runtime's", got)
	}
}

// 7: integers above 2^53 went through float64 and lost digits.
func TestReceiver07LargeIntegersKeepTheirDigits(t *testing.T) {
	const digits = "820982911946154508"
	body := []byte(`{"id":` + digits + `,"type":"order.created","order":{"id":` + digits + `}}`)
	type order struct{ ID int64 }
	decode := func(_ string, payload []byte) (order, error) {
		var p struct{ Order order }
		err := json.Unmarshal(payload, &p)
		return p.Order, err
	}
	got := make(chan int64, 1)
	handler := restaq.Handler[order]{Name: "shop.Order", Events: []string{"acme.order.created"}, Decode: decode,
		Func: func(ctx context.Context, o order) error {
			// Through a record and back.
			again, err := restaq.Do(ctx, "pass", func(context.Context) (order, error) { return o, nil })
			got <- again.ID
			return err
		}}
	h := serve(t, acme(func(*webhook.HMACConfig) {}).Provider(), restaq.Config{}, nil, handler)
	answer := h.post(map[string]string{"X-Acme-Signature": signHex("s", body)}, body)
	if answer.code != http.StatusOK {
		t.Fatalf("answer %+v", answer)
	}
	if e := h.wait(answer.Executions); e.Event.ID != digits || e.Status != restaq.Completed {
		t.Errorf("execution %+v, want event id %s", e, digits)
	}
	if id := <-got; fmt.Sprint(id) != digits {
		t.Errorf("handler got %d", id)
	}
}

// 8: an empty secret was accepted, and with it everybody's signature.
func TestReceiver08EmptySecretIsNoSecret(t *testing.T) {
	for name, make := range map[string]func(){
		"stripe": func() { webhook.Stripe("") }, "github": func() { webhook.GitHub("") },
		"standardwebhooks": func() { webhook.StandardWebhooks("whsec_") },
		"acme":             func() { acme(func(c *webhook.HMACConfig) { c.Secrets = []string{""} }).Provider() },
	} {
		if got := made(make); !strings.Contains(got, name) {
			t.Errorf("%s: panicked with %q, want the provider's name in it", name, got)
		}
	}
	// With secrets looked up per request the server starts; the request fails.
	body := []byte(`{"id":"evt_1","type":"a.b"}`)
	lookup := func(*http.Request) []string { return []string{""} }
	h := serve(t, webhook.StripeConfig{SecretsFor: lookup}.Provider(), restaq.Config{}, nil, on("pay.Any", "stripe.*", (&seen{}).take))
	headers := map[string]string{"Stripe-Signature": signStripe("", time.Now().Unix(), body)}
	if got := h.post(headers, body); got.code != http.StatusUnauthorized {
		t.Errorf("signed with nothing: %+v", got)
	}
}

// 9: the check ran only if the header was there.
func TestReceiver09AbsentSignatureIsAWrongSignature(t *testing.T) {
	body := []byte(`{"id":"1","type":"a.b"}`)
	for name, p := range map[string]restaq.Provider{
		"stripe": webhook.Stripe("s"), "github": webhook.GitHub("s"), "standard webhooks": webhook.StandardWebhooks("AAAA"),
		"acme": acme(func(*webhook.HMACConfig) {}).Provider(),
	} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, p, restaq.Config{}, nil, on("x.Any", "stripe.*", (&seen{}).take))
			if got := h.post(nil, body); got.code != http.StatusUnauthorized {
				t.Errorf("answer %+v", got)
			}
			_, err := p.Receive(request(nil, body), body, time.Now())
			wantError(t, err, webhook.ErrUnsigned, "")
		})
	}
}

// 10: signatures were compared byte by byte until the first difference. How
// they are compared is TestSecretsAreComparedInConstantTime; here: every wrong
// one is refused, alike.
func TestReceiver10EveryWrongSignatureIsRefusedAlike(t *testing.T) {
	body := []byte(`{"id":"1","type":"a.b"}`)
	good := signHex("s", body)
	h := serve(t, acme(func(*webhook.HMACConfig) {}).Provider(), restaq.Config{}, nil, on("x.Any", "acme.*", (&seen{}).take))
	flip := func(i int) string {
		digit := byte('0')
		if good[i] == digit {
			digit = '1'
		}
		return good[:i] + string(digit) + good[i+1:]
	}
	answers := map[string]bool{}
	for _, wrong := range []string{flip(0), flip(31), flip(63), good[:62], good[:2], good + "00", strings.Repeat("0", 64)} {
		got := h.post(map[string]string{"X-Acme-Signature": wrong}, body)
		if got.code != http.StatusUnauthorized {
			t.Errorf("%s: %+v", wrong, got)
		}
		answers[got.Error] = true
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
	if got := h.post(map[string]string{"X-Acme-Signature": good}, body); got.code != http.StatusOK {
		t.Errorf("the good one: %+v", got)
	}
}

// 12: while a secret was replaced, one side's requests were refused.
func TestReceiver12SecretIsReplacedWithoutALoss(t *testing.T) {
	var mu sync.Mutex
	var matched []int
	h := serve(t, webhook.StripeConfig{
		Secrets: []string{"whsec_new", "whsec_old"},
		Matched: func(_ *http.Request, i int) { mu.Lock(); defer mu.Unlock(); matched = append(matched, i) },
	}.Provider(), restaq.Config{}, nil, on("pay.Any", "stripe.*", (&seen{}).take))
	for i, signers := range [][]string{{"whsec_old"}, {"whsec_old", "whsec_new"}, {"whsec_new", "whsec_old"}, {"whsec_new"}, {"whsec_other"}} {
		body := fmt.Appendf(nil, `{"id":"evt_%d","type":"a.b"}`, i)
		now := time.Now().Unix()
		header := fmt.Sprintf("t=%d", now)
		for _, secret := range signers {
			header += ",v1=" + signHex(secret, fmt.Appendf(nil, "%d.", now), body) + ",v1=unreadable,v7=x"
		}
		want := http.StatusOK
		if i == 4 {
			want = http.StatusUnauthorized
		}
		if got := h.post(map[string]string{"Stripe-Signature": header}, body); got.code != want {
			t.Errorf("signed by %v: %+v", signers, got)
		}
	}
	if fmt.Sprint(matched) != "[1 0 0 0]" {
		t.Errorf("matched secrets %v: the old one must be seen to be in use while it is", matched)
	}
}

// 13: of two signatures in one header, one library read the last only.
func TestReceiver13SeveralSignaturesInOneHeader(t *testing.T) {
	body := []byte(`{"id":"1","type":"a.b"}`)
	p := acme(func(c *webhook.HMACConfig) {
		c.Separator, c.Prefix, c.Signed, c.Timestamp.Prefix = ";", "h1=", "{timestamp}:{body}", "ts="
	}).Provider()
	good, wrong := signHex("s", []byte("1760000000:"), body), strings.Repeat("0", 64)
	for header, want := range map[string]error{
		"ts=1760000000;h1=" + good + ";h1=" + wrong:  nil,
		"ts=1760000000;h1=" + wrong + ";h1=" + good:  nil,
		"ts=1760000000;h1=" + wrong + ";h1=" + wrong: webhook.ErrSignature,
	} {
		_, err := p.Receive(request(map[string]string{"X-Acme-Signature": header}, body), body, time.Unix(1_760_000_000, 0))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", header, err, want)
		}
	}
}
