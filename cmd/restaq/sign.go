package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/restaq/restaq/schemas/example"
)

// delivery is an event on its way.
type delivery struct {
	kind    string // without the provider
	id      string
	secret  string
	at      time.Time
	payload []byte
}

// sender is how a provider sends: the counterpart of what package webhook
// takes.
type sender struct {
	// values are what an example's members shall have.
	values func(d *delivery) example.Values

	// example makes a payload where there is no schema of each type.
	example func(d *delivery) ([]byte, error)

	// sign sets the headers.
	sign func(h http.Header, d *delivery) error
}

// senders are the providers that there are schemas of.
var senders = map[string]sender{
	"stripe": {
		values: func(d *delivery) example.Values {
			return example.Values{"id": d.id, "type": d.kind, "created": d.at.Unix()}
		},
		sign: func(h http.Header, d *delivery) error {
			t := strconv.FormatInt(d.at.Unix(), 10)
			h.Set("Stripe-Signature", "t="+t+",v1="+hex.EncodeToString(d.mac([]byte(d.secret), t+".")))
			return nil
		},
	},
	"github": {
		values: func(*delivery) example.Values { return nil },
		sign: func(h http.Header, d *delivery) error {
			event, _, _ := strings.Cut(d.kind, ".") // the action stands in the payload
			h.Set("X-GitHub-Event", event)
			h.Set("X-GitHub-Delivery", d.id)
			h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(d.mac([]byte(d.secret), "")))
			return nil
		},
	},
	"shopify": {
		values: func(*delivery) example.Values { return nil },
		sign: func(h http.Header, d *delivery) error {
			topic := d.kind
			if !strings.HasPrefix(topic, "customer.") { // whose topics have a dot of their own
				topic = strings.Replace(topic, ".", "/", 1)
			}
			h.Set("X-Shopify-Topic", topic)
			h.Set("X-Shopify-Webhook-Id", d.id)
			h.Set("X-Shopify-Event-Id", d.id)
			h.Set("X-Shopify-Shop-Domain", "example.myshopify.com")
			h.Set("X-Shopify-Hmac-Sha256", base64.StdEncoding.EncodeToString(d.mac([]byte(d.secret), "")))
			return nil
		},
	},
	"slack": {
		values: func(d *delivery) example.Values {
			return example.Values{"event_id": d.id, "event_time": d.at.Unix()}
		},
		sign: func(h http.Header, d *delivery) error {
			t := strconv.FormatInt(d.at.Unix(), 10)
			h.Set("X-Slack-Request-Timestamp", t)
			h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(d.mac([]byte(d.secret), "v0:"+t+":")))
			return nil
		},
	},
	"standardwebhooks": {
		example: func(d *delivery) ([]byte, error) {
			return json.MarshalIndent(struct {
				Type      string         `json:"type"`
				Timestamp time.Time      `json:"timestamp"`
				Data      map[string]any `json:"data"`
			}{d.kind, d.at.UTC().Truncate(time.Second), map[string]any{}}, "", "  ")
		},
		sign: func(h http.Header, d *delivery) error {
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(d.secret, "whsec_"))
			if err != nil {
				return fmt.Errorf("secret: want base64, perhaps with whsec_ in front: %w", err)
			}
			t := strconv.FormatInt(d.at.Unix(), 10)
			h.Set("webhook-id", d.id)
			h.Set("webhook-timestamp", t)
			h.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(d.mac(key, d.id+"."+t+".")))
			return nil
		},
	},
}

// mac is HMAC-SHA256 of what stands in front, and the payload.
func (d *delivery) mac(key []byte, front string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(front))
	mac.Write(d.payload)
	return mac.Sum(nil)
}

// newEventID returns an id that no other event has.
func newEventID() string { return "evt_" + strings.ToLower(rand.Text()) }
