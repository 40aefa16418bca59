package restaq

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Notifier carries word between the processes on a store, so that they need
// not wait for their next poll. Nothing depends on it: a notice may be lost,
// doubled or late, and polling finds what it would have told.
type Notifier interface {
	// Notify tells all processes that listen, this one included.
	Notify(ctx context.Context, n Notice) error

	// Listen calls fn, from one goroutine, for each notice, until ctx ends; it
	// reconnects by itself. After a gap in which notices may have been missed
	// it calls fn with the zero Notice.
	Listen(ctx context.Context, fn func(n Notice))
}

// Notice is word of something that another process may have to act on.
type Notice struct {
	// From is the owner that the notice comes from; "" if unknown.
	From string `json:"from,omitempty"`

	// Handlers have due work. If both lists are empty, any may have.
	Handlers []string `json:"handlers,omitempty"`

	// Cancelled executions were cancelled.
	Cancelled []string `json:"cancelled,omitempty"`
}

// notifyTimeout bounds one call of Notify.
const notifyTimeout = 5 * time.Second

// notices collects what is to be told. At most one call of Notify is under
// way; what comes up meanwhile shares the next one.
type notices struct {
	mu        sync.Mutex
	sent      chan struct{} // closed when all is told; nil if nothing is being told
	handlers  map[string]bool
	cancelled []string
}

// pend notes that the store has due work of a handler which did not begin at
// once. Whoever can start it gets to know: this process if it runs and has a
// slot, else the others.
func (rt *Runtime) pend(handler string) {
	if !rt.has(handler) || !rt.work.pending(handler) {
		rt.tellDue(handler)
	}
}

// pendAfter is pend at the end of an attempt, whose slot is then free.
func (rt *Runtime) pendAfter(handler string) {
	if !rt.work.hear() {
		rt.tellDue(handler)
	}
}

// tellDue tells the other processes that a handler has due work.
func (rt *Runtime) tellDue(handler string) {
	rt.tell(func(n *notices) {
		if n.handlers == nil {
			n.handlers = make(map[string]bool)
		}
		n.handlers[handler] = true
	})
}

// tell adds to what is told to the other processes.
func (rt *Runtime) tell(add func(n *notices)) {
	notifier, ok := rt.raw.(Notifier)
	if !ok {
		return
	}
	n := &rt.notices
	n.mu.Lock()
	defer n.mu.Unlock()
	add(n)
	if n.sent == nil {
		n.sent = make(chan struct{})
		go rt.send(notifier)
	}
}

// send tells what there is to tell, until there is no more.
func (rt *Runtime) send(notifier Notifier) {
	n := &rt.notices
	for {
		n.mu.Lock()
		notice := Notice{From: rt.owner, Cancelled: n.cancelled}
		for h := range n.handlers {
			notice.Handlers = append(notice.Handlers, h)
		}
		n.handlers, n.cancelled = nil, nil
		if len(notice.Handlers) == 0 && len(notice.Cancelled) == 0 {
			close(n.sent)
			n.sent = nil
			n.mu.Unlock()
			return
		}
		n.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
		if err := notifier.Notify(ctx, notice); err != nil {
			rt.cfg.Logger.Debug("restaq: cannot notify other processes; they will poll", "error", firstLine(errorText(err), 200))
		}
		cancel()
	}
}

// flush waits until all is told, up to a time.
func (n *notices) flush() {
	n.mu.Lock()
	sent := n.sent
	n.mu.Unlock()
	if sent == nil {
		return
	}
	patience := time.NewTimer(notifyTimeout)
	defer patience.Stop()
	select {
	case <-sent:
	case <-patience.C:
	}
}

// listen acts on the notices of other processes until ctx ends.
func (rt *Runtime) listen(ctx context.Context) {
	notifier, ok := rt.raw.(Notifier)
	if !ok {
		return
	}
	notifier.Listen(ctx, func(n Notice) {
		if n.From == rt.owner {
			return
		}
		for _, id := range n.Cancelled {
			rt.cutCancelled(id)
		}
		if len(n.Handlers) == 0 && len(n.Cancelled) == 0 || slices.ContainsFunc(n.Handlers, rt.has) {
			rt.work.hear()
		}
	})
}

// cutCancelled cuts off the execution's attempt in this process, and reports
// whether there was one.
func (rt *Runtime) cutCancelled(id string) bool {
	rt.work.mu.Lock()
	a := rt.work.attempts[id]
	rt.work.mu.Unlock()
	if a != nil {
		a.cut(ErrCancelled)
	}
	return a != nil
}
