package restaq

import (
	"net/http"
	"time"
)

// Provider authenticates the requests of one webhook sender and names the
// events in them. Package webhook has the known ones. Its methods are safe for
// concurrent use.
type Provider interface {
	// Endpoint returns the provider's fixed facts.
	Endpoint() Endpoint

	// Receive authenticates a request on the raw bytes of its body, then reads
	// what it carries. r.Body has been read already; body is what it held, and
	// the provider may keep it. now is the time for timestamp tolerances. A
	// returned error wraps ErrNotAuthentic (answered 401) or ErrMalformed
	// (400); its text goes into the answer, so it holds no secret.
	Receive(r *http.Request, body []byte, now time.Time) (*Received, error)
}

// Endpoint is what a receiving endpoint knows before any request.
type Endpoint struct {
	// Provider and Source are those of its events.
	Provider, Source string

	// MaxBody is the largest body taken, in bytes; 0 means 25 MiB.
	MaxBody int64

	// ContentTypes are the media types taken, without parameters; empty means
	// application/json alone.
	ContentTypes []string

	// Secret names the headers that must not be stored, besides cookies and
	// authorization, which never are.
	Secret []string

	// Local takes requests from loopback addresses only.
	Local bool
}

// Received is what one authentic request carries.
type Received struct {
	// Events are delivered, in order. Each has at least ID, Type and Payload;
	// Provider and Source are the endpoint's and Header the request's if they
	// are not set.
	Events []Event

	// Answer, if not nil, replaces the usual answer to a request that has been
	// stored: a handshake's challenge, say.
	Answer *Answer
}

// Answer is a response that a provider asks for.
type Answer struct {
	Status      int    // 0 means 200
	ContentType string // "" means text/plain; charset=utf-8
	Body        []byte
}
