package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/webhook"
)

func TestInsecureReadsLikeItsProvider(t *testing.T) {
	for name, test := range map[string]struct {
		provider restaq.Provider
		headers  map[string]string
		body     string
		want     restaq.Event
	}{
		"stripe": {webhook.Stripe("unused"), nil, `{"id":"evt_1","type":"charge.succeeded"}`,
			restaq.Event{ID: "evt_1", Type: "stripe.charge.succeeded"}},
		"github": {webhook.GitHub("unused"), map[string]string{"Content-Type": "application/json", "X-GitHub-Delivery": "d", "X-GitHub-Event": "issues"},
			`{"action":"closed"}`, restaq.Event{ID: "d", Type: "github.issues.closed"}},
		"standard webhooks": {webhook.StandardWebhooks("AAAA"), map[string]string{"webhook-id": "m"}, `{"type":"user.created"}`,
			restaq.Event{ID: "m", Type: "standardwebhooks.user.created"}},
		"svix": {webhook.StandardWebhooks("AAAA"), map[string]string{"svix-id": "m"}, `{"type":"user.created"}`,
			restaq.Event{ID: "m", Type: "standardwebhooks.user.created"}},
		"own": {acme(func(*webhook.HMACConfig) {}).Provider(), nil, `{"id":"1","type":"order.created"}`,
			restaq.Event{ID: "1", Type: "acme.order.created"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(test.headers, []byte(test.body))
			r.RemoteAddr = "127.0.0.1:50000"
			got, err := webhook.Insecure(test.provider).Receive(r, []byte(test.body), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if e := got.Events[0]; e.ID != test.want.ID || e.Type != test.want.Type || string(e.Payload) != test.body {
				t.Errorf("event %+v, want %+v", e, test.want)
			}
			if _, err := test.provider.Receive(r, []byte(test.body), time.Now()); err == nil {
				t.Error("the provider itself took the unsigned request")
			}
		})
	}
}

func TestInsecureReportsMalformedRequests(t *testing.T) {
	r := request(nil, []byte(`{}`))
	r.RemoteAddr = "127.0.0.1:50000"
	_, err := webhook.Insecure(webhook.Stripe("unused")).Receive(r, []byte(`{}`), time.Now())
	wantError(t, err, restaq.ErrMalformed, "field id is missing")
}

func TestInsecureTakesThisMachineOnly(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"charge.succeeded"}`)
	p := webhook.Insecure(webhook.Stripe("unused"))
	for name, test := range map[string]struct {
		remote, header string
		taken          bool
	}{
		"loopback":                     {remote: "127.0.0.1:1", taken: true},
		"loopback, another address":    {remote: "127.8.9.10:1", taken: true},
		"loopback of IPv6":             {remote: "[::1]:1", taken: true},
		"loopback of IPv4 in IPv6":     {remote: "[::ffff:127.0.0.1]:1", taken: true},
		"elsewhere":                    {remote: "192.0.2.1:1"},
		"the machine's outward side":   {remote: "10.0.0.5:1"},
		"elsewhere in IPv6":            {remote: "[2001:db8::1]:1"},
		"a name that looks like it":    {remote: "localhost:1"},
		"a socket file":                {remote: "@"},
		"nothing":                      {remote: ""},
		"through a proxy":              {remote: "127.0.0.1:1", header: "X-Forwarded-For"},
		"through a standard proxy":     {remote: "127.0.0.1:1", header: "Forwarded"},
		"through another proxy":        {remote: "127.0.0.1:1", header: "Via"},
		"from a page in a browser":     {remote: "127.0.0.1:1", header: "Origin"},
		"from a page, without Origin":  {remote: "127.0.0.1:1", header: "Sec-Fetch-Site"},
		"with a header of no interest": {remote: "127.0.0.1:1", header: "User-Agent", taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(nil, body)
			r.RemoteAddr = test.remote
			if test.header != "" {
				r.Header.Set(test.header, "127.0.0.1")
			}
			_, err := p.Receive(r, body, time.Now())
			if test.taken {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, webhook.ErrNotLocal, "")
		})
	}
}

// closed is a provider of a user's own that always authenticates.
type closed struct{}

func (closed) Endpoint() restaq.Endpoint { return restaq.Endpoint{Provider: "closed"} }

func (closed) Receive(*http.Request, []byte, time.Time) (*restaq.Received, error) {
	return nil, restaq.ErrNotAuthentic
}

func TestInsecureRefusesWhatItCannotRead(t *testing.T) {
	if got := made(func() { webhook.Insecure(closed{}) }); !strings.Contains(got, "webhook_test.closed") || !strings.Contains(got, "webhook.Reader") {
		t.Errorf("panicked with %q", got)
	}
}
