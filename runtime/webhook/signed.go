package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// TimeFormat is how a timestamp is written.
type TimeFormat string

// The formats of Timestamp.
const (
	UnixSeconds TimeFormat = "unix"    // 1700000000
	UnixMillis  TimeFormat = "unix-ms" // 1700000000000
	RFC3339     TimeFormat = "rfc3339" // 2023-11-14T22:13:20Z
)

// Timestamp says where a request carries the time of its signature. One of
// Header, Prefix and JSON is set, or none: then the sender has no timestamp.
type Timestamp struct {
	// Header is the header that holds it. Signed must have {timestamp}: a time
	// that is not signed proves nothing.
	Header string

	// Prefix tells it from the signatures in the signature's own header, where
	// it is an entry of its own: "t=" in "t=1700000000,v1=5257a8…", together
	// with the Separator "," and the signatures' Prefix "v1=". Signed must have
	// {timestamp}.
	Prefix string

	// JSON is the path of the member of the body that holds it. It is read
	// after the signature, which covers it with the body.
	JSON string

	// Format is how it is written. Default: UnixSeconds.
	Format TimeFormat

	// Tolerance is how far it may be from this server's clock, in both
	// directions. Default: 5 min.
	Tolerance time.Duration
}

// set reports whether the sender has a timestamp.
func (t *Timestamp) set() bool { return t.Header != "" || t.Prefix != "" || t.JSON != "" }

// inBody reports whether nothing about the time can be known before the body
// is authentic.
func (t *Timestamp) inBody() bool { return t.Header == "" && t.Prefix == "" }

// check panics if the timestamp does not go together with c.
func (t *Timestamp) check(c *HMACConfig) {
	count := 0
	for _, place := range []string{t.Header, t.Prefix, t.JSON} {
		if place != "" {
			count++
		}
	}
	if count > 1 {
		misuse(c.Name, "Timestamp has more than one of Header, Prefix and JSON")
	}
	if count == 0 && t.Format != "" {
		misuse(c.Name, "Timestamp has a Format, and none of Header, Prefix and JSON")
	}
	if t.Prefix != "" && (c.Separator == "" || c.Prefix == "" || strings.HasPrefix(c.Prefix, t.Prefix) || strings.HasPrefix(t.Prefix, c.Prefix)) {
		misuse(c.Name, "Timestamp.Prefix needs a Separator, and a Prefix that tells signatures from it")
	}
	if !slices.Contains([]TimeFormat{"", UnixSeconds, UnixMillis, RFC3339}, t.Format) {
		misuse(c.Name, "Timestamp.Format %q is unknown", t.Format)
	}
}

// parse reads a timestamp as the sender writes it. A sender without one has
// the zero time.
func (t *Timestamp) parse(text string) (time.Time, error) {
	switch {
	case !t.set():
		return time.Time{}, nil
	case text == "":
		return time.Time{}, errors.New("it is missing")
	}
	switch t.Format {
	case UnixMillis:
		return parseUnix(text, time.Millisecond)
	case RFC3339:
		signed, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return time.Time{}, errors.New("want a time as in RFC 3339")
		}
		return signed, nil
	default:
		return parseUnix(text, time.Second)
	}
}

// verify checks the time of an otherwise authentic request. signed is its time
// unless that stands in the body.
func (t *Timestamp) verify(signed time.Time, body []byte, now time.Time) error {
	if !t.set() {
		return nil
	}
	if t.inBody() {
		doc, err := parseDocument(body)
		if err != nil {
			return err
		}
		text, err := doc.text(t.JSON)
		if err != nil {
			return err
		}
		if signed, err = t.parse(text); err != nil {
			return fmt.Errorf("%w: field %s: %w", ErrTimestamp, t.JSON, err)
		}
	}
	return checkAge(signed, now, t.Tolerance, t.Tolerance)
}

// template is what a sender signs, in pieces: literal text and, between, what
// each request has.
type template []piece

type piece struct {
	literal string
	slot    string // "body", "timestamp" or "header"; "" for a literal
	header  string // of the slot "header"
}

// template compiles Signed. It panics on what it cannot mean.
func (c *HMACConfig) template() template {
	var t template
	for rest := c.Signed; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		if literal != "" {
			t = append(t, piece{literal: literal})
		}
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			misuse(c.Name, "Signed %q has an open brace", c.Signed)
		}
		t, rest = append(t, c.slot(name)), tail
	}
	count := func(slot string) (n int) {
		for _, p := range t {
			if p.slot == slot {
				n++
			}
		}
		return n
	}
	if count("body") != 1 {
		misuse(c.Name, "Signed %q must have {body} exactly once", c.Signed)
	}
	if !c.Timestamp.inBody() && count("timestamp") == 0 {
		misuse(c.Name, "Signed %q must have {timestamp}: a time that is not signed proves nothing", c.Signed)
	}
	return t
}

// slot returns the piece that a name in braces stands for.
func (c *HMACConfig) slot(name string) piece {
	switch {
	case name == "body":
		return piece{slot: "body"}
	case name == "timestamp" && !c.Timestamp.inBody():
		return piece{slot: "timestamp"}
	case name == "id" && c.ID.Header != "":
		return piece{slot: "header", header: c.ID.Header}
	case name == "type" && c.Type.Header != "":
		return piece{slot: "header", header: c.Type.Header}
	case slices.Contains([]string{"timestamp", "id", "type"}, name):
		misuse(c.Name, "Signed has {%s}, which no header holds: what is in the body is signed with it", name)
	}
	misuse(c.Name, "Signed has {%s}: want {body}, {timestamp}, {id} or {type}", name)
	return piece{}
}

// fill returns what the sender of a request signed.
func (t template) fill(r *http.Request, body []byte, timestamp string) ([][]byte, error) {
	parts := make([][]byte, len(t))
	for i, p := range t {
		switch p.slot {
		case "":
			parts[i] = []byte(p.literal)
		case "body":
			parts[i] = body
		case "timestamp":
			parts[i] = []byte(timestamp)
		case "header":
			value, err := header(r, p.header)
			if err != nil {
				return nil, err
			}
			parts[i] = []byte(value)
		}
	}
	return parts, nil
}
