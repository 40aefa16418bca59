package dashboard

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"unicode"
)

// Role says what a person may do.
type Role int

// The roles. Each may do what those before it may.
const (
	None Role = iota // nothing
	View             // look at everything
	Act              // retry, restart, replay and cancel
)

// Person is who asks.
type Person struct {
	Name string // as the audit has it
	Role Role
}

// Refused is the error of the helpers of this package for whom they do not know.
type Refused struct {
	// Challenge is the value of the header WWW-Authenticate; "" for none.
	Challenge string
}

// Error says that access is refused.
func (e *Refused) Error() string { return "access is refused" }

// Login is a name with a password.
type Login struct {
	Name, Password string
	Role           Role
}

// BasicAuth returns a Config.Authorize that asks for a name and a password, which
// HTTP sends in the clear: serve it over TLS. A login without name or password
// is nobody's. How long the comparing takes tells nothing of the logins.
func BasicAuth(logins ...Login) func(*http.Request) (Person, error) {
	type hashed struct {
		key    [sha256.Size]byte
		person Person
	}
	var known []hashed
	for _, l := range logins {
		if l.Name != "" && l.Password != "" {
			known = append(known, hashed{loginKey(l.Name, l.Password), Person{l.Name, l.Role}})
		}
	}
	return func(r *http.Request) (Person, error) {
		name, password, ok := r.BasicAuth()
		key := loginKey(name, password)
		found := -1
		for i := range known {
			if subtle.ConstantTimeCompare(known[i].key[:], key[:]) == 1 {
				found = i
			}
		}
		if !ok || found < 0 {
			return Person{}, &Refused{Challenge: `Basic realm="restaq", charset="UTF-8"`}
		}
		return known[found].person, nil
	}
}

// loginKey is the hash of a name and a password. No two pairs have the same text.
func loginKey(name, password string) [sha256.Size]byte {
	first := sha256.Sum256([]byte(name))
	return sha256.Sum256(append(first[:], password...))
}

// Token is a secret that stands for a person.
type Token struct {
	Secret string
	Person Person
}

// BearerToken returns a Config.Authorize for the header "Authorization: Bearer
// SECRET", which a proxy or a script sends: browsers have no field for it. An
// empty secret is nobody's. How long the comparing takes tells nothing of the
// secrets.
func BearerToken(tokens ...Token) func(*http.Request) (Person, error) {
	keys := make([][sha256.Size]byte, len(tokens))
	for i, t := range tokens {
		keys[i] = sha256.Sum256([]byte(t.Secret))
	}
	return func(r *http.Request) (Person, error) {
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		key := sha256.Sum256([]byte(secret))
		found := -1
		for i := range keys {
			if subtle.ConstantTimeCompare(keys[i][:], key[:]) == 1 {
				found = i
			}
		}
		if !strings.EqualFold(scheme, "Bearer") || secret == "" || found < 0 {
			return Person{}, &Refused{Challenge: `Bearer realm="restaq"`}
		}
		return tokens[found].Person, nil
	}
}

// TrustedHeader is a Config.Authorize for a proxy that has people log in and
// tells who asks in a header, such as X-Forwarded-User. The proxy must take away
// a header of that name that comes from outside: if there are two, the request
// is refused.
type TrustedHeader struct {
	// Header is the header's name.
	Header string

	// From are the addresses that the proxy's connections come from; the header
	// counts from nowhere else. A request over a Unix socket has no address: it
	// counts if From holds the zero Prefix. Default: none.
	From []netip.Prefix

	// Role returns what somebody may do.
	Role func(name string) Role
}

// Authorize is the function for Config.Authorize.
func (t TrustedHeader) Authorize(r *http.Request) (Person, error) {
	names := r.Header.Values(t.Header)
	if t.Header == "" || t.Role == nil || len(names) != 1 || !t.trusts(r.RemoteAddr) {
		return Person{}, &Refused{}
	}
	name := strings.TrimSpace(names[0])
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return Person{}, &Refused{}
	}
	return Person{name, t.Role(name)}, nil
}

func (t TrustedHeader) trusts(remote string) bool {
	addr, err := netip.ParseAddrPort(remote)
	for _, prefix := range t.From {
		if !prefix.IsValid() && (remote == "" || remote == "@") || err == nil && prefix.Contains(addr.Addr().Unmap()) {
			return true
		}
	}
	return false
}

type personKey struct{}

// personOf returns who asks. The guard has put it there.
func personOf(r *http.Request) Person {
	p, _ := r.Context().Value(personKey{}).(Person)
	return p
}

// authorize finds out who asks. An error that is no problem of this package's
// own is a refusal.
func (s *server) authorize(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	if s.cfg.Authorize == nil {
		return nil, &problem{http.StatusForbidden, "This page is closed: dashboard.Config.Authorize is not set."}
	}
	person, err := s.cfg.Authorize(r)
	if err != nil {
		var refused *Refused
		if errors.As(err, &refused) && refused.Challenge != "" {
			w.Header().Set("WWW-Authenticate", refused.Challenge)
		}
		return nil, &problem{http.StatusUnauthorized, "Who are you?"}
	}
	if person.Role < View {
		return nil, &problem{http.StatusForbidden, "You have no access to this page."}
	}
	return r.WithContext(context.WithValue(r.Context(), personKey{}, person)), nil
}
