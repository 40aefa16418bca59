//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// answer is what a worker said to a delivery.
type answer struct {
	status     int
	again      string   // Retry-After
	Status     string   `json:"status"` // accepted or duplicate
	Executions []string `json:"executions"`
}

// client posts webhooks.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// senderPatience is how long a sender waits for an answer, as providers do.
const senderPatience = 4 * time.Second

// post delivers an order to a worker, once. The caller bounds ctx.
func post(ctx context.Context, p *process, o order) (*answer, error) {
	o.Object, o.Type = "event", "chaos.order"
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	a := &answer{status: response.StatusCode, again: response.Header.Get("Retry-After")}
	if a.status != http.StatusOK {
		return a, fmt.Errorf("answer %d: %s", a.status, data)
	}
	return a, json.Unmarshal(data, a)
}

// sendings are the events that were sent, and what their senders know.
type sendings struct {
	mu       sync.Mutex
	sent     map[string]bool
	acked    map[string][]string // event → the executions that each 2xx named
	failures int                 // deliveries without a 2xx
	order    []string            // acknowledged executions, in order
	rude     map[int]int         // answers other than a 2xx or a 503 with Retry-After, by status

	refused atomic.Int64 // answers with 503 and Retry-After
}

func newSendings() *sendings {
	return &sendings{sent: make(map[string]bool), acked: make(map[string][]string), rude: make(map[int]int)}
}

// acknowledged returns one of the last n acknowledged executions, or "".
func (s *sendings) acknowledged(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return ""
	}
	n = min(n, len(s.order))
	return s.order[len(s.order)-1-rand.N(n)]
}

func (s *sendings) counts() (sent, acked, failures int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sent), len(s.acked), s.failures
}

// deliver posts an order to whatever worker there is until one takes it, or
// ctx ends.
func (f *fleet) deliver(ctx context.Context, s *sendings, o order) {
	s.mu.Lock()
	s.sent[o.ID] = true
	s.mu.Unlock()
	for ctx.Err() == nil {
		p := f.anyone()
		if p == nil || p.url == "" {
			_ = pause(ctx, 5*time.Millisecond)
			continue
		}
		limited, cancel := context.WithTimeout(ctx, senderPatience)
		a, err := post(limited, p, o)
		cancel()
		s.mu.Lock()
		if err == nil {
			s.acked[o.ID] = append(s.acked[o.ID], a.Executions...)
			s.order = append(s.order, a.Executions...)
			s.mu.Unlock()
			return
		}
		s.failures++
		if a != nil && a.status == http.StatusServiceUnavailable && a.again != "" {
			s.refused.Add(1)
		} else if a != nil {
			s.rude[a.status]++
		}
		s.mu.Unlock()
		_ = pause(ctx, 20*time.Millisecond)
	}
}

// first delivers a worker's first event, with which it comes to know its store.
func (f *fleet) first(s *sendings, p *process) {
	f.t.Helper()
	o := order{ID: "evt_first_" + p.cfg.Name}
	s.sent[o.ID] = true
	until(f.t, "first delivery to "+p.cfg.Name, func() bool {
		ctx, cancel := context.WithTimeout(f.t.Context(), senderPatience)
		defer cancel()
		a, err := post(ctx, p, o)
		if err == nil {
			s.acked[o.ID] = a.Executions
		}
		return err == nil
	})
}

// load keeps senders posting until ctx ends: every seventh order fails once,
// every tenth is delivered again. Each sender sends at most one new event per
// beat. It returns when every event that was begun to be sent has been taken,
// or patience has run out.
func (f *fleet) load(ctx context.Context, s *sendings, senders int, beat time.Duration, work int) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, cancel) })()
	var group sync.WaitGroup
	for i := range senders {
		group.Go(func() {
			tick := time.NewTicker(beat)
			defer tick.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				o := order{ID: fmt.Sprintf("evt_%d_%d", i, n), Work: work, Pad: strings.Repeat("x", f.pad)}
				if n%7 == 3 {
					o.FailOnce = stepNames[n%len(stepNames)]
				}
				f.deliver(last, s, o)
				if n%10 == 5 {
					f.deliver(last, s, o)
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	}
	group.Wait()
}

// sightings are rows of histories as they were first read.
type sightings map[string]map[string]string // execution → row's key → row

// watch reads histories at random until ctx ends. A store out of reach is no
// matter.
func (f *fleet) watch(ctx context.Context, s *sendings) sightings {
	seen := make(sightings)
	for pause(ctx, 20*time.Millisecond) == nil {
		id := s.acknowledged(1000)
		if id == "" {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		h, err := f.store.History(limited, id)
		cancel()
		if err != nil {
			continue
		}
		rows := seen[id]
		if rows == nil {
			rows = make(map[string]string)
			seen[id] = rows
		}
		for key, row := range rowsOf(h) {
			if _, known := rows[key]; !known {
				rows[key] = row
			}
		}
	}
	return seen
}
