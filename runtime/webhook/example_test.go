package webhook_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/webhook"
)

func ExampleStripe() {
	rt, err := restaq.New(memory.New(), restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	// A generated RegisterHandlers does this.
	err = rt.Register(restaq.Handler[restaq.Event]{
		Name:   "billing.Charge",
		Events: []string{"stripe.charge.succeeded"},
		Func:   func(context.Context, restaq.Event) error { return nil },
	})
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/stripe", rt.Webhook(webhook.Stripe("whsec_example")))

	// What Stripe would send, and somebody else.
	body := `{"id":"evt_1","object":"event","type":"charge.succeeded"}`
	for _, signature := range []string{
		signStripe("whsec_example", time.Now().Unix(), []byte(body)),
		signStripe("guessed", time.Now().Unix(), []byte(body)),
	} {
		r := httptest.NewRequest(http.MethodPost, "/webhooks/stripe", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Stripe-Signature", signature)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// 401
}

// A service of one's own signs the time and the body, and names the event in
// the body.
func ExampleHMACConfig() {
	provider := webhook.HMACConfig{
		Name:      "acme",
		Secrets:   []string{"a long random secret"},
		Header:    "X-Acme-Signature",
		Prefix:    "sha256=",
		Timestamp: webhook.Timestamp{Header: "X-Acme-Timestamp"},
	}.Provider()

	// The sender's side: "<timestamp>.<body>" under HMAC-SHA256, in hex.
	body := []byte(`{"id":"order-42","type":"order.created","total":1999}`)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	timestamp := fmt.Sprint(now.Unix())
	r := httptest.NewRequest(http.MethodPost, "/webhooks/acme", nil)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Acme-Timestamp", timestamp)
	r.Header.Set("X-Acme-Signature", "sha256="+signHex("a long random secret", []byte(timestamp+"."), body))

	// rt.Webhook(provider) does this with each request.
	received, err := provider.Receive(r, body, now.Add(time.Second))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(received.Events[0].ID, received.Events[0].Type)

	_, err = provider.Receive(r, body, now.Add(time.Hour))
	fmt.Println(err)
	// Output:
	// order-42 acme.order.created
	// not authentic: timestamp outside tolerance: signed 1h0m0s ago by this server's clock, at most 5m0s is taken
}

// Some senders put id and type into headers and encode signatures in base64.
func ExampleHMACConfig_headers() {
	provider := webhook.HMACConfig{
		Name:     "shop",
		Secrets:  []string{"secret"},
		Header:   "X-Shop-Hmac-Sha256",
		Encoding: webhook.Base64,
		ID:       webhook.Field{Header: "X-Shop-Webhook-Id"},
		Type:     webhook.Field{Header: "X-Shop-Topic"},
		Rename:   func(topic string) string { return strings.ReplaceAll(topic, "/", ".") },
	}.Provider()

	body := []byte(`{"id":820982911946154508}`)
	r := httptest.NewRequest(http.MethodPost, "/webhooks/shop", nil)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Shop-Webhook-Id", "b54557e4")
	r.Header.Set("X-Shop-Topic", "orders/create")
	r.Header.Set("X-Shop-Hmac-Sha256", "FrmDIO/AYLfYwKeWHaOIWuqMmKSuQh7ENRQEBbHwvK8=")

	received, err := provider.Receive(r, body, time.Now())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(received.Events[0].ID, received.Events[0].Type)
	// Output: b54557e4 shop.orders.create
}
