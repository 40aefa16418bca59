package corpus

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/fetch"
	"github.com/restaq/restaq/schemas/stripe"
)

// stripeSamples returns events around the fixtures that Stripe publishes of each
// resource. It says what resource an event is about: each event type is tried
// with each.
func stripeSamples(t *testing.T) []sample {
	t.Helper()
	var fixtures struct{ Resources map[string]json.RawMessage }
	readJSON(t, fetch.StripeMock, "embedded/openapi/fixtures3.beta.json", &fixtures)
	type reference struct {
		Ref   string      `json:"$ref"`
		AnyOf []reference `json:"anyOf"`
	}
	var spec struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]reference
				Event      *struct{ Type string } `json:"x-stripeEvent"`
			}
		}
	}
	readJSON(t, fetch.StripeMock, "embedded/openapi/spec3.beta.sdk.json", &spec)
	types := map[string]bool{}
	var samples []sample
	for _, name := range slices.Sorted(maps.Keys(spec.Components.Schemas)) {
		s := spec.Components.Schemas[name]
		if s.Event == nil {
			continue
		}
		object := s.Properties["object"]
		for _, of := range append(object.AnyOf, object) {
			resource := strings.TrimPrefix(of.Ref, "#/components/schemas/")
			fixture, ok := fixtures.Resources[resource]
			if !ok {
				continue
			}
			types[s.Event.Type] = true
			samples = append(samples, sample{resource, "stripe." + s.Event.Type, stripeEvent(s.Event.Type, fixture)})
		}
	}
	if len(types) != 303 {
		t.Errorf("fixtures for %d event types", len(types))
	}
	return samples
}

func TestStripeFixtures(t *testing.T) {
	samples := stripeSamples(t)
	got := judge(t, shipped(t, "stripe"), samples, here(samples, stripe.Decode, stripe.Validate))
	if want := (tally{samples: 316, valid: 316, unknown: 20}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// stripeEvent puts an event around an object.
func stripeEvent(eventType string, object []byte) []byte {
	return []byte(`{"id":"evt_1","object":"event","api_version":"2026-08-26.preview","created":1767225600,"data":{"object":` + string(object) +
		`},"livemode":false,"pending_webhooks":1,"request":{"id":"req_1","idempotency_key":null},"type":"` + eventType + `"}`)
}
