package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// defaultTolerance is the distance between a signed timestamp and this
// server's clock that senders recommend.
const defaultTolerance = 5 * time.Minute

// maxSignatures bounds the signatures that one header may hold. Senders need
// two during a rotation. Without a bound an unsigned request could ask for
// thousands of public-key checks over its whole body.
const maxSignatures = 16

// scheme is what sets one kind of sender apart.
type scheme interface {
	// verify returns the index of the key that one of the request's signatures
	// was made with. It looks at nothing but headers and raw bytes.
	verify(r *http.Request, body []byte, keys []key, now time.Time) (int, error)

	// read names the event in a request, authentic or not.
	read(r *http.Request, body []byte) (*restaq.Received, error)
}

// Reader is what a provider has besides restaq.Provider so that Insecure can
// wrap it: reading a request without authenticating it. The providers of this
// package have it.
type Reader interface {
	Read(r *http.Request, body []byte) (*restaq.Received, error)
}

// provider is a scheme with its secrets. It is immutable.
type provider struct {
	endpoint restaq.Endpoint
	keys     keyring
	scheme   scheme
	matched  func(r *http.Request, secret int)
}

var (
	_ restaq.Provider = (*provider)(nil)
	_ Reader          = (*provider)(nil)
)

func (p *provider) Endpoint() restaq.Endpoint { return p.endpoint }

func (p *provider) Receive(r *http.Request, body []byte, now time.Time) (*restaq.Received, error) {
	keys, err := p.keys.forRequest(r)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 && r.ContentLength > 0 {
		return nil, fmt.Errorf("%w: it is empty here although Content-Length is %d: mount the handler before whatever reads or parses bodies",
			ErrBodyRead, r.ContentLength)
	}
	secret, err := p.scheme.verify(r, body, keys, now)
	if err != nil {
		return nil, withBodyHint(err, r, body)
	}
	if p.matched != nil {
		p.matched(r, secret)
	}
	return p.Read(r, body)
}

// Read names the event in a request that was authenticated, or need not be.
func (p *provider) Read(r *http.Request, body []byte) (*restaq.Received, error) {
	return p.scheme.read(r, body)
}

// withBodyHint adds to a failed match what the body's length tells about it.
func withBodyHint(err error, r *http.Request, body []byte) error {
	switch {
	case err != ErrSignature: // another reason, or one that says more
		return err
	case r.ContentLength > 0 && r.ContentLength != int64(len(body)):
		return fmt.Errorf("%w: the body has %d bytes, the sender announced %d: something in front of the handler changed it",
			err, len(body), r.ContentLength)
	case len(body) == 0:
		return fmt.Errorf("%w: the body is empty; if the sender's was not, something in front of the handler read it", err)
	}
	return err
}

// newProvider checks what all configurations have in common and panics, with
// the provider's name, on what would make an endpoint that trusts anybody or
// nobody.
func newProvider(endpoint restaq.Endpoint, keys keyring, scheme scheme, matched func(*http.Request, int)) *provider {
	if endpoint.Source == "" {
		endpoint.Source = endpoint.Provider
	}
	if endpoint.MaxBody < 0 {
		misuse(endpoint.Provider, "MaxBody is negative")
	}
	keys.check(endpoint.Provider)
	return &provider{endpoint: endpoint, keys: keys, scheme: scheme, matched: matched}
}

// checkProviderName panics on a name that cannot begin an event type.
func checkProviderName(name string) {
	if name == "" {
		panic("webhook: provider without a name: set Name")
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			misuse(name, "Name may have letters, digits, \"-\" and \"_\"")
		}
	}
}

// misuse panics with a message that names the provider.
func misuse(provider, format string, args ...any) {
	panic(fmt.Sprintf("webhook: provider %q: ", provider) + fmt.Sprintf(format, args...))
}

// tolerance returns d or its default, and panics on a negative one.
func tolerance(provider string, d time.Duration) time.Duration {
	if d < 0 {
		misuse(provider, "Tolerance is negative")
	}
	if d == 0 {
		return defaultTolerance
	}
	return d
}

// oneEvent wraps the event that most requests carry.
func oneEvent(provider, id, kind string, payload []byte) *restaq.Received {
	return &restaq.Received{Events: []restaq.Event{{ID: id, Type: provider + "." + kind, Payload: payload}}}
}

// digestID is an event's id made from its payload.
func digestID(payload []byte) string {
	sum := sha256.Sum256(payload)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// header returns the only value of a header that signing needs.
func header(r *http.Request, name string) (string, error) {
	values := r.Header.Values(name)
	switch {
	case len(values) == 0 || values[0] == "":
		return "", fmt.Errorf("%w: %s", ErrUnsigned, name)
	case len(values) > 1:
		return "", fmt.Errorf("%w: %s is there %d times", ErrHeader, name, len(values))
	}
	return values[0], nil
}

// named returns the only value of a header that names an authentic event.
func named(r *http.Request, name string) (string, error) {
	values := r.Header.Values(name)
	switch {
	case len(values) == 0 || values[0] == "":
		return "", malformed("header %s is missing", name)
	case len(values) > 1:
		return "", malformed("header %s is there %d times", name, len(values))
	}
	return values[0], nil
}
