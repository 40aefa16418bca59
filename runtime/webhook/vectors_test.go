package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/webhook"
)

// vector is one request and what must become of it.
type vector struct {
	Name       string
	Config     *webhook.HMACConfig // of hmac.json
	Secrets    []string
	Headers    map[string]string
	Body       *string
	BodyBase64 []byte `json:"body_base64"`
	Now        int64  `json:"now_unix"`

	// What the provider is told besides its secrets.
	ProviderName string `json:"provider_name"`
	Tolerance    int64  `json:"tolerance_s"`
	Future       int64  `json:"future_s"`
	AllowSHA1    bool   `json:"allow_sha1"`
	RawSecrets   bool   `json:"raw_secrets"`
	BodyID       bool   `json:"body_id"`

	Want struct {
		ID, Type, Payload string
		Secret            int

		// Error is a word of vectorErrors, Text a part of the message.
		Error, Text string
	}
}

func vectorErrors() map[string]error {
	return map[string]error{
		"unsigned":  webhook.ErrUnsigned,
		"header":    webhook.ErrHeader,
		"signature": webhook.ErrSignature,
		"timestamp": webhook.ErrTimestamp,
		"malformed": restaq.ErrMalformed,
	}
}

func (v *vector) body() []byte {
	if v.Body == nil {
		return v.BodyBase64
	}
	return []byte(*v.Body)
}

func (v *vector) provider(kind string, matched func(*http.Request, int)) restaq.Provider {
	tolerance := time.Duration(v.Tolerance) * time.Second
	switch kind {
	case "stripe":
		return webhook.StripeConfig{Secrets: v.Secrets, Tolerance: tolerance, Future: time.Duration(v.Future) * time.Second, Matched: matched}.Provider()
	case "github":
		return webhook.GitHubConfig{Secrets: v.Secrets, AllowSHA1: v.AllowSHA1, BodyID: v.BodyID, Matched: matched}.Provider()
	case "standardwebhooks":
		return webhook.StandardWebhooksConfig{Name: v.ProviderName, Secrets: v.Secrets, RawSecrets: v.RawSecrets, Tolerance: tolerance, Matched: matched}.Provider()
	}
	c := *v.Config
	c.Secrets, c.Matched = v.Secrets, matched
	return c.Provider()
}

// request returns a request as the HTTP server hands it on, its body read.
func request(headers map[string]string, body []byte) *http.Request {
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/"}, Header: http.Header{}, Body: http.NoBody, ContentLength: int64(len(body)), RemoteAddr: "192.0.2.1:4711"}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

// made calls f and returns what it panicked with, "" if it did not.
func made(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

func TestVectors(t *testing.T) {
	for _, kind := range []string{"stripe", "github", "standardwebhooks", "hmac"} {
		t.Run(kind, func(t *testing.T) {
			var vectors []vector
			readJSON(t, filepath.Join("testdata", kind+".json"), &vectors)
			if len(vectors) < 40 {
				t.Fatalf("%d vectors, want at least 40", len(vectors))
			}
			for _, v := range vectors {
				t.Run(v.Name, func(t *testing.T) { v.run(t, kind) })
			}
		})
	}
}

func (v *vector) run(t *testing.T, kind string) {
	secret := -1
	var p restaq.Provider
	panicked := made(func() { p = v.provider(kind, func(_ *http.Request, i int) { secret = i }) })
	if v.Want.Error == "panic" {
		if !strings.Contains(panicked, v.Want.Text) || !strings.Contains(panicked, kind) {
			t.Fatalf("panicked with %q, want the provider's name and %q", panicked, v.Want.Text)
		}
		return
	}
	if panicked != "" {
		t.Fatalf("panicked: %s", panicked)
	}
	body := v.body()
	got, err := p.Receive(request(v.Headers, body), body, time.Unix(v.Now, 0))
	if v.Want.Error != "" {
		wantError(t, err, vectorErrors()[v.Want.Error], v.Want.Text)
		if authentic := errors.Is(err, restaq.ErrMalformed); authentic != (secret >= 0) {
			t.Errorf("matched secret %d with error %v", secret, err)
		}
		for _, s := range v.Secrets {
			if s != "" && strings.Contains(err.Error(), s) {
				t.Errorf("error %q holds a secret", err)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if secret != v.Want.Secret {
		t.Errorf("matched secret %d, want %d", secret, v.Want.Secret)
	}
	if len(got.Events) != 1 || got.Answer != nil {
		t.Fatalf("received %+v, want one event and no answer of its own", got)
	}
	e := got.Events[0]
	if e.ID != v.Want.ID || e.Type != v.Want.Type {
		t.Errorf("event %q of type %q, want %q of type %q", e.ID, e.Type, v.Want.ID, v.Want.Type)
	}
	payload := v.Want.Payload
	if payload == "" {
		payload = string(body)
	}
	if string(e.Payload) != payload {
		t.Errorf("payload %q, want %q", e.Payload, payload)
	}
	if !strings.HasPrefix(e.Type, p.Endpoint().Provider+".") {
		t.Errorf("type %q does not begin with provider %q", e.Type, p.Endpoint().Provider)
	}
}

// wantError checks an error's class, reason and text. The two classes exclude
// each other: they are different answers.
func wantError(t *testing.T, err, want error, text string) {
	t.Helper()
	if want == nil {
		t.Fatal("vector names an unknown error")
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v, want %v with %q", err, want, text)
	}
	if errors.Is(err, restaq.ErrNotAuthentic) == errors.Is(err, restaq.ErrMalformed) {
		t.Errorf("error %v is not of exactly one class", err)
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}

// sharedVector is one of the vectors collected from the senders' own
// documentation and libraries. They lie beside the repository, in a folder
// that not everybody has; TestVectors covers the same ground without them.
type sharedVector struct {
	Provider, Name  string
	Secret          *string
	Secrets         []string
	Headers         map[string]string
	Body            *string
	BodyBase64      string `json:"body_base64"`
	Now             int64  `json:"now_unix"`
	Tolerance       int64  `json:"tolerance_s"`
	Valid           bool
	Policy, Payload string
}

// sharedProviders makes a provider for the vectors of each sender that this
// package, or a description with HMACConfig, knows.
func sharedProviders() map[string]func(v *sharedVector, secrets []string) restaq.Provider {
	described := func(c webhook.HMACConfig) func(*sharedVector, []string) restaq.Provider {
		return func(v *sharedVector, secrets []string) restaq.Provider {
			c.Name, c.Secrets = v.Provider, secrets
			if c.Timestamp.Header+c.Timestamp.Prefix+c.Timestamp.JSON != "" {
				c.Timestamp.Tolerance = time.Duration(v.Tolerance) * time.Second
			}
			return c.Provider()
		}
	}
	standard := func(raw bool) func(*sharedVector, []string) restaq.Provider {
		return func(v *sharedVector, secrets []string) restaq.Provider {
			return webhook.StandardWebhooksConfig{Name: v.Provider, Secrets: secrets, RawSecrets: raw, Tolerance: time.Duration(v.Tolerance) * time.Second}.Provider()
		}
	}
	return map[string]func(*sharedVector, []string) restaq.Provider{
		"stripe": func(v *sharedVector, secrets []string) restaq.Provider {
			return webhook.StripeConfig{Secrets: secrets, Tolerance: time.Duration(v.Tolerance) * time.Second}.Provider()
		},
		"github": func(v *sharedVector, secrets []string) restaq.Provider {
			return webhook.GitHubConfig{Secrets: secrets, AllowSHA1: v.Policy == "allow_sha1"}.Provider()
		},
		"standardwebhooks": standard(false),
		"openai":           standard(true),
		"shopify": described(webhook.HMACConfig{Header: "X-Shopify-Hmac-Sha256", Encoding: webhook.Base64,
			ID: webhook.Field{Header: "X-Shopify-Webhook-Id"}, Type: webhook.Field{Header: "X-Shopify-Topic"}}),
		"slack": described(webhook.HMACConfig{Header: "X-Slack-Signature", Prefix: "v0=", Signed: "v0:{timestamp}:{body}",
			Timestamp: webhook.Timestamp{Header: "X-Slack-Request-Timestamp"}}),
		"zoom": described(webhook.HMACConfig{Header: "x-zm-signature", Prefix: "v0=", Signed: "v0:{timestamp}:{body}",
			Timestamp: webhook.Timestamp{Header: "x-zm-request-timestamp"}}),
		"linear": described(webhook.HMACConfig{Header: "Linear-Signature", ID: webhook.Field{Header: "Linear-Delivery"},
			Action: webhook.Field{JSON: "action"}, Timestamp: webhook.Timestamp{JSON: "webhookTimestamp", Format: webhook.UnixMillis}}),
		"paddle": described(webhook.HMACConfig{Header: "Paddle-Signature", Separator: ";", Prefix: "h1=", Signed: "{timestamp}:{body}",
			Timestamp: webhook.Timestamp{Prefix: "ts="}, ID: webhook.Field{JSON: "event_id"}, Type: webhook.Field{JSON: "event_type"}}),
		"bitbucket": described(webhook.HMACConfig{Header: "X-Hub-Signature", Prefix: "sha256=",
			ID: webhook.Field{Header: "X-Request-UUID"}, Type: webhook.Field{Header: "X-Event-Key"}}),
	}
}

func TestVectorsOfTheSenders(t *testing.T) {
	folder := sharedFolder(t)
	if folder == "" {
		t.Log("no folder of shared vectors beside the repository: the project's own are in TestVectors")
		return
	}
	var vectors []sharedVector
	readJSON(t, filepath.Join(folder, "cases", "signatures.json"), &vectors)
	ran := map[string]int{}
	for _, v := range vectors {
		build, known := sharedProviders()[v.Provider]
		if !known {
			continue
		}
		ran[v.Provider]++
		t.Run(v.Provider+"/"+v.Name, func(t *testing.T) { v.run(t, build) })
	}
	for provider, least := range map[string]int{"stripe": 16, "github": 19, "standardwebhooks": 11} {
		if ran[provider] < least {
			t.Errorf("%s: %d vectors, want at least %d", provider, ran[provider], least)
		}
	}
}

// run checks authentication: many of these bodies are no events.
func (v *sharedVector) run(t *testing.T, build func(*sharedVector, []string) restaq.Provider) {
	secrets := v.Secrets
	if secrets == nil && v.Secret != nil {
		secrets = []string{*v.Secret}
	}
	var body []byte
	if v.Body != nil {
		body = []byte(*v.Body)
	} else if decoded, err := base64.StdEncoding.DecodeString(v.BodyBase64); err == nil {
		body = decoded
	}
	var p restaq.Provider
	if panicked := made(func() { p = build(v, secrets) }); panicked != "" {
		if v.Valid {
			t.Fatalf("panicked: %s", panicked)
		}
		return
	}
	_, err := p.Receive(request(v.Headers, body), body, time.Unix(v.Now, 0))
	switch {
	case v.Policy == "allow_any_hash":
		wantError(t, err, restaq.ErrNotAuthentic, "") // a header's value does not choose the algorithm
	case v.Valid && err != nil && !errors.Is(err, restaq.ErrMalformed):
		t.Errorf("refused: %v", err)
	case !v.Valid && err == nil:
		t.Error("taken")
	case !v.Valid && v.Name != "unsupported_content_type":
		wantError(t, err, restaq.ErrNotAuthentic, "")
	}
	if v.Policy == "allow_sha1" {
		_, err := webhook.GitHub(secrets...).Receive(request(v.Headers, body), body, time.Unix(v.Now, 0))
		wantError(t, err, webhook.ErrUnsigned, "")
	}
}

// sharedFolder returns the folder of shared vectors: RESTAQ_SHARED, or
// "shared" beside the repository's root; "" if there is none.
func sharedFolder(t *testing.T) string {
	t.Helper()
	if folder := os.Getenv("RESTAQ_SHARED"); folder != "" {
		return folder
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			folder := filepath.Join(filepath.Dir(dir), "shared")
			if _, err := os.Stat(filepath.Join(folder, "cases", "signatures.json")); err != nil {
				return ""
			}
			return folder
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
