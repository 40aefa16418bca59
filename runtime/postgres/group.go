package postgres

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// maxGroup and maxGroupBytes bound what shares a commit: calls, and bytes that
// they carry. A single call may carry more.
const (
	maxGroup      = 512
	maxGroupBytes = 4 << 20
)

// group lets calls that are made at once share a commit.
//
// A call that finds fewer than lanes commits under way goes at once, alone, in
// its caller's goroutine. The others queue up; whoever ends a commit takes what
// has queued up meanwhile. So nothing ever waits in order to be combined.
//
//	        fewer than lanes under way
//	do ──┬──────────────────────────────▶ commit alone ──┐
//	     │                                               │ next
//	     └──▶ queue ──▶ commit together ◀────────────────┘
//	            │             │     ▲
//	            ▼             └─────┘ next
//	    caller gives up
type group struct {
	lanes  int
	commit func(ctx context.Context, calls []*call)
	seen   func(calls int) // what a commit holds; nil if nobody wants to know

	// reading is held while a commit reads what calls point to, and to leave.
	reading sync.RWMutex

	mu    sync.Mutex
	busy  int     // lanes in use
	queue []*call // not empty only if all lanes are in use
	spare []*call // an empty queue to come
}

// call is one caller's part of a commit.
type call struct {
	kind kind
	in   any
	size int // bytes that it carries, about

	// committed says that the commit did all that was asked. A call that was
	// neither committed nor got an error has done nothing; its caller goes the
	// careful way.
	committed bool
	out       any
	err       error

	done chan struct{} // of capacity 1: the call has ended; nil if it goes alone
	left atomic.Bool   // the caller has gone

	// What in points to, for the most frequent calls.
	lookup lookupCall
	record recordCall
	finish finishCall
}

// pooled are calls whose callers have what they asked for.
var pooled = sync.Pool{New: func() any { return new(call) }}

// newCall returns a call of a kind, about of a size. Its user says what it is
// about, and frees it.
func newCall(k kind, size int) *call {
	c := pooled.Get().(*call)
	c.kind, c.size = k, size
	return c
}

// free ends the use of a call, unless a commit may still read it.
func (c *call) free() {
	if c.left.Load() {
		return
	}
	c.in, c.out, c.err, c.committed = nil, nil, nil, false
	c.lookup, c.record, c.finish = lookupCall{}, recordCall{}, finishCall{}
	pooled.Put(c)
}

// do has a call committed and returns when that has ended, or when ctx ends. A
// commit of this call alone then ends too. One that others share goes on: the
// call may have been committed, and its caller leaves it alone. What it points
// to is the caller's again.
func (g *group) do(ctx context.Context, c *call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.busy < g.lanes {
		g.busy++
		g.mu.Unlock()
		defer g.next()
		g.run(ctx, []*call{c})
		return c.err
	}
	if c.done == nil {
		c.done = make(chan struct{}, 1)
	}
	g.queue = append(g.queue, c)
	g.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	g.reading.Lock()
	c.left.Store(true)
	g.reading.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, c); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	}
	return ctx.Err()
}

// read calls build with those of calls whose callers are still there, and stay
// until it returns: a caller that has gone has perhaps changed what its call
// points to.
func (g *group) read(calls []*call, build func(calls []*call)) {
	g.reading.RLock()
	defer g.reading.RUnlock()
	gone := func(c *call) bool { return c.left.Load() }
	if slices.ContainsFunc(calls, gone) {
		calls = slices.DeleteFunc(slices.Clone(calls), gone)
	}
	build(calls)
}

// run commits calls.
func (g *group) run(ctx context.Context, calls []*call) {
	if g.seen != nil {
		g.seen(len(calls))
	}
	g.commit(ctx, calls)
}

// next frees a lane, or has it go on with what has queued up.
func (g *group) next() {
	if calls := g.take(); calls != nil {
		go func() {
			for calls != nil {
				g.run(context.Background(), calls)
				for _, c := range calls {
					c.done <- struct{}{}
				}
				g.reuse(calls)
				calls = g.take()
			}
		}()
	}
}

// take takes what has queued up. If that is nothing, the lane is free.
func (g *group) take() []*call {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.busy--
		return nil
	}
	n, size := 0, 0
	for n < len(g.queue) && n < maxGroup && (n == 0 || size+g.queue[n].size <= maxGroupBytes) {
		size += g.queue[n].size
		n++
	}
	if n == len(g.queue) {
		calls := g.queue
		g.queue, g.spare = g.spare, nil
		return calls
	}
	calls := slices.Clone(g.queue[:n])
	g.queue = slices.Delete(g.queue, 0, n)
	return calls
}

// reuse keeps a queue that is done with.
func (g *group) reuse(calls []*call) {
	clear(calls)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spare = calls[:0]
}
