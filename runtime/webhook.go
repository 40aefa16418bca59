package restaq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// defaultMaxBody is the largest request body taken unless the provider says
// otherwise, in bytes. It is the largest that a provider sends (GitHub).
const defaultMaxBody = 25 << 20

// retryDelivery is the Retry-After of a request that could not be stored.
const retryDelivery = 5 * time.Second

// Webhook returns the handler of a provider's endpoint. It reads the body
// within the provider's limit, authenticates the request on the raw bytes,
// names its events and delivers them; it never waits for one of the user's
// handlers.
//
//	200  every event is stored, now or before; the body says which executions
//	400  authentic, but not understood
//	401  not authentic
//	403  from elsewhere than this machine, where only that is taken
//	405  not a POST
//	413  the body is too large; it was not read to its end
//	415  not a content type that the provider sends
//	500  the body had been read before, or the provider's code failed
//	503  not known to be stored: the provider will deliver again
func (rt *Runtime) Webhook(p Provider) http.Handler {
	e := p.Endpoint()
	if e.MaxBody == 0 {
		e.MaxBody = defaultMaxBody
	}
	if len(e.ContentTypes) == 0 {
		e.ContentTypes = []string{"application/json"}
	}
	if e.Source == "" {
		e.Source = e.Provider
	}
	return &receiver{rt: rt, provider: p, endpoint: e}
}

// receiver answers the requests of one endpoint.
type receiver struct {
	rt       *Runtime
	provider Provider
	endpoint Endpoint
}

// refusal is an answer other than success.
type refusal struct {
	status int
	reason string // for the answer and the log
	cause  error  // for the log only; may be nil
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, no := rc.receive(w, r)
	if no != nil {
		rc.refuse(w, r, no)
		return
	}
	if answer.ContentType == "" {
		answer.ContentType = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", answer.ContentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	w.WriteHeader(answer.Status)
	w.Write(answer.Body) // the event is stored, whether the sender hears it or not
}

func (rc *receiver) receive(w http.ResponseWriter, r *http.Request) (*Answer, *refusal) {
	if no := rc.admit(w, r); no != nil {
		return nil, no
	}
	body, no := rc.read(w, r)
	if no != nil {
		return nil, no
	}
	received, err := rc.provider.Receive(r, body, rc.rt.cfg.Now())
	switch {
	case errors.Is(err, ErrNotAuthentic):
		return nil, &refusal{status: http.StatusUnauthorized, reason: err.Error()}
	case errors.Is(err, ErrMalformed):
		return nil, &refusal{status: http.StatusBadRequest, reason: err.Error()}
	case err != nil:
		return nil, &refusal{status: http.StatusInternalServerError, reason: "the provider failed", cause: err}
	}
	receipts, no := rc.deliver(r, received.Events)
	if no != nil {
		return nil, no
	}
	if received.Answer != nil {
		answer := *received.Answer
		return &answer, nil
	}
	return acknowledgement(receipts), nil
}

// admit checks what can be known before the body is read.
func (rc *receiver) admit(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &refusal{status: http.StatusMethodNotAllowed, reason: "webhooks are delivered by POST"}
	}
	if rc.endpoint.Local && !fromLoopback(r) {
		return &refusal{status: http.StatusForbidden, reason: "this endpoint takes unsigned requests, and only from this machine"}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !slices.Contains(rc.endpoint.ContentTypes, media) {
		return &refusal{status: http.StatusUnsupportedMediaType, reason: "want content type " + strings.Join(rc.endpoint.ContentTypes, " or ")}
	}
	if r.ContentLength > rc.endpoint.MaxBody {
		return rc.tooLarge(w)
	}
	return nil
}

func (rc *receiver) tooLarge(w http.ResponseWriter) *refusal {
	w.Header().Set("Connection", "close") // the rest of the body is not read
	return &refusal{status: http.StatusRequestEntityTooLarge, reason: fmt.Sprintf("the body is larger than %d bytes", rc.endpoint.MaxBody)}
}

// fromLoopback reports whether the request's peer is this machine.
func fromLoopback(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// read reads the body, at most one byte beyond the limit.
func (rc *receiver) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(io.LimitReader(r.Body, rc.endpoint.MaxBody+1))
	switch {
	case int64(len(body)) > rc.endpoint.MaxBody:
		return nil, rc.tooLarge(w)
	case err == nil && len(body) == 0 && r.ContentLength > 0, errors.Is(err, http.ErrBodyReadAfterClose):
		return nil, &refusal{status: http.StatusInternalServerError,
			reason: "the body was read before the webhook handler saw it: mount the handler outside middleware that parses bodies"}
	case err != nil:
		return nil, &refusal{status: http.StatusBadRequest, reason: "the body could not be read to its end", cause: err}
	}
	return body, nil
}

// deliver stores the events of a request, even if its sender hangs up.
func (rc *receiver) deliver(r *http.Request, events []Event) ([]Receipt, *refusal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), rc.rt.cfg.DeliverTimeout)
	defer cancel()
	var header http.Header
	receipts := make([]Receipt, 0, len(events))
	for _, event := range events {
		if event.Provider == "" {
			event.Provider = rc.endpoint.Provider
		}
		if event.Source == "" {
			event.Source = rc.endpoint.Source
		}
		if event.Header == nil {
			if header == nil {
				header = rc.header(r)
			}
			event.Header = header
		}
		receipt, err := rc.rt.Deliver(ctx, event)
		switch {
		case errors.Is(err, ErrInvalidEvent):
			return nil, &refusal{status: http.StatusBadRequest, reason: err.Error()}
		case err != nil:
			return nil, &refusal{status: http.StatusServiceUnavailable, reason: "the event could not be stored; deliver it again", cause: err}
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}

// header returns the request's headers without the provider's secret ones.
func (rc *receiver) header(r *http.Request) http.Header {
	h := r.Header.Clone()
	for _, name := range rc.endpoint.Secret {
		h.Del(name)
	}
	return h
}

// acknowledgement is the usual answer, alike for new events and duplicates but
// for the word.
func acknowledgement(receipts []Receipt) *Answer {
	body := struct {
		Status     string   `json:"status"`
		Executions []string `json:"executions"`
	}{Status: "accepted", Executions: []string{}}
	duplicates := 0
	for _, r := range receipts {
		if r.Duplicate {
			duplicates++
		}
		for i := range r.Executions {
			body.Executions = append(body.Executions, r.Executions[i].ID)
		}
	}
	if duplicates == len(receipts) && duplicates > 0 {
		body.Status = "duplicate"
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("restaq: encode acknowledgement: %v", err)) // strings only
	}
	return &Answer{ContentType: "application/json", Body: append(data, '\n')}
}

// refuse answers and logs a refusal.
func (rc *receiver) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	rc.rt.count(CountRefusal, rc.endpoint.Source, firstLine(no.reason, 80), 0)
	seen := &Refusal{Provider: rc.endpoint.Provider, Source: rc.endpoint.Source, Status: no.status, Reason: no.reason, Request: r}
	rc.rt.call("observer", func() { rc.rt.cfg.Observer.Refused(r.Context(), seen) })
	if rc.rt.cfg.Hooks.Refused != nil {
		rc.rt.call("hook", func() { rc.rt.cfg.Hooks.Refused(r.Context(), seen) })
	}
	log := rc.rt.cfg.Logger.With("provider", rc.endpoint.Provider, "source", rc.endpoint.Source, "status", no.status, "remote", r.RemoteAddr)
	if no.cause != nil {
		log = log.With("error", firstLine(errorText(no.cause), 200))
	}
	if no.status >= 500 {
		log.Error("restaq: webhook failed: " + no.reason)
	} else {
		log.Warn("restaq: webhook refused: " + firstLine(no.reason, 200))
	}
	if no.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryDelivery.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(no.status)
	data, err := json.Marshal(map[string]string{"error": storable(no.reason)})
	if err != nil {
		panic(fmt.Sprintf("restaq: encode refusal: %v", err)) // a string only
	}
	w.Write(append(data, '\n'))
}
