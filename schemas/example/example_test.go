package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/restaq/restaq/schemas"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/shopify"
	"github.com/restaq/restaq/schemas/slack"
	"github.com/restaq/restaq/schemas/stripe"
)

// providers are what says of the shipped ones whether a payload fits.
var providers = map[string]struct {
	validate func(string, []byte) error
	decode   func(string, []byte) (any, error)
}{
	"stripe": {stripe.Validate, stripe.Decode}, "github": {github.Validate, github.Decode},
	"shopify": {shopify.Validate, shopify.Decode}, "slack": {slack.Validate, slack.Decode},
}

// contradictory are event types whose published schema nothing fits: it forbids
// all members, and requires some.
var contradictory = map[string]bool{"github.secret_scanning_alert_location.created": true}

// TestEveryExampleFitsItsSchema asks two that do not know of each other: the
// generated package, and a library for JSON Schema.
func TestEveryExampleFitsItsSchema(t *testing.T) {
	compiler := newCompiler(t)
	types, err := Types()
	if err != nil {
		t.Fatal(err)
	}
	seen, libraries := map[string]int{}, map[string]*library{}
	for _, eventType := range types {
		provider, kind, _ := strings.Cut(eventType, ".")
		seen[provider]++
		values := Values{"id": "evt_1"}
		if provider == "stripe" {
			values["type"] = kind
		}
		if libraries[provider] == nil {
			if libraries[provider], err = load(provider); err != nil {
				t.Fatal(err)
			}
		}
		l := libraries[provider]
		payload, err := l.event(kind, values)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := providers[provider].validate(eventType, payload); (err != nil) != contradictory[eventType] {
			t.Errorf("%s: %v", eventType, err)
		}
		if _, err := providers[provider].decode(eventType, payload); err != nil {
			t.Errorf("%s: decode: %v", eventType, err)
		}
		s, err := compiler.Compile("test:///" + provider + "/" + l.events[kind])
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err != nil) != contradictory[eventType] {
			t.Errorf("%s: %v", eventType, err)
		}
	}
	for provider, least := range map[string]int{"stripe": 250, "github": 200, "shopify": 200, "slack": 70} {
		if seen[provider] < least {
			t.Errorf("%d event types of %s, want %d or more", seen[provider], provider, least)
		}
	}
}

// newCompiler knows all shipped schemas.
func newCompiler(t *testing.T) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	names, err := fs.Glob(schemas.Files, "*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(schemas.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("test:///"+name, v); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestAnExampleHasTheValuesThatAreWanted(t *testing.T) {
	payload, err := Event("stripe.charge.succeeded", Values{
		"id": "evt_42", "type": "charge.succeeded", "created": int64(1700000000), "data.object.amount": 1999, "no.such.member": 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var event stripe.ChargeSucceeded
	if err := json.Unmarshal(payload, &event); err != nil {
		t.Fatal(err)
	}
	if event.ID != "evt_42" || event.Type != "charge.succeeded" || event.Data.Object.Amount != 1999 {
		t.Errorf("the example is %s", payload)
	}
	again, err := Event("stripe.charge.succeeded", Values{
		"id": "evt_42", "type": "charge.succeeded", "created": int64(1700000000), "data.object.amount": 1999,
	})
	if err != nil || !bytes.Equal(payload, again) {
		t.Errorf("another time it is %s, %v", again, err)
	}
}

func TestAnUnknownTypeIsSaidToBe(t *testing.T) {
	for _, eventType := range []string{"stripe.lost", "acme.order.created", "stripe", "", ".", "*.x", "stripe."} {
		if _, err := Event(eventType, nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("Event(%q): %v, want ErrUnknown", eventType, err)
		}
	}
}
