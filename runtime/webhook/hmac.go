package webhook

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Algorithm is the hash that a sender makes its HMAC with.
type Algorithm string

// The algorithms of HMACConfig. SHA1 is there for old senders.
const (
	SHA256 Algorithm = "sha256"
	SHA512 Algorithm = "sha512"
	SHA1   Algorithm = "sha1"
)

// Encoding is how a signature is written in its header.
type Encoding string

// The encodings of HMACConfig.
const (
	Hex    Encoding = "hex"
	Base64 Encoding = "base64" // standard alphabet, padded
)

// HMACConfig describes a sender that signs its requests with an HMAC, such as
// a service of one's own. Little is needed where the sender keeps to the
// defaults: a JSON body with members "id" and "type", and a header with the
// HMAC-SHA256 of the body in hex.
//
//	webhook.HMACConfig{
//		Name:    "acme",
//		Secrets: []string{secret},
//		Header:  "X-Acme-Signature",
//	}.Provider()
//
// takes {"id": "42", "type": "order.created", …} as the event 42 of the type
// "acme.order.created".
//
// What is not in Signed is not protected. Without a Timestamp a captured
// request stays valid for ever, and with an ID from a header that is not
// signed it can come again under a new id; an id in the body, {id} in Signed,
// or BodyID keeps a repeated request a duplicate.
type HMACConfig struct {
	// Name is the provider's name, with which the types of its events begin:
	// letters, digits, "-" and "_". It must be set.
	Name string

	// Secrets are the sender's secrets; any of them may match. The bytes of the
	// string are the secret.
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

	// Source is the endpoint's name. Default: Name.
	Source string

	// Header is the header that holds the signature. It must be set. It is not
	// stored with the event.
	Header string

	// Algorithm is the hash of the HMAC. Default: SHA256.
	Algorithm Algorithm

	// Encoding is how the signature is written. Default: Hex.
	Encoding Encoding

	// Prefix stands in front of each signature, such as "sha256=" or "v0=".
	// What has not this prefix is no signature. Default: none.
	Prefix string

	// Separator stands between several signatures in the header, such as "," or
	// " "; a sender that changes its secret sends one for each. By default the
	// whole header is one signature.
	Separator string

	// Signed is what the sender signs: text with {body}, exactly once, and, as
	// the sender has it, {timestamp} (as it was sent), {id} and {type} (if these
	// come from headers). Default: "{body}", or "{timestamp}.{body}" if there is
	// a Timestamp.
	Signed string

	// Timestamp says where the time of the signature is, if it has one.
	Timestamp Timestamp

	// ID is where the event's id is. It must be the same when the sender sends
	// the event again. Default: Field{JSON: "id"}.
	ID Field

	// BodyID makes the id from the body (its SHA-256), for senders that have
	// none, or none that is signed. Two events with the same body are then one.
	// ID is not set with it.
	BodyID bool

	// Type is where the sender's own type of the event is; the event's type is
	// Name, a dot, and that. Default: Field{JSON: "type"}.
	Type Field

	// Action is where a second part of the type is, for senders that split it
	// ("issue" and "closed"). It is left out of a type when it is missing.
	Action Field

	// Rename turns the sender's type ("orders/create") into ours
	// ("orders.create"), without Name. It must be safe for concurrent use.
	// Default: unchanged.
	Rename func(kind string) string

	// ContentTypes are the media types taken, without parameters. Default:
	// application/json alone. Bodies of JSON types must be valid JSON objects.
	ContentTypes []string

	// MaxBody is the largest body taken, in bytes. Default: 25 MiB.
	MaxBody int64
}

// Field says where a request carries a value: in a header, or in the body.
type Field struct {
	// Header is the name of a header.
	Header string

	// JSON is the path of a member of the body, names joined by dots: "id" or
	// "event.type". A string or an integer is taken.
	JSON string
}

// Provider returns the provider. It panics if the configuration has no secret
// or an empty one, or if its fields do not go together; the message names the
// provider and says why.
func (c HMACConfig) Provider() restaq.Provider {
	checkProviderName(c.Name)
	c.fillIn()
	s := &hmacScheme{
		name:      c.Name,
		header:    c.Header,
		hash:      c.hash(),
		decode:    c.decoder(),
		prefix:    c.Prefix,
		separator: c.Separator,
		timestamp: c.Timestamp,
		id:        c.ID,
		bodyID:    c.BodyID,
		kind:      c.Type,
		action:    c.Action,
		rename:    c.Rename,
	}
	c.check()
	s.signed = c.template()
	return newProvider(
		restaq.Endpoint{
			Provider:     c.Name,
			Source:       c.Source,
			MaxBody:      c.MaxBody,
			ContentTypes: slices.Clone(c.ContentTypes),
			Secret:       []string{c.Header},
		},
		newKeyring(c.Secrets, c.SecretsFor, nil), s, c.Matched)
}

// fillIn sets the defaults that other fields depend on.
func (c *HMACConfig) fillIn() {
	if c.BodyID && c.ID != (Field{}) {
		misuse(c.Name, "ID and BodyID are both set")
	}
	if c.ID == (Field{}) && !c.BodyID {
		c.ID = Field{JSON: "id"}
	}
	if c.Type == (Field{}) {
		c.Type = Field{JSON: "type"}
	}
	if c.Signed == "" {
		c.Signed = "{body}"
		if c.Timestamp.set() {
			c.Signed = "{timestamp}.{body}"
		}
		if c.Timestamp.JSON != "" {
			c.Signed = "{body}" // which holds it
		}
	}
	c.Timestamp.Tolerance = tolerance(c.Name, c.Timestamp.Tolerance)
}

func (c *HMACConfig) hash() func() hash.Hash {
	switch c.Algorithm {
	case "", SHA256:
		return sha256.New
	case SHA512:
		return sha512.New
	case SHA1:
		return sha1.New
	}
	misuse(c.Name, "Algorithm %q is unknown", c.Algorithm)
	return nil
}

func (c *HMACConfig) decoder() func(string) ([]byte, error) {
	switch c.Encoding {
	case "", Hex:
		return hex.DecodeString
	case Base64:
		return decodeBase64
	}
	misuse(c.Name, "Encoding %q is unknown", c.Encoding)
	return nil
}

// check panics on fields that do not go together.
func (c *HMACConfig) check() {
	if strings.TrimSpace(c.Header) == "" {
		misuse(c.Name, "Header, which holds the signature, is not set")
	}
	for _, f := range []struct {
		name string
		Field
	}{{"ID", c.ID}, {"Type", c.Type}, {"Action", c.Action}} {
		if f.Header != "" && f.JSON != "" {
			misuse(c.Name, "%s has both Header and JSON", f.name)
		}
		if f.JSON != "" && slices.Contains(strings.Split(f.JSON, "."), "") {
			misuse(c.Name, "%s: path %q has an empty name", f.name, f.JSON)
		}
	}
	c.Timestamp.check(c)
}

// hmacScheme is a compiled HMACConfig.
type hmacScheme struct {
	name      string
	header    string
	hash      func() hash.Hash
	decode    func(string) ([]byte, error)
	prefix    string
	separator string
	signed    template
	timestamp Timestamp
	id        Field
	bodyID    bool
	kind      Field
	action    Field
	rename    func(string) string
}

func (s *hmacScheme) verify(r *http.Request, body []byte, keys []key, now time.Time) (int, error) {
	value, err := header(r, s.header)
	if err != nil {
		return 0, err
	}
	h, err := s.parse(value)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrHeader, s.header, err)
	}
	if s.timestamp.Header != "" {
		if h.timestamp, err = header(r, s.timestamp.Header); err != nil {
			return 0, err
		}
	}
	if !s.timestamp.inBody() {
		if h.signed, err = s.timestamp.parse(h.timestamp); err != nil {
			return 0, fmt.Errorf("%w: timestamp: %w", ErrHeader, err)
		}
	}
	parts, err := s.signed.fill(r, body, h.timestamp)
	if err != nil {
		return 0, err
	}
	i, err := match(keys, func(k key) bool { return matchMAC(s.hash, k, h.signatures, parts...) })
	if err != nil {
		return 0, err
	}
	return i, s.timestamp.verify(h.signed, body, now)
}

// parse splits the signature's header.
func (s *hmacScheme) parse(value string) (signatureHeader, error) {
	var h signatureHeader
	entries := []string{value}
	if s.separator != "" {
		entries = strings.Split(value, s.separator)
	}
	for _, entry := range entries {
		entry = strings.TrimSpace(entry)
		if text, ok := strings.CutPrefix(entry, s.timestamp.Prefix); ok && s.timestamp.Prefix != "" {
			if h.timestamp != "" {
				return h, fmt.Errorf("%s is there twice", s.timestamp.Prefix)
			}
			h.timestamp = text
			continue
		}
		text, ok := strings.CutPrefix(entry, s.prefix)
		if !ok {
			continue
		}
		if signature, err := s.decode(text); err == nil && len(signature) > 0 {
			h.signatures = append(h.signatures, signature)
		}
	}
	switch n := len(h.signatures); {
	case n == 0:
		return h, fmt.Errorf("it has no readable signature")
	case n > maxSignatures:
		return h, fmt.Errorf("it has %d signatures, more than %d", n, maxSignatures)
	}
	return h, nil
}

func (s *hmacScheme) read(r *http.Request, body []byte) (*restaq.Received, error) {
	var doc document
	if media := mediaType(r); media == "" || isJSON(media) || s.id.JSON != "" || s.kind.JSON != "" {
		var err error
		if doc, err = parseDocument(body); err != nil {
			return nil, err
		}
	}
	id, err := s.identify(r, doc, body)
	if err != nil {
		return nil, err
	}
	kind, err := s.kind.required(r, doc)
	if err != nil {
		return nil, err
	}
	action, err := s.action.optional(r, doc)
	if err != nil {
		return nil, err
	}
	if action != "" {
		kind += "." + action
	}
	if s.rename != nil {
		if kind = s.rename(kind); kind == "" {
			return nil, malformed("type is empty after renaming")
		}
	}
	return oneEvent(s.name, id, kind, body), nil
}

// identify returns the event's id.
func (s *hmacScheme) identify(r *http.Request, doc document, body []byte) (string, error) {
	if s.bodyID {
		return digestID(body), nil
	}
	return s.id.required(r, doc)
}

// required returns the field's value, which must be there.
func (f Field) required(r *http.Request, doc document) (string, error) {
	if f.Header != "" {
		return named(r, f.Header)
	}
	return doc.required(f.JSON)
}

// optional returns the field's value, or "" if it is not there.
func (f Field) optional(r *http.Request, doc document) (string, error) {
	switch {
	case f.Header != "" && r.Header.Get(f.Header) != "":
		return named(r, f.Header)
	case f.JSON != "" && doc != nil:
		return doc.text(f.JSON)
	}
	return "", nil
}
