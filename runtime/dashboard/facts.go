package dashboard

import (
	"context"
	"slices"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/redact"
)

// factsFor is how long what is read of the store for all viewers is good, so
// that many open pages cost the store no more than one.
const factsFor = 2 * time.Second

// facts are answers of the store that all viewers share.
type facts struct {
	mu  sync.Mutex
	all map[string]*fact
}

type fact struct {
	mu    sync.Mutex
	value any
	until time.Time
}

// shared returns what read returns, or what it returned to somebody a moment
// ago. Of callers at the same time one reads. Errors are not kept.
func shared[T any](f *facts, key string, read func() (T, error)) (T, error) {
	f.mu.Lock()
	if f.all == nil || len(f.all) > 1000 { // filters are many
		f.all = make(map[string]*fact)
	}
	one := f.all[key]
	if one == nil {
		one = new(fact)
		f.all[key] = one
	}
	f.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if time.Now().Before(one.until) {
		return one.value.(T), nil
	}
	v, err := read()
	if err == nil {
		one.value, one.until = v, time.Now().Add(factsFor)
	}
	return v, err
}

// handlers returns what is known of handlers, by name.
func (s *server) handlers(ctx context.Context) ([]restaq.HandlerInfo, error) {
	return shared(&s.facts, "handlers", func() ([]restaq.HandlerInfo, error) { return s.rt.Handlers(ctx) })
}

// maxCount is where counting stops, as "10,000+".
const maxCount = 10_000

// Tally is how many of something there are.
type Tally struct {
	N    int
	More bool // than N
}

// String is "12", "10,000+", or "?" if it could not be found out.
func (t Tally) String() string {
	switch {
	case t.N < 0:
		return "?"
	case t.More:
		return grouped(t.N) + "+"
	}
	return grouped(t.N)
}

// tally counts what a filter finds. Counting that takes long is given up: the
// page is worth more than the number.
func (s *server) tally(ctx context.Context, f restaq.Filter) Tally {
	return s.tallyWithin(ctx, f, 2*time.Second)
}

func (s *server) tallyWithin(ctx context.Context, f restaq.Filter, d time.Duration) Tally {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	n, err := s.rt.Count(ctx, f, maxCount+1)
	switch {
	case err != nil:
		return Tally{N: -1}
	case n > maxCount:
		return Tally{maxCount, true}
	}
	return Tally{N: n}
}

// rules returns the fields that are masked in what belongs to the handlers named.
// Without names, they are those of all handlers: an event may be for several.
func (s *server) rules(infos []restaq.HandlerInfo) redact.Rules {
	names := slices.Clone(s.cfg.Redact)
	for _, info := range infos {
		names = append(names, info.Redact...)
	}
	slices.Sort(names)
	return redact.New(slices.Compact(names)...)
}

// masks remembers the errors of executions whose events have masked fields, as
// they are shown: to mask one, its event has to be read.
type masks struct {
	mu    sync.Mutex
	known map[masked]string
}

type masked struct{ execution, text string }

// maxMasks bounds what is remembered.
const maxMasks = 10_000

// errorOf returns an execution's error as it is shown.
func (s *server) errorOf(ctx context.Context, rules redact.Rules, e *restaq.Execution) string {
	if e.Error == "" || rules.Empty() {
		return e.Error
	}
	key := masked{e.ID, e.Error}
	s.masks.mu.Lock()
	text, ok := s.masks.known[key]
	s.masks.mu.Unlock()
	if ok {
		return text
	}
	h, err := s.rt.Inspect(ctx, e.ID)
	if err != nil {
		return redact.Mask // it may be gone; the next look may fare better
	}
	_, secrets, err := rules.JSON(h.Payload, nil)
	if text = secrets.Mask(e.Error); err != nil && len(h.Payload) > 0 {
		text = redact.Mask
	}
	s.masks.mu.Lock()
	defer s.masks.mu.Unlock()
	if s.masks.known == nil || len(s.masks.known) >= maxMasks {
		s.masks.known = make(map[masked]string)
	}
	s.masks.known[key] = text
	return text
}
