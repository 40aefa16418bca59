package webhook_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/webhook"
)

// acme returns a good configuration after change.
func acme(change func(c *webhook.HMACConfig)) webhook.HMACConfig {
	c := webhook.HMACConfig{Name: "acme", Secrets: []string{"s"}, Header: "X-Acme-Signature"}
	change(&c)
	return c
}

func TestProviderThatCannotBeSafeIsNotMade(t *testing.T) {
	hmac := func(change func(c *webhook.HMACConfig)) func() { return func() { acme(change).Provider() } }
	for name, test := range map[string]struct {
		make func()
		want string // in the message, besides the provider's name
	}{
		"stripe: no secret":                     {func() { webhook.Stripe() }, `"stripe": no secret`},
		"stripe: empty secret":                  {func() { webhook.Stripe("") }, `"stripe": secret 1 of 1 is empty`},
		"stripe: blank secret":                  {func() { webhook.Stripe(" \n") }, `"stripe": secret 1 of 1 is empty`},
		"stripe: empty secret beside a good":    {func() { webhook.Stripe("whsec_x", "") }, `"stripe": secret 2 of 2 is empty`},
		"stripe: empty secret beside a look-up": {func() { webhook.StripeConfig{Secrets: []string{""}, SecretsFor: secrets("x")}.Provider() }, `"stripe": secret 1 of 1 is empty`},
		"stripe: zero config":                   {func() { webhook.StripeConfig{}.Provider() }, `"stripe": no secret`},
		"stripe: negative tolerance":            {func() { webhook.StripeConfig{Secrets: []string{"s"}, Tolerance: -1}.Provider() }, `"stripe": Tolerance`},
		"stripe: negative future":               {func() { webhook.StripeConfig{Secrets: []string{"s"}, Future: -1}.Provider() }, `"stripe": Future`},
		"stripe: negative limit":                {func() { webhook.StripeConfig{Secrets: []string{"s"}, MaxBody: -1}.Provider() }, `"stripe": MaxBody`},
		"github: no secret":                     {func() { webhook.GitHub() }, `"github": no secret`},
		"github: empty secret":                  {func() { webhook.GitHub("") }, `"github": secret 1 of 1 is empty`},
		"standard webhooks: no secret":          {func() { webhook.StandardWebhooks() }, `"standardwebhooks": no secret`},
		"standard webhooks: empty":              {func() { webhook.StandardWebhooks("") }, `"standardwebhooks": secret 1 of 1 is empty`},
		"standard webhooks: prefix alone":       {func() { webhook.StandardWebhooks("whsec_") }, `"standardwebhooks": secret 1 of 1 is empty`},
		"standard webhooks: not base64":         {func() { webhook.StandardWebhooks("whsec_%") }, `"standardwebhooks": secret 1 of 1 is not valid base64`},
		"standard webhooks: line break":         {func() { webhook.StandardWebhooks("whsec_AAAA\n") }, `"standardwebhooks": secret 1 of 1 is not valid base64`},
		"standard webhooks: name":               {func() { webhook.StandardWebhooksConfig{Name: "a.b", Secrets: []string{"AAAA"}}.Provider() }, `"a.b": Name`},
		"hmac: no name":                         {hmac(func(c *webhook.HMACConfig) { c.Name = "" }), "without a name"},
		"hmac: name with a dot":                 {hmac(func(c *webhook.HMACConfig) { c.Name = "a.b" }), `"a.b": Name`},
		"hmac: no secret":                       {hmac(func(c *webhook.HMACConfig) { c.Secrets = nil }), `"acme": no secret`},
		"hmac: empty secret":                    {hmac(func(c *webhook.HMACConfig) { c.Secrets = []string{""} }), `"acme": secret 1 of 1 is empty`},
		"hmac: no header":                       {hmac(func(c *webhook.HMACConfig) { c.Header = "" }), `"acme": Header`},
		"hmac: algorithm":                       {hmac(func(c *webhook.HMACConfig) { c.Algorithm = "md5" }), `"acme": Algorithm "md5"`},
		"hmac: encoding":                        {hmac(func(c *webhook.HMACConfig) { c.Encoding = "rot13" }), `"acme": Encoding "rot13"`},
		"hmac: two places of the id":            {hmac(func(c *webhook.HMACConfig) { c.ID = webhook.Field{Header: "A", JSON: "a"} }), `"acme": ID has both`},
		"hmac: an id from the body and a place": {hmac(func(c *webhook.HMACConfig) { c.ID, c.BodyID = webhook.Field{JSON: "a"}, true }), `"acme": ID and BodyID`},
		"hmac: empty name in a path":            {hmac(func(c *webhook.HMACConfig) { c.Type = webhook.Field{JSON: "a..b"} }), `"acme": Type: path "a..b"`},
		"hmac: body not signed":                 {hmac(func(c *webhook.HMACConfig) { c.Signed = "x" }), `must have {body} exactly once`},
		"hmac: body signed twice":               {hmac(func(c *webhook.HMACConfig) { c.Signed = "{body}{body}" }), `must have {body} exactly once`},
		"hmac: open brace":                      {hmac(func(c *webhook.HMACConfig) { c.Signed = "{body}{" }), `open brace`},
		"hmac: unknown slot":                    {hmac(func(c *webhook.HMACConfig) { c.Signed = "{body}{url}" }), `Signed has {url}`},
		"hmac: signed time that nobody sends":   {hmac(func(c *webhook.HMACConfig) { c.Signed = "{timestamp}{body}" }), `{timestamp}, which no header holds`},
		"hmac: signed id that is in the body":   {hmac(func(c *webhook.HMACConfig) { c.Signed = "{id}{body}" }), `{id}, which no header holds`},
		"hmac: time that is not signed": {hmac(func(c *webhook.HMACConfig) {
			c.Timestamp.Header, c.Signed = "X-Time", "{body}"
		}), `a time that is not signed proves nothing`},
		"hmac: two places of the time": {hmac(func(c *webhook.HMACConfig) { c.Timestamp = webhook.Timestamp{Header: "A", JSON: "b"} }), `more than one of`},
		"hmac: format without a place": {hmac(func(c *webhook.HMACConfig) { c.Timestamp.Format = webhook.RFC3339 }), `none of Header, Prefix and JSON`},
		"hmac: unknown format":         {hmac(func(c *webhook.HMACConfig) { c.Timestamp = webhook.Timestamp{Header: "A", Format: "x"} }), `Timestamp.Format "x"`},
		"hmac: time among signatures":  {hmac(func(c *webhook.HMACConfig) { c.Timestamp.Prefix = "t=" }), `needs a Separator`},
		"hmac: negative tolerance": {hmac(func(c *webhook.HMACConfig) {
			c.Timestamp = webhook.Timestamp{Header: "A", Tolerance: -time.Second}
		}), `"acme": Tolerance`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := made(test.make); !strings.HasPrefix(got, "webhook: provider") || !strings.Contains(got, test.want) {
				t.Errorf("panicked with %q, want %q", got, test.want)
			}
		})
	}
}

// secrets returns a look-up that always has the same answer.
func secrets(all ...string) func(*http.Request) []string {
	return func(*http.Request) []string { return all }
}

func TestSecretsChosenByTheRequest(t *testing.T) {
	body := []byte(`{"id":"evt_1","type":"charge.succeeded"}`)
	const at = 1_760_000_000
	for name, test := range map[string]struct {
		fixed    []string
		chosen   []string
		signedBy string
		want     error
		secret   int
	}{
		"the chosen one matches":        {chosen: []string{"a"}, signedBy: "a"},
		"one of several":                {chosen: []string{"a", "b"}, signedBy: "b", secret: 1},
		"behind the fixed ones":         {fixed: []string{"x", "y"}, chosen: []string{"a", "b"}, signedBy: "b", secret: 3},
		"a fixed one":                   {fixed: []string{"x"}, chosen: []string{"a"}, signedBy: "x"},
		"a fixed one, none chosen":      {fixed: []string{"x"}, signedBy: "x"},
		"none for the request":          {signedBy: "a", want: webhook.ErrSecret},
		"none, signed with nothing":     {signedBy: "", want: webhook.ErrSecret},
		"an empty one":                  {chosen: []string{""}, signedBy: "", want: webhook.ErrSecret},
		"a blank one":                   {chosen: []string{" "}, signedBy: " ", want: webhook.ErrSecret},
		"an empty one beside a good":    {chosen: []string{"a", ""}, signedBy: "a", want: webhook.ErrSecret},
		"an empty one beside the fixed": {fixed: []string{"x"}, chosen: []string{""}, signedBy: "x", want: webhook.ErrSecret},
		"another one":                   {chosen: []string{"a"}, signedBy: "b", want: webhook.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			matched := -1
			p := webhook.StripeConfig{
				Secrets: test.fixed,
				SecretsFor: func(r *http.Request) []string {
					if r.URL.Path != "/hooks/7" {
						t.Errorf("asked for %s", r.URL.Path)
					}
					return test.chosen
				},
				Matched: func(_ *http.Request, i int) { matched = i },
			}.Provider()
			r := request(map[string]string{"Stripe-Signature": signStripe(test.signedBy, at, body)}, body)
			r.URL.Path = "/hooks/7"
			_, err := p.Receive(r, body, time.Unix(at, 0))
			if test.want != nil {
				wantError(t, err, test.want, "")
				return
			}
			if err != nil || matched != test.secret {
				t.Errorf("error %v, matched secret %d, want %d", err, matched, test.secret)
			}
		})
	}
}

func TestChosenSecretsOfStandardWebhooksAreDecodedPerRequest(t *testing.T) {
	p := webhook.StandardWebhooksConfig{SecretsFor: secrets("whsec_%%%")}.Provider()
	_, err := p.Receive(request(nil, []byte("{}")), []byte("{}"), time.Now())
	wantError(t, err, webhook.ErrSecret, "secret 1 of the 1 for this request is not valid base64")
	if strings.Contains(err.Error(), "%%%") {
		t.Errorf("error %q quotes the secret", err)
	}
}

func TestSecretsAreCopied(t *testing.T) {
	const at = 1_760_000_000
	body := []byte(`{"id":"evt_1","type":"charge.succeeded"}`)
	list := []string{"a"}
	p := webhook.Stripe(list...)
	list[0] = "b"
	if _, err := p.Receive(request(map[string]string{"Stripe-Signature": signStripe("a", at, body)}, body), body, time.Unix(at, 0)); err != nil {
		t.Error(err)
	}
}

func TestEndpoints(t *testing.T) {
	c := acme(func(c *webhook.HMACConfig) { c.ContentTypes, c.MaxBody = []string{"text/csv"}, 10 })
	for _, test := range []struct {
		provider restaq.Provider
		want     restaq.Endpoint
	}{
		{webhook.Stripe("s"), restaq.Endpoint{Provider: "stripe", Source: "stripe", Secret: []string{"Stripe-Signature"}}},
		{webhook.StripeConfig{Secrets: []string{"s"}, Source: "stripe-eu", MaxBody: 1 << 20}.Provider(),
			restaq.Endpoint{Provider: "stripe", Source: "stripe-eu", MaxBody: 1 << 20, Secret: []string{"Stripe-Signature"}}},
		{webhook.GitHub("s"), restaq.Endpoint{Provider: "github", Source: "github",
			ContentTypes: []string{"application/json", "application/x-www-form-urlencoded"},
			Secret:       []string{"X-Hub-Signature-256", "X-Hub-Signature"}}},
		{webhook.StandardWebhooks("AAAA"), restaq.Endpoint{Provider: "standardwebhooks", Source: "standardwebhooks",
			Secret: []string{"Webhook-Signature", "Svix-Signature"}}},
		{webhook.StandardWebhooksConfig{Name: "clerk", Secrets: []string{"AAAA"}}.Provider(), restaq.Endpoint{Provider: "clerk", Source: "clerk",
			Secret: []string{"Webhook-Signature", "Svix-Signature"}}},
		{c.Provider(), restaq.Endpoint{Provider: "acme", Source: "acme", MaxBody: 10, ContentTypes: []string{"text/csv"}, Secret: []string{"X-Acme-Signature"}}},
		{webhook.Insecure(webhook.Stripe("s")), restaq.Endpoint{Provider: "stripe", Source: "stripe", Secret: []string{"Stripe-Signature"}, Local: true}},
	} {
		got := test.provider.Endpoint()
		if got.Provider != test.want.Provider || got.Source != test.want.Source || got.MaxBody != test.want.MaxBody || got.Local != test.want.Local ||
			!slices.Equal(got.ContentTypes, test.want.ContentTypes) || !slices.Equal(got.Secret, test.want.Secret) {
			t.Errorf("endpoint %+v, want %+v", got, test.want)
		}
	}
}

func TestRename(t *testing.T) {
	body := []byte(`{"id":1,"type":"orders/create"}`)
	for name, test := range map[string]struct {
		rename func(string) string
		want   string
	}{
		"to dots":    {func(s string) string { return strings.ReplaceAll(s, "/", ".") }, "acme.orders.create"},
		"to nothing": {func(string) string { return "" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := acme(func(c *webhook.HMACConfig) { c.Rename = test.rename }).Provider()
			got, err := p.Receive(request(map[string]string{"X-Acme-Signature": signHex("s", body)}, body), body, time.Now())
			if test.want == "" {
				if !errors.Is(err, restaq.ErrMalformed) {
					t.Errorf("error %v, want malformed", err)
				}
				return
			}
			if err != nil || got.Events[0].Type != test.want || got.Events[0].ID != "1" {
				t.Errorf("received %+v, %v", got, err)
			}
		})
	}
}

func TestHeadersOfSigningMustNotBeRepeated(t *testing.T) {
	const at = 1_760_000_000
	body := []byte(`{"id":"evt_1","type":"a.b"}`)
	for name, test := range map[string]struct {
		provider restaq.Provider
		headers  map[string]string
		repeat   string
		want     error
	}{
		"stripe": {webhook.Stripe("s"), map[string]string{"Stripe-Signature": signStripe("s", at, body)}, "Stripe-Signature", webhook.ErrHeader},
		"standard webhooks": {webhook.StandardWebhooksConfig{Secrets: []string{"raw"}, RawSecrets: true}.Provider(),
			map[string]string{"Webhook-Id": "m", "Webhook-Timestamp": "1760000000", "Webhook-Signature": signStandard("raw", "m", at, body)}, "Webhook-Id", webhook.ErrHeader},
		"github, signature": {webhook.GitHub("secret"), githubHeaders("d", "push", body), "X-Hub-Signature-256", webhook.ErrHeader},
		"github, id":        {webhook.GitHub("secret"), githubHeaders("d", "push", body), "X-Github-Delivery", restaq.ErrMalformed},
		"github, event":     {webhook.GitHub("secret"), githubHeaders("d", "push", body), "X-Github-Event", restaq.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(test.headers, body)
			r.Header.Set("Content-Type", "application/json")
			if _, err := test.provider.Receive(r, body, time.Unix(at, 0)); err != nil {
				t.Fatal(err)
			}
			r.Header.Add(test.repeat, r.Header.Get(test.repeat))
			_, err := test.provider.Receive(r, body, time.Unix(at, 0))
			wantError(t, err, test.want, "is there 2 times")
		})
	}
}
