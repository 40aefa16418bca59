package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/webhook"
)

// on is a handler of raw events under a name.
func on(name, pattern string, do func(ctx context.Context, event restaq.Event) error) restaq.Part {
	return restaq.Handler[restaq.Event]{Name: name, Events: []string{pattern}, Func: do}
}

// seen collects what a handler was called with.
type seen struct {
	mu     sync.Mutex
	events []restaq.Event
}

func (s *seen) take(_ context.Context, event restaq.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
	return nil
}

func (s *seen) all() []restaq.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]restaq.Event(nil), s.events...)
}

// house is a runtime at work behind an HTTP server.
type house struct {
	t      *testing.T
	rt     *restaq.Runtime
	server *httptest.Server
}

// serve starts a runtime on a store in memory and an HTTP server with the
// provider's endpoint inside wrap, if that is not nil.
func serve(t *testing.T, p restaq.Provider, cfg restaq.Config, wrap func(http.Handler) http.Handler, parts ...restaq.Part) *house {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	rt, err := restaq.New(memory.New(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Register(parts...); err != nil {
		t.Fatal(err)
	}
	handler := rt.Webhook(p)
	if wrap != nil {
		handler = wrap(handler)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(ctx) }()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return &house{t: t, rt: rt, server: server}
}

// reply is an answer of the endpoint.
type reply struct {
	code       int
	Status     string
	Executions []string
	Error      string
}

// post sends a request as JSON, unless headers say otherwise.
func (h *house) post(headers map[string]string, body []byte) reply {
	h.t.Helper()
	return h.send(headers, bytes.NewReader(body))
}

func (h *house) send(headers map[string]string, body io.Reader) reply {
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.server.URL, body)
	if err != nil {
		h.t.Error(err)
		return reply{}
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := h.server.Client().Do(r)
	if err != nil {
		h.t.Error(err)
		return reply{}
	}
	defer response.Body.Close()
	got := reply{code: response.StatusCode}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		h.t.Errorf("answer %d: %v", response.StatusCode, err)
	}
	return got
}

// wait waits for the end of all executions and returns the last.
func (h *house) wait(executions []string) restaq.Execution {
	h.t.Helper()
	var last restaq.Execution
	for _, id := range executions {
		var err error
		if last, err = h.rt.Wait(h.t.Context(), id); err != nil {
			h.t.Fatal(err)
		}
	}
	return last
}

// stored counts the stored events that have executions, and those that have
// none.
func (h *house) stored() (handled, unhandled int) {
	h.t.Helper()
	count := func(f restaq.Filter) int {
		page, err := h.rt.List(h.t.Context(), f)
		if err != nil {
			h.t.Fatal(err)
		}
		return len(page.Executions)
	}
	return count(restaq.Filter{}), count(restaq.Filter{Unhandled: true})
}

// stripeNow signs a body as Stripe does, now.
func stripeNow(body []byte) map[string]string {
	return map[string]string{"Stripe-Signature": signStripe("whsec_x", time.Now().Unix(), body)}
}

// githubHeaders are those of a delivery of GitHub.
func githubHeaders(delivery, event string, body []byte) map[string]string {
	return map[string]string{"X-GitHub-Delivery": delivery, "X-GitHub-Event": event, "X-Hub-Signature-256": signGitHub("secret", body)}
}

func TestHTTPStatusOfEachFault(t *testing.T) {
	s := &seen{}
	good := []byte(`{"id":"evt_1","type":"charge.succeeded"}`)
	noID := []byte(`{"type":"charge.succeeded"}`)
	control := []byte(`{"id":"evt_\n","type":"charge.succeeded"}`)
	h := serve(t, webhook.Stripe("whsec_x"), restaq.Config{}, nil, on("pay.Charge", "stripe.charge.*", s.take))
	for name, test := range map[string]struct {
		headers map[string]string
		body    []byte
		code    int
	}{
		"good":                    {stripeNow(good), good, 200},
		"unsigned":                {nil, good, 401},
		"header malformed":        {map[string]string{"Stripe-Signature": "t=1"}, good, 401},
		"wrong secret":            {map[string]string{"Stripe-Signature": signStripe("whsec_y", time.Now().Unix(), good)}, good, 401},
		"too old":                 {map[string]string{"Stripe-Signature": signStripe("whsec_x", time.Now().Unix()-3600, good)}, good, 401},
		"authentic, no id":        {stripeNow(noID), noID, 400},
		"authentic, not an id":    {stripeNow(control), control, 400},
		"authentic, no body":      {stripeNow(nil), nil, 400},
		"unsigned, no body":       {nil, nil, 401},
		"unsigned and not JSON":   {nil, []byte("x"), 401},
		"another content type":    {with(stripeNow(good), "Content-Type", "text/plain"), good, 415},
		"a form":                  {with(stripeNow(good), "Content-Type", "application/x-www-form-urlencoded"), good, 415},
		"no content type":         {with(stripeNow(good), "Content-Type", ""), good, 415},
		"content type, parameter": {with(stripeNow(good), "Content-Type", "application/json; charset=utf-8"), good, 200},
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.post(test.headers, test.body); got.code != test.code {
				t.Errorf("answer %+v, want %d", got, test.code)
			}
		})
	}
	response, err := h.server.Client().Get(h.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d, Allow %q", response.StatusCode, response.Header.Get("Allow"))
	}
	if handled, unhandled := h.stored(); handled != 1 || unhandled != 0 {
		t.Errorf("%d executions and %d unhandled events stored, want 1 and 0", handled, unhandled)
	}
}

func with(headers map[string]string, name, value string) map[string]string {
	headers[name] = value
	return headers
}

func TestHTTPSignaturesAreNotStored(t *testing.T) {
	body := []byte(`{"action":"opened"}`)
	h := serve(t, webhook.GitHubConfig{Secrets: []string{"secret"}, Source: "github-eu"}.Provider(), restaq.Config{}, nil,
		on("ship.Any", "github.*", (&seen{}).take))
	headers := githubHeaders("d-1", "issues", body)
	headers["X-Hub-Signature"] = "sha1=00"
	headers["Cookie"] = "a=b"
	got := h.post(headers, body)
	if len(got.Executions) != 1 {
		t.Fatalf("answer %+v", got)
	}
	h.wait(got.Executions)
	history, err := h.rt.Inspect(t.Context(), got.Executions[0])
	if err != nil {
		t.Fatal(err)
	}
	stored := http.Header(history.Header)
	for _, name := range []string{"X-Hub-Signature", "X-Hub-Signature-256", "Cookie"} {
		if stored.Get(name) != "" {
			t.Errorf("header %s was stored", name)
		}
	}
	if stored.Get("X-GitHub-Event") != "issues" || string(history.Payload) != string(body) || history.Event.Source != "github-eu" {
		t.Errorf("stored header %v, payload %q, source %q", stored, history.Payload, history.Event.Source)
	}
}

func TestHTTPInsecureIsForThisMachine(t *testing.T) {
	s := &seen{}
	body := []byte(`{"id":"evt_1","type":"charge.succeeded"}`)
	h := serve(t, webhook.Insecure(webhook.Stripe("unused")), restaq.Config{}, nil, on("pay.Charge", "stripe.*", s.take))
	if got := h.post(map[string]string{"X-Forwarded-For": "192.0.2.1"}, body); got.code != http.StatusUnauthorized {
		t.Errorf("through a proxy: %+v", got)
	}
	got := h.post(nil, body)
	if got.code != http.StatusOK {
		t.Fatalf("answer %+v", got)
	}
	h.wait(got.Executions)
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)) // from 192.0.2.1
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.rt.Webhook(webhook.Insecure(webhook.Stripe("unused"))).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden {
		t.Errorf("from elsewhere: %d", w.Code)
	}
	if n := len(s.all()); n != 1 {
		t.Errorf("handled %d events, want 1", n)
	}
}
