package restaq_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// stuck is a store that cannot be reached: its calls hang until their context
// ends.
type stuck struct{ restaq.Store }

func (stuck) Lookup(ctx context.Context, _, _ string, _ bool) (*restaq.StoredEvent, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func post(t *testing.T, h http.Handler, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestADeliveryThatCannotBeStoredInTimeIsAskedForAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		cfg := quick()
		cfg.DeliverTimeout = 20 * time.Millisecond
		rt := receive(t, stuck{open()}, cfg, on("h", func(context.Context, restaq.Event) error { return nil }))
		w := post(t, rt.Webhook(plain{}), `{"id":"evt_stuck"}`)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("answered %d with Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
	})
}

func TestABodyThatWasReadBeforeIsNamedAsTheCause(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt := receive(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		endpoint := rt.Webhook(plain{})
		w := post(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			endpoint.ServeHTTP(w, r)
		}), `{"id":"evt_read"}`)
		if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "middleware") {
			t.Errorf("answered %d %s", w.Code, w.Body)
		}
	})
}

func TestAnswersToNewAndDuplicateDeliveries(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		rt := receive(t, open(), quick(), on("h", func(context.Context, restaq.Event) error { return nil }))
		endpoint := rt.Webhook(plain{})
		first, second := post(t, endpoint, `{"id":"evt_twice"}`), post(t, endpoint, `{"id":"evt_twice"}`)
		if first.Code != http.StatusOK || second.Code != http.StatusOK {
			t.Fatalf("answered %d and %d", first.Code, second.Code)
		}
		if got, want := strings.Replace(second.Body.String(), "duplicate", "accepted", 1), first.Body.String(); got != want {
			t.Errorf("the duplicate was answered %s, the first %s", second.Body, want)
		}
	})
}
