package webhook

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	standardName      = "standardwebhooks"
	standardSecret    = "whsec_"
	standardPublicKey = "whpk_"
	standardOwnKey    = "whsk_"
)

// StandardWebhooks takes webhooks that are signed as the Standard Webhooks
// specification says, which many senders follow; it knows the header names of
// Svix too. Event types begin with "standardwebhooks."; to name the sender
// instead, set StandardWebhooksConfig.Name.
//
// A secret is "whsec_" and base64, or the base64 alone; a sender that signs
// with Ed25519 has a public key instead, "whpk_" and base64. An event's id is
// the webhook-id header, which is signed and the same on redelivery; its type
// is the body's "type". It panics without a secret, or with one that is empty
// or cannot be decoded.
func StandardWebhooks(secrets ...string) restaq.Provider {
	return StandardWebhooksConfig{Secrets: secrets}.Provider()
}

// StandardWebhooksConfig is what StandardWebhooks can be told besides its
// secrets.
type StandardWebhooksConfig struct {
	// Name is the provider's name, with which the types of its events begin:
	// "clerk" or "openai". Default: "standardwebhooks".
	Name string

	// Secrets are the endpoint's secrets and public keys; any of them may match.
	Secrets []string

	// SecretsFor returns more secrets, chosen by the request: by its path, say.
	// It is called for each request, before the signature is checked, and must
	// be safe for concurrent use. A request for which there is no secret, or
	// one among several that is empty or cannot be decoded, is refused.
	SecretsFor func(r *http.Request) []string

	// RawSecrets takes a secret without "whsec_" as the bytes it consists of,
	// as OpenAI does. By default it is decoded as base64.
	RawSecrets bool

	// Matched, if set, is told which secret an authentic request was signed
	// with: its index in Secrets, or, beyond these, in what SecretsFor returned.
	// A secret that is reported no more can be taken away.
	Matched func(r *http.Request, secret int)

	// Source is the endpoint's name. Default: Name.
	Source string

	// Tolerance is how far the signed timestamp may be from this server's
	// clock, in both directions. Default: 5 min.
	Tolerance time.Duration

	// MaxBody is the largest body taken, in bytes. Default: 25 MiB.
	MaxBody int64
}

// Provider returns the provider. It panics if the configuration has no secret,
// one that is empty or cannot be decoded, or a negative limit.
func (c StandardWebhooksConfig) Provider() restaq.Provider {
	if c.Name == "" {
		c.Name = standardName
	}
	checkProviderName(c.Name)
	raw := c.RawSecrets
	return newProvider(
		restaq.Endpoint{
			Provider: c.Name,
			Source:   c.Source,
			MaxBody:  c.MaxBody,
			Secret:   []string{"Webhook-Signature", "Svix-Signature"},
		},
		newKeyring(c.Secrets, c.SecretsFor, func(secret string) (key, error) { return standardKey(secret, raw) }),
		&standard{name: c.Name, tolerance: tolerance(c.Name, c.Tolerance)},
		c.Matched,
	)
}

// standardKey decodes a secret or a public key.
func standardKey(secret string, raw bool) (key, error) {
	if text, ok := strings.CutPrefix(secret, standardPublicKey); ok {
		public, err := decodeBase64(text)
		if err != nil || len(public) != ed25519.PublicKeySize {
			return key{}, fmt.Errorf("begins with %s and is not an Ed25519 public key in base64", standardPublicKey)
		}
		return key{public: public}, nil
	}
	if strings.HasPrefix(secret, standardOwnKey) {
		return key{}, fmt.Errorf("begins with %s: that is the sender's private key, the receiver needs the public one, %s…",
			standardOwnKey, standardPublicKey)
	}
	text, prefixed := strings.CutPrefix(secret, standardSecret)
	if raw && !prefixed {
		return plainKey(secret)
	}
	mac, err := decodeBase64(text)
	switch {
	case err != nil:
		return key{}, errors.New("is not valid base64")
	case len(mac) == 0:
		return key{}, errors.New("is empty")
	}
	return key{mac: mac}, nil
}

// decodeBase64 decodes padded standard base64, and only the one text that
// encoding the result gives again.
func decodeBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("line break in base64")
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}

// standard signs "<id>.<timestamp>.<body>" with HMAC-SHA256 or Ed25519.
type standard struct {
	name      string
	tolerance time.Duration
}

// standardHeaders are the three headers of a request, all under one of the two
// prefixes.
type standardHeaders struct{ id, timestamp, signature string }

// readStandardHeaders returns the headers named by the specification or, where
// one of these is missing, Svix's. The two kinds are never mixed.
func readStandardHeaders(r *http.Request) (standardHeaders, error) {
	h, err := prefixedHeaders(r, "webhook-")
	if errors.Is(err, ErrUnsigned) {
		if svix, svixErr := prefixedHeaders(r, "svix-"); !errors.Is(svixErr, ErrUnsigned) {
			return svix, svixErr
		}
	}
	return h, err
}

func prefixedHeaders(r *http.Request, prefix string) (h standardHeaders, err error) {
	for _, f := range []struct {
		name  string
		value *string
	}{{"id", &h.id}, {"timestamp", &h.timestamp}, {"signature", &h.signature}} {
		if *f.value, err = header(r, prefix+f.name); err != nil {
			return standardHeaders{}, err
		}
	}
	return h, nil
}

func (s *standard) verify(r *http.Request, body []byte, keys []key, now time.Time) (int, error) {
	h, err := readStandardHeaders(r)
	if err != nil {
		return 0, err
	}
	signed, err := parseUnix(h.timestamp, time.Second)
	if err != nil {
		return 0, fmt.Errorf("%w: timestamp: %w", ErrHeader, err)
	}
	signatures, err := parseStandardSignatures(h.signature)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	head := []byte(h.id + "." + h.timestamp + ".")
	var message []byte // made for public keys alone, which cannot take it in parts
	i, err := match(keys, func(k key) bool {
		if k.public == nil {
			return matchMAC(sha256.New, k, signatures.macs, head, body)
		}
		if message == nil && len(signatures.publics) > 0 {
			message = bytes.Join([][]byte{head, body}, nil)
		}
		return matchPublic(k, signatures.publics, message)
	})
	if err != nil {
		return 0, err
	}
	return i, checkAge(signed, now, s.tolerance, s.tolerance)
}

// matchPublic reports whether one of the signatures is message's under k.
func matchPublic(k key, signatures [][]byte, message []byte) bool {
	for _, signature := range signatures {
		if ed25519.Verify(k.public, message, signature) {
			return true
		}
	}
	return false
}

// standardSignatures are the decoded signatures of a header by their version.
type standardSignatures struct {
	macs    [][]byte // v1
	publics [][]byte // v1a
}

// parseStandardSignatures reads "v1,<base64> v1a,<base64> …". Entries of other
// versions, and entries that cannot be decoded, are passed over.
func parseStandardSignatures(value string) (standardSignatures, error) {
	var s standardSignatures
	for entry := range strings.FieldsSeq(value) {
		version, text, _ := strings.Cut(entry, ",")
		signature, err := decodeBase64(text)
		if err != nil || len(signature) == 0 {
			continue
		}
		switch {
		case version == "v1":
			s.macs = append(s.macs, signature)
		case version == "v1a" && len(signature) == ed25519.SignatureSize:
			s.publics = append(s.publics, signature)
		}
	}
	switch n := len(s.macs) + len(s.publics); {
	case n == 0:
		return s, errors.New("it has no readable v1 or v1a signature")
	case n > maxSignatures:
		return s, fmt.Errorf("it has %d signatures, more than %d", n, maxSignatures)
	}
	return s, nil
}

func (s *standard) read(r *http.Request, body []byte) (*restaq.Received, error) {
	id, err := standardID(r)
	if err != nil {
		return nil, err
	}
	doc, err := parseDocument(body)
	if err != nil {
		return nil, err
	}
	kind, err := doc.required("type")
	if err != nil {
		return nil, err
	}
	return oneEvent(s.name, id, kind, body), nil
}

// standardID returns the id that was signed or, of a request that has no full
// set of headers because nobody signed it, the one that stands there.
func standardID(r *http.Request) (string, error) {
	if h, err := readStandardHeaders(r); err == nil {
		return h.id, nil
	}
	if id := r.Header.Get("svix-id"); id != "" && r.Header.Get("webhook-id") == "" {
		return named(r, "svix-id")
	}
	return named(r, "webhook-id")
}
