package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/webhook"
	"github.com/restaq/restaq/schemas/example"
)

// The secret of the endpoints.
var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret for tests, of 32 bytes!"))

// endpoints are as programs have them.
func endpoints() map[string]restaq.Provider {
	return map[string]restaq.Provider{
		"stripe":           webhook.Stripe(secret),
		"github":           webhook.GitHub(secret),
		"standardwebhooks": webhook.StandardWebhooks(secret),
		"shopify": webhook.HMACConfig{
			Name: "shopify", Secrets: []string{secret}, Header: "X-Shopify-Hmac-Sha256", Encoding: webhook.Base64,
			ID: webhook.Field{Header: "X-Shopify-Webhook-Id"}, Type: webhook.Field{Header: "X-Shopify-Topic"},
			Rename: func(topic string) string { return strings.ReplaceAll(topic, "/", ".") },
		}.Provider(),
		"slack": webhook.HMACConfig{
			Name: "slack", Secrets: []string{secret}, Header: "X-Slack-Signature", Prefix: "v0=", Signed: "v0:{timestamp}:{body}",
			Timestamp: webhook.Timestamp{Header: "X-Slack-Request-Timestamp"},
			ID:        webhook.Field{JSON: "event_id"}, Type: webhook.Field{JSON: "event.type"},
		}.Provider(),
	}
}

// TestSentEventsAreAccepted sends examples of event types of every provider. That
// those of all types fit their schemas is tested where they are made.
func TestSentEventsAreAccepted(t *testing.T) {
	rt, err := restaq.New(memory.New(), restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	handler := restaq.Handler[restaq.Event]{Name: "all", Events: []string{"*"}, Func: func(context.Context, restaq.Event) error { return nil }}
	if err := rt.Register(handler); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for name, provider := range endpoints() {
		mux.Handle("/"+name, rt.Webhook(provider))
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	types, err := example.Types()
	if err != nil {
		t.Fatal(err)
	}
	types = append(types, "standardwebhooks.order.created")
	for i, eventType := range types {
		provider, _, _ := strings.Cut(eventType, ".")
		if i%10 != 0 && provider != "slack" && provider != "standardwebhooks" {
			continue // of large providers a part: signing does not depend on the type
		}
		if eventType == "slack.app_rate_limited" {
			continue // no event callback: it has no id
		}
		id := "evt_" + strings.ReplaceAll(eventType, ".", "_")
		var out bytes.Buffer
		a := &app{output: &output{stdout: &out, stderr: &out}}
		if err := a.send(t.Context(), eventType, &sendFlags{to: server.URL + "/" + provider, secret: secret, id: id}); err != nil {
			t.Errorf("%s: %v: %s", eventType, err, out.String())
			continue
		}
		if eventType == "github.repository_dispatch" {
			eventType += ".action" // whatever the sender makes up
		}
		page, err := rt.List(t.Context(), restaq.Filter{Provider: provider, EventType: eventType})
		if err != nil || len(page.Executions) != 1 {
			t.Errorf("%s: stored %d times, %v", eventType, len(page.Executions), err)
			continue
		}
		if got := page.Executions[0].Event; provider != "github" && got.ID != id {
			t.Errorf("%s: stored as %+v, want id %s", eventType, got, id)
		}
	}
}
