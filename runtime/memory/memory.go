// Package memory keeps events and executions in the memory of one process.
//
// It is the store for development, tests and handlers whose work may be
// forgotten when the process ends, and the reference for what a store does:
// one mutex, plain maps, and no rule of its own.
//
// Every unfinished execution (pending, running, or failed with a retry time)
// stands in its handler's queue under the one time that matters to a claim:
// when it is due, or when its lease runs out. Finished ones are in no queue, nor
// are those behind another one of their order key, so that claiming costs the
// same however many there are.
package memory

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Store is a restaq.Store in memory. All methods are safe for concurrent use.
type Store struct {
	mu         sync.Mutex // guards everything below; held by each method throughout
	now        func() time.Time
	events     map[eventKey]*event
	arrivals   int64 // events and executions stored so far
	executions map[string]*execution
	queues     map[string]*queue       // unfinished executions, by handler
	lines      map[order]*line         // executions with an order key that are unfinished or dead
	handlers   map[string]handlerEntry // the directory, by name
	secrets    map[string][]byte
	listeners  map[*listener]bool
	counts     map[restaq.Count]int64 // by all but N, which is 0
	audit      []restaq.AuditEntry    // oldest first
	turns      map[string]turn        // by name
}

var (
	_ restaq.Store     = (*Store)(nil)
	_ restaq.Lister    = (*Store)(nil)
	_ restaq.Pruner    = (*Store)(nil)
	_ restaq.Directory = (*Store)(nil)
	_ restaq.Keyed     = (*Store)(nil)
	_ restaq.Secrets   = (*Store)(nil)
	_ restaq.Clocked   = (*Store)(nil)
	_ restaq.Notifier  = (*Store)(nil)
	_ restaq.Counter   = (*Store)(nil)
	_ restaq.Meter     = (*Store)(nil)
	_ restaq.Auditor   = (*Store)(nil)
	_ restaq.Forgetter = (*Store)(nil)
	_ restaq.Turns     = (*Store)(nil)
)

// New returns an empty store that takes its time from time.Now.
func New() *Store {
	return &Store{
		now:        time.Now,
		events:     map[eventKey]*event{},
		executions: map[string]*execution{},
		queues:     map[string]*queue{},
		lines:      map[order]*line{},
		handlers:   map[string]handlerEntry{},
		secrets:    map[string][]byte{},
		listeners:  map[*listener]bool{},
		counts:     map[restaq.Count]int64{},
		turns:      map[string]turn{},
	}
}

// SetClock makes now the store's clock.
func (s *Store) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// FingerprintKey returns the store's key. Whoever asks first makes it.
func (s *Store) FingerprintKey(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read fingerprint key: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.secrets["fingerprint"]
	if key == nil {
		key = make([]byte, 32)
		rand.Read(key) // never fails
		s.secrets["fingerprint"] = key
	}
	return slices.Clone(key), nil
}

// Secret returns a secret by its name.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read secret %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.secrets[name]), nil
}

// SwapSecret replaces a secret.
func (s *Store) SwapSecret(ctx context.Context, name string, old, value []byte) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("swap secret %s: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.secrets[name]
	if !bytes.Equal(now, old) || (now == nil) != (old == nil) {
		return false, nil
	}
	if value == nil {
		delete(s.secrets, name)
	} else {
		s.secrets[name] = slices.Clone(value)
	}
	return true, nil
}

// handlerEntry is a handler of the directory. The detail is JSON, as in stores
// that outlive the process.
type handlerEntry struct {
	events []string
	detail []byte
}

// PutHandlers adds handlers to the directory or replaces them.
func (s *Store) PutHandlers(ctx context.Context, handlers []restaq.HandlerInfo) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("put handlers: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range handlers {
		detail, err := json.Marshal(h.HandlerDetail)
		if err != nil {
			return fmt.Errorf("put handlers: %s: %w", h.Name, err)
		}
		s.handlers[h.Name] = handlerEntry{slices.Clone(h.Events), detail}
	}
	return nil
}

// Handlers returns all handlers that were ever put, by name.
func (s *Store) Handlers(ctx context.Context) ([]restaq.HandlerInfo, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("list handlers: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []restaq.HandlerInfo
	for _, name := range slices.Sorted(maps.Keys(s.handlers)) {
		entry := s.handlers[name]
		h := restaq.HandlerInfo{Name: name, Events: slices.Clone(entry.events)}
		if err := json.Unmarshal(entry.detail, &h.HandlerDetail); err != nil {
			return nil, fmt.Errorf("list handlers: handler %s: %w", name, err)
		}
		all = append(all, h)
	}
	return all, nil
}

type eventKey struct{ source, id string }

// event is a stored event. It stays when its executions are pruned, so that
// its id is known until it is forgotten.
type event struct {
	restaq.Event
	arrival    int64
	executions []*execution
	unhandled  bool // never had an execution
}

// order names the executions that run one at a time.
type order struct{ handler, key string }

// execution is a stored execution. The embedded Execution's Event is filled in
// when it is handed out.
type execution struct {
	restaq.Execution
	event     *event
	orderKey  string
	place     int64 // under its order key: the order in which executions were stored
	owner     string
	token     int64
	kind      restaq.AttemptKind // of the attempt under way
	wish      restaq.AttemptKind // of the next attempt
	startedAt time.Time          // of the attempt under way
	attempts  []attempt
	steps     []restaq.StepRow // by attempt, then Seq
	due       time.Time        // when it may be claimed; zero if it is finished
	index     int              // in its queue; -1 if it is in none
}

// attempt is an ended attempt. Its token is 0 if not its own process ended it.
type attempt struct {
	restaq.AttemptRow
	token int64
}

// out is the execution as callers see it.
func (e *execution) out() restaq.Execution {
	x := e.Execution
	x.Event = e.event.Ref()
	if !x.Dead() {
		x.StoppedBy = ""
	}
	return x
}

// out is the event as callers see it: theirs to keep.
func (e *event) out(payload bool) restaq.Event {
	x := e.Event
	x.Payload, x.Header = nil, nil
	if payload {
		x.Payload, x.Header = slices.Clone(e.Payload), cloneHeader(e.Header)
	}
	return x
}

// cloneHeader copies a header; an empty one is nil.
func cloneHeader(h http.Header) http.Header {
	if len(h) == 0 {
		return nil
	}
	return h.Clone()
}

// time reads the store's clock. The caller holds mu.
func (s *Store) time() time.Time { return s.now().UTC().Truncate(time.Microsecond) }
