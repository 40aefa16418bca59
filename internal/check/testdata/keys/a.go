// Package keys has steps that are called more than once in an execution.
package keys

import (
	"context"
	"slices"
	"sync"

	restaq "github.com/restaq/restaq/runtime"
)

type T struct{ ids []string }

func (t *T) group() *Group { return nil }

type Group struct{}

func (g *Group) Wait() error { return nil }

//restaq:step
func (t *T) inLoop(ctx context.Context, id string) error { return nil }

//restaq:step
func (t *T) inRange(ctx context.Context, n int) error { return nil }

//restaq:step
func (t *T) inGo(ctx context.Context) error { return nil }

//restaq:step
func (t *T) inGoLiteral(ctx context.Context) error { return nil }

//restaq:step
func (t *T) inWaitGroup(ctx context.Context) error { return nil }

//restaq:step
func (t *T) twice(ctx context.Context) error { return nil }

//restaq:step
func (t *T) twiceThroughHelper(ctx context.Context) error { return nil }

//restaq:step
func (t *T) inHelperLoop(ctx context.Context) error { return nil }

//restaq:step
func (t *T) inCallback(ctx context.Context) error { return nil }

//restaq:step
func (t *T) inClosure(ctx context.Context) error { return nil }

//restaq:step
func (t *T) byGoto(ctx context.Context) error { return nil }

//restaq:step
func (t *T) inRetry(ctx context.Context) error { return nil }

//restaq:step
func (t *T) storedValue(ctx context.Context) error { return nil }

//restaq:step
func (t *T) recursive(ctx context.Context) error { return nil }

//restaq:step
func packageLevel(ctx context.Context) error { return nil }

//restaq:step
func (t *T) nestedAndDirect(ctx context.Context) error { return nil }

//restaq:step
func (t *T) outer(ctx context.Context) error { return t.nestedAndDirectStep(ctx) }

//restaq:on a.a
func (t *T) Loop(ctx context.Context, e restaq.Event) error {
	for i := 0; i < 3; i++ {
		if err := t.inLoopStep(ctx, t.ids[i]); err != nil {
			return err
		}
	}
	for n := range 3 {
		_ = t.inRangeStep(ctx, n)
	}
	return nil
}

//restaq:on a.b
func (t *T) Concurrent(ctx context.Context, e restaq.Event) error {
	go t.inGoStep(ctx)
	go func() { _ = t.inGoLiteralStep(ctx) }()
	var wg sync.WaitGroup
	wg.Go(func() { _ = t.inWaitGroupStep(ctx) })
	wg.Wait()
	return nil
}

//restaq:on a.c
func (t *T) Twice(ctx context.Context, e restaq.Event) error {
	if err := t.twiceStep(ctx); err != nil {
		return err
	}
	if e.ID == "" {
		return t.twiceStep(ctx)
	}
	if err := t.helper(ctx); err != nil {
		return err
	}
	return t.helper(ctx)
}

func (t *T) helper(ctx context.Context) error { return t.twiceThroughHelperStep(ctx) }

//restaq:on a.d
func (t *T) Various(ctx context.Context, e restaq.Event) error {
	if err := t.each(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(t.ids, func(id string) bool { return t.inCallbackStep(ctx) == nil }) {
		return nil
	}
	send := func() error { return t.inClosureStep(ctx) }
	if err := send(); err != nil {
		return send()
	}
	if err := retry(func() error { return t.inRetryStep(ctx) }); err != nil {
		return err
	}
	steps := []func(context.Context) error{t.storedValueStep}
	_ = steps
	return t.walk(ctx, 3)
}

func (t *T) each(ctx context.Context) error {
	for range t.ids {
		_ = t.inHelperLoopStep(ctx)
	}
	return nil
}

func retry(do func() error) (err error) {
	for range 3 {
		if err = do(); err == nil {
			return nil
		}
	}
	return err
}

func (t *T) walk(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	_ = t.recursiveStep(ctx)
	return t.walk(ctx, n-1)
}

//restaq:on a.e
func (t *T) Goto(ctx context.Context, e restaq.Event) error {
again:
	if err := t.byGotoStep(ctx); err != nil {
		goto again
	}
	return nil
}

//restaq:on a.f
func Function(ctx context.Context, e restaq.Event) error {
	defer packageLevelStep(ctx)
	return packageLevelStep(ctx)
}

//restaq:on a.g
func (t *T) Nested(ctx context.Context, e restaq.Event) error {
	if err := t.outerStep(ctx); err != nil {
		return err
	}
	return t.nestedAndDirectStep(ctx)
}

//restaq:step
func (t *T) methodValue(ctx context.Context, id string) error { return nil }

//restaq:step
func (t *T) valueInLoop(ctx context.Context) error { return nil }

//restaq:step
func (t *T) addressTaken(ctx context.Context) error { return nil }

//restaq:step
func inVariable(ctx context.Context) error { return nil }

var variable = inVariableStep

//restaq:on a.h
func (t *T) Values(ctx context.Context, e restaq.Event) error {
	f := t.methodValueStep
	if err := f(ctx, "a"); err != nil {
		return f(ctx, "b")
	}
	g := t.valueInLoopStep
	for range 2 {
		_ = g(ctx)
	}
	h := t.addressTakenStep
	p := &h
	return (*p)(ctx)
}

// The cycle is entered at its second function.
func odd(f func(), n int) {
	if n > 0 {
		even(f, n-1)
	}
}

func even(f func(), n int) {
	f()
	if n > 0 {
		odd(f, n-1)
	}
}

//restaq:step
func inCycle(ctx context.Context) error { return nil }

//restaq:on a.i
func (t *T) Cycle(ctx context.Context, e restaq.Event) error {
	even(func() { _ = inCycleStep(ctx) }, 3)
	return nil
}
