package stripe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/payload"
	"github.com/restaq/restaq/schemas/stripe"
)

// decode reads a payload of testdata by its event type.
func decode[T any](t *testing.T, name string) T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	event, err := stripe.Decode("stripe."+name, data)
	if err != nil {
		t.Fatal(err)
	}
	typed, ok := event.(T)
	if !ok {
		t.Fatalf("got a %T", event)
	}
	return typed
}

// The payloads leave out some of what the schema requires. What they hold comes
// back.
func TestNothingIsLost(t *testing.T) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal("no payloads", err)
	}
	for _, name := range names {
		in, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		event, err := stripe.Decode("stripe."+strings.TrimSuffix(filepath.Base(name), ".json"), in)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, value(t, in), value(t, out))
	}
}

func value(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// compare reports what in holds and out does not.
func compare(t *testing.T, at string, in, out any) {
	t.Helper()
	switch in := in.(type) {
	case map[string]any:
		got, _ := out.(map[string]any)
		for name, v := range in {
			compare(t, at+"."+name, v, got[name])
		}
	case []any:
		got, _ := out.([]any)
		if len(got) != len(in) {
			t.Errorf("%s: %v became %v", at, in, out)
			return
		}
		for i := range in {
			compare(t, at+"[]", in[i], got[i])
		}
	default:
		if !reflect.DeepEqual(in, out) {
			t.Errorf("%s: %v became %v", at, in, out)
		}
	}
}

func TestAChargeReadsWell(t *testing.T) {
	event := decode[stripe.ChargeSucceeded](t, "charge.succeeded")
	charge := event.Data.Object
	if charge.ID != "ch_3PqT2cHk0aYx7Bd01QzLw9Re" || charge.Amount != 4900 || charge.Currency != "dkk" || charge.Customer.ID() != "cus_TbA91kQmZr2" {
		t.Errorf("%+v", charge)
	}
	if charge.Status != stripe.ChargeStatusSucceeded || !charge.Status.Known() {
		t.Errorf("status %q", charge.Status)
	}
	if at := event.Created.Time(); at.Year() != 2026 || at.YearDay() != 1 {
		t.Errorf("created %v", at)
	}
	if card := charge.PaymentMethodDetails.Card; card == nil || *card.Last4 != "4242" {
		t.Errorf("card %+v", card)
	}
	var _ stripe.ChargeEvent = event
}

func TestAnExpandedCustomerIsReadWhenAskedFor(t *testing.T) {
	charge := decode[stripe.ChargeRefunded](t, "charge.refunded").Data.Object
	customer, err := charge.Customer.Object()
	if err != nil || *customer.Email != "mette@example.com" || charge.Customer.ID() != customer.ID {
		t.Errorf("%+v, %v", customer, err)
	}
	if charge.Status.Known() || charge.PaymentIntent.ID() != "" {
		t.Errorf("%+v", charge)
	}
}

func TestUnknownTypes(t *testing.T) {
	for _, eventType := range []string{"stripe.charge.exploded", "charge.succeeded", "github.push", ""} {
		if _, err := stripe.Decode(eventType, []byte(`{}`)); !errors.Is(err, payload.ErrUnknownType) {
			t.Errorf("%q: %v", eventType, err)
		}
	}
}

// Events of old API versions lack members, and some hold others in their place.
func TestOldEventsDecode(t *testing.T) {
	event, err := stripe.Decode(stripe.ChargeSucceededType, []byte(`{"id":"evt_1","data":{"object":{"id":"ch_1","amount":1,"source":{"brand":"Visa"},"metadata":null,"currency":null}}}`))
	if err != nil || event.(stripe.ChargeSucceeded).Data.Object.Amount != 1 {
		t.Errorf("%+v, %v", event, err)
	}
}
