package redact_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/redact"
)

func TestFieldsAreMaskedByNameAndByPath(t *testing.T) {
	for _, test := range []struct {
		name, rules, in, want string
	}{
		{"nothing", "", `{ "a" : 1 }`, `{ "a" : 1 }`},
		{"a name, anywhere", "email", `{"email":"a@b.example","x":[{"Email":null,"e":1}]}`, `{"email":"•••","x":[{"Email":"•••","e":1}]}`},
		{"a whole object, and the rest as it was", "card", "{\n \"card\": {\"n\": [1, 2]} ,\"k\":1.50}", "{\n \"card\": \"•••\" ,\"k\":1.50}"},
		{"a path", "data.object.name", `{"name":"a","data":{"object":[{"name":"b"}],"name":"c"}}`, `{"name":"a","data":{"object":[{"name":"•••"}],"name":"c"}}`},
		{"any member", "data.*.name", `{"data":{"x":{"name":"b"},"name":"c","y":{"z":{"name":"d"}}}}`, `{"data":{"x":{"name":"•••"},"name":"c","y":{"z":{"name":"d"}}}}`},
		{"an escaped name", "email", `{"\u0065mail":"x"}`, `{"\u0065mail":"•••"}`},
		{"a name twice", "a", `{"a":1,"a":2}`, `{"a":"•••","a":"•••"}`},
		{"several", "a b", `[{"a":1},{"b":2,"c":3}]`, `[{"a":"•••"},{"b":"•••","c":3}]`},
		{"a scalar", "a", `"a"`, `"a"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _, err := redact.New(strings.Split(test.rules, " ")...).JSON([]byte(test.in), nil)
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestWhatIsMaskedIsMaskedElsewhereToo(t *testing.T) {
	rules := redact.New("email", "card")
	_, secrets, err := rules.JSON([]byte(`{"email":"ann@example.org","card":{"number":4242424242424242,"cvc":"123"},"to":"bob"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := secrets.Mask("send to ann@example.org: card 4242424242424242 (123) of bob"), "send to •••: card ••• (123) of bob"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	out, _, err := rules.JSON([]byte(`{"to":"<ann@example.org>","quoted":"say \"ann@example.org\\\"","n":4242424242424242,"m":42,"email":"x"}`), secrets)
	if want := `{"to":"•••","quoted":"•••","n":"•••","m":42,"email":"•••"}`; err != nil || string(out) != want {
		t.Errorf("got %s, %v\nwant %s", out, err, want)
	}
}

func TestWhatIsNotJSONIsNotShown(t *testing.T) {
	for _, in := range []string{"", "a=b&email=x", `{"email":"x"`, `{"a":1}{"email":"x"}`, `{"email":"x",}`} {
		for _, rules := range []redact.Rules{{}, redact.New("email")} {
			if got, _, err := rules.JSON([]byte(in), nil); err == nil || got != nil {
				t.Errorf("%q: got %q, %v", in, got, err)
			}
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":{"b":"secret"},"c":["secret"]}`)
	f.Add(`["\\\"secret\"",{"A":1}]`)
	f.Fuzz(func(t *testing.T, in string) {
		got, secrets, err := redact.New("a").JSON([]byte(in), redact.Secrets{"secret"})
		if (err == nil) != json.Valid([]byte(in)) {
			t.Fatalf("%q: %v, and valid is %v", in, err, json.Valid([]byte(in)))
		}
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q", in, got)
		}
		var v any
		if json.Unmarshal(got, &v) != nil {
			return
		}
		if !slices.Contains(secrets, "secret") {
			t.Fatalf("secrets %q", secrets)
		}
		look(t, v)
	})
}

// look fails if v has a member that ought to be masked.
func look(t *testing.T, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if strings.EqualFold(name, "a") && member != redact.Mask {
				t.Fatalf("member %q is %v", name, member)
			}
			look(t, member)
		}
	case []any:
		for _, element := range v {
			look(t, element)
		}
	case string:
		if strings.Contains(v, "secret") {
			t.Fatalf("%q is not masked", v)
		}
	}
}
