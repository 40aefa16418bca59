// Package shop has steps whose contexts get out, and others.
package shop

import (
	"context"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"

	"example.com/shop/work"
)

var current context.Context

type base struct{ ctx context.Context }

type Shop struct {
	base
	mu    sync.Mutex
	queue *work.Queue
	jobs  chan context.Context
	hooks []func()
	byID  map[string]context.Context
	wg    sync.WaitGroup
}

type Ctx = context.Context

//restaq:step
func (s *Shop) fields(ctx Ctx, id string) error { // want fields:"s.ctx.*current.*s.jobs.*AfterFunc"
	s.ctx = ctx      // want `step fields: its context is stored in s.ctx, which outlives it \(contextescape\)\n\thint: hand it to what needs it as a parameter`
	s.byID[id] = ctx // want `step fields: its context is stored in s.byID\[id\]`
	current = ctx    // want `step fields: its context is stored in current`
	inner, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s.base.ctx = inner        // want `its context is stored in s.base.ctx`
	s.base = base{ctx: inner} // want `its context is stored in s.base`
	b := &s.base
	b.ctx = ctx                                           // want `its context is stored in b.ctx`
	s.jobs <- ctx                                         // want `its context is sent on the channel s.jobs`
	s.hooks = append(s.hooks, func() { _ = ctx.Err() })   // want `its context is stored in s.hooks`
	time.AfterFunc(time.Minute, func() { _ = ctx.Err() }) // want `its context is used by a function that time.AfterFunc calls later`
	return nil
}

// A value receiver is a copy, what it points to is not.

//restaq:step
func (s Shop2) copied(ctx context.Context) error { // want copied:".*s.at"
	s.ctx = ctx
	s.queue = nil
	*s.at = ctx // want `its context is stored in \*s.at`
	return nil
}

type Shop2 struct {
	ctx   context.Context
	at    *context.Context
	queue *work.Queue
}

//restaq:step
func (s *Shop) helped(ctx context.Context) error { // want helped:"q.ctx.*work.Remember → remember.*q.jobs"
	s.queue.Keep(ctx)                     // want `step helped: its context is stored in q.ctx, which outlives it: work.Queue.Keep`
	work.Remember(ctx)                    // want `its context is stored in last, which outlives it: work.Remember → remember`
	s.keep(ctx)                           // want `its context is stored in s.ctx, which outlives it: Shop.keep`
	s.queue.Add(func() { _ = ctx.Err() }) // want `its context is sent on the channel q.jobs: work.Queue.Add`
	s.queue = work.With(ctx)              // want `its context is stored in s.queue`
	return nil
}

func (s *Shop) keep(ctx context.Context) { s.ctx = ctx } // want keep:"Shop.keep is stored in s.ctx"

//restaq:step
func (s *Shop) goes(ctx context.Context) error { // want goes:"goroutine.*Shop.keep"
	go func() { // want `step goes: its context is used by a goroutine that it does not wait for \(contextescape\)\n\thint: wait for it before the step returns; what is to go on behind the step takes context.WithoutCancel\(ctx\)`
		_ = ctx.Err()
	}()
	go s.keep(ctx)                        // want `its context is used by a goroutine` `its context is stored in s.ctx, which outlives it: Shop.keep`
	s.wg.Go(func() { _ = ctx.Err() })     // want `its context is used by a goroutine`
	go s.keep(context.WithoutCancel(ctx)) // on purpose
	go func() { _ = s.ctx }()             // not the step's
	<-ctx.Done()
	return nil
}

// Do's functions are steps, and functions around them outlive those.

//restaq:on github.push
func (s *Shop) pushed(ctx context.Context, push github.PushEvent) error { // want pushed:"s.ctx"
	var saved context.Context
	_, err := restaq.Do(ctx, "inline", func(ctx context.Context) (int, error) {
		saved = ctx // want `step inline: its context is stored in saved, which outlives it`
		inner := ctx
		return 0, inner.Err()
	})
	if err != nil {
		return err
	}
	_ = saved
	s.ctx = ctx // the handler's is another matter
	return nil
}

// What stays within the step.

type client struct {
	ctx  context.Context
	opts struct{ ctx context.Context }
}

//restaq:step timeout=1m
func (s *Shop) fine(ctx context.Context, ids []string) error {
	params := &work.Params{Context: ctx}
	params.Context = ctx
	params.Set(ctx)
	if err := work.Call(params); err != nil {
		return err
	}
	var c client
	c.ctx = ctx
	c.opts.ctx = ctx
	list := []context.Context{ctx}
	list[0] = ctx
	local := map[string]context.Context{}
	local["x"] = ctx
	queue := work.With(ctx)
	queue.Keep(ctx)
	if err := work.Do(ctx, func(ctx context.Context) error { return ctx.Err() }); err != nil {
		return err
	}
	retry := func() error { return ctx.Err() }
	if err := retry(); err != nil {
		return err
	}

	var wg sync.WaitGroup
	for range ids {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_ = ctx.Err()
		}()
	}
	wg.Wait()
	done := make(chan error, 1)
	go func() { done <- work.Call(params) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

//restaq:step
func (s *Shop) channel(ctx context.Context) error {
	contexts := make(chan context.Context, 1)
	var wg sync.WaitGroup
	wg.Go(func() { <-contexts })
	contexts <- ctx
	wg.Wait()
	defer func() { s.mu.Lock() }()
	return nil
}

//restaq:step
func (s *Shop) later(ctx context.Context) error { // want later:"keptParams"
	params := new(work.Params)
	params.Set(ctx)
	keptParams = params // want `its context is stored in keptParams`
	return nil
}

var keptParams *work.Params

//restaq:step
func (s *Shop) silenced(ctx context.Context) error { // want silenced:"s.ctx"
	s.ctx = ctx //restaq:ignore contextescape the test reads it
	return nil
}
