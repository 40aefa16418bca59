package dashboard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	maxQuery = 8 << 10   // bytes of a request's query
	maxBody  = 128 << 10 // bytes of a form: 1000 ids and a filter fit
	patience = 10 * time.Second
)

// policy is the Content-Security-Policy: everything comes from the page's own
// origin, nothing stands in the page, and nobody frames it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard is what every request passes, whatever it asks for.
func (s *server) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		// Not no-referrer: with it browsers hide the origin of our own forms.
		h.Set("Referrer-Policy", "same-origin")

		if !strings.HasPrefix(r.URL.Path, "/") { // StripPrefix may have taken the slash
			r = r.Clone(r.Context())
			r.URL.Path = "/" + r.URL.Path
			if r.URL.RawPath != "" {
				r.URL.RawPath = "/" + r.URL.RawPath
			}
		}
		switch known, err := s.authorize(w, r); {
		case err != nil:
			s.fail(w, r, err)
		case len(r.URL.RawQuery) > maxQuery:
			s.fail(w, known, &problem{http.StatusRequestURITooLong, "The address is too long."})
		case origin.Check(r) != nil:
			s.fail(w, known, &problem{http.StatusForbidden, "The request comes from another site."})
		default:
			known.Body = http.MaxBytesReader(w, known.Body, maxBody)
			next.ServeHTTP(w, known)
		}
	})
}

// problem is an error that people are shown.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

// bad is a problem of what was asked for.
func bad(text string) error { return &problem{http.StatusBadRequest, text} }

// explain returns what people are told of an error. What they need not know goes
// to the log.
func (s *server) explain(r *http.Request, err error) *problem {
	var shown *problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &shown):
		return shown
	case errors.As(err, &large):
		return &problem{http.StatusRequestEntityTooLarge, "The form is too large."}
	case errors.Is(err, restaq.ErrNotFound):
		return &problem{http.StatusNotFound, "There is no such execution: it never was, or it has been pruned."}
	case errors.Is(err, restaq.ErrFinal):
		return &problem{http.StatusConflict, "Nothing was done: the execution has ended for good."}
	case errors.Is(err, restaq.ErrNoPayload):
		return &problem{http.StatusConflict, "Nothing was done: the event's payload was not kept."}
	case errors.Is(err, restaq.ErrCursor):
		return &problem{http.StatusBadRequest, "There is no such page: its address is broken."}
	case errors.Is(err, restaq.ErrUnsupported):
		return &problem{http.StatusNotImplemented, "The store cannot tell."}
	}
	if r.Context().Err() == nil { // nobody waits for the answer otherwise
		s.cfg.Logger.Error("restaq: dashboard", "path", r.URL.Path, "error", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &problem{http.StatusServiceUnavailable, "The store takes too long to answer. Ask for less, such as a shorter time, or try again."}
	}
	return &problem{http.StatusServiceUnavailable, "The store does not answer. The log says why."}
}
