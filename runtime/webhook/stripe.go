package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	stripeName   = "stripe"
	stripeHeader = "Stripe-Signature"
)

// Stripe takes the webhooks of Stripe under the given signing secrets
// ("whsec_…", one per endpoint; two while one is being replaced).
//
// It takes snapshot events and thin events (object "v2.core.event") alike. An
// event's id and type are the body's, both signed. It panics without a secret,
// or with an empty one.
func Stripe(secrets ...string) restaq.Provider {
	return StripeConfig{Secrets: secrets}.Provider()
}

// StripeConfig is what Stripe can be told besides its secrets.
type StripeConfig struct {
	// Secrets are the endpoint's signing secrets; any of them may match. The
	// whole string is the secret, "whsec_" included.
	Secrets []string

	// SecretsFor returns more secrets, chosen by the request: by its path, say.
	// It is called for each request, before the signature is checked, and must
	// be safe for concurrent use. A request for which there is no secret, or an
	// empty one among several, is refused.
	SecretsFor func(r *http.Request) []string

	// Matched, if set, is told which secret an authentic request was signed
	// with: its index in Secrets, or, beyond these, in what SecretsFor returned.
	// A secret that is reported no more can be taken away.
	Matched func(r *http.Request, secret int)

	// Source is the endpoint's name. Default: "stripe". Give the endpoint of a
	// second Stripe account one of its own.
	Source string

	// Tolerance is how old a signature may be. Default: 5 min.
	Tolerance time.Duration

	// Future is how far ahead of this server's clock a signature may be made.
	// The default, 0, takes any, as Stripe's own libraries do.
	Future time.Duration

	// MaxBody is the largest body taken, in bytes. Default: 25 MiB.
	MaxBody int64
}

// Provider returns the provider. It panics if the configuration has no secret,
// an empty one, or a negative limit.
func (c StripeConfig) Provider() restaq.Provider {
	if c.Future < 0 {
		misuse(stripeName, "Future is negative")
	}
	return newProvider(
		restaq.Endpoint{Provider: stripeName, Source: c.Source, MaxBody: c.MaxBody, Secret: []string{stripeHeader}},
		newKeyring(c.Secrets, c.SecretsFor, nil),
		&stripe{past: tolerance(stripeName, c.Tolerance), future: c.Future},
		c.Matched,
	)
}

// stripe signs "<t>.<body>" with HMAC-SHA256.
type stripe struct{ past, future time.Duration }

func (s *stripe) verify(r *http.Request, body []byte, keys []key, now time.Time) (int, error) {
	value, err := header(r, stripeHeader)
	if err != nil {
		return 0, err
	}
	h, err := parseStripeHeader(value)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrHeader, stripeHeader, err)
	}
	i, err := match(keys, func(k key) bool {
		return matchMAC(sha256.New, k, h.signatures, []byte(h.timestamp), []byte("."), body)
	})
	if err != nil {
		return 0, err
	}
	return i, checkAge(h.signed, now, s.past, s.future)
}

func (*stripe) read(_ *http.Request, body []byte) (*restaq.Received, error) {
	doc, err := parseDocument(body)
	if err != nil {
		return nil, err
	}
	id, err := doc.required("id")
	if err != nil {
		return nil, err
	}
	kind, err := doc.required("type")
	if err != nil {
		return nil, err
	}
	return oneEvent(stripeName, id, kind, body), nil
}

// signatureHeader is a header that holds a timestamp and signatures.
type signatureHeader struct {
	timestamp  string // as it was sent, and signed
	signed     time.Time
	signatures [][]byte // decoded
}

// parseStripeHeader reads "t=<unix seconds>,v1=<hex>[,v1=<hex>]…". An item
// that is not of the form name=value makes the whole header invalid; items of
// other schemes, and v1 items that are not hex, are passed over.
func parseStripeHeader(value string) (signatureHeader, error) {
	var h signatureHeader
	for item := range strings.SplitSeq(value, ",") {
		name, text, ok := strings.Cut(item, "=")
		if !ok || strings.Contains(text, "=") {
			return h, fmt.Errorf("an item is not of the form name=value")
		}
		switch name {
		case "t":
			if h.timestamp != "" {
				return h, fmt.Errorf("t is there twice")
			}
			signed, err := parseUnix(text, time.Second)
			if err != nil {
				return h, fmt.Errorf("t: %w", err)
			}
			h.timestamp, h.signed = text, signed
		case "v1":
			if signature, err := hex.DecodeString(text); err == nil && len(signature) > 0 {
				h.signatures = append(h.signatures, signature)
			}
		}
	}
	switch {
	case h.timestamp == "":
		return h, fmt.Errorf("t, the timestamp, is missing")
	case len(h.signatures) == 0:
		return h, fmt.Errorf("it has no readable v1 signature")
	case len(h.signatures) > maxSignatures:
		return h, fmt.Errorf("it has %d signatures, more than %d", len(h.signatures), maxSignatures)
	}
	return h, nil
}
