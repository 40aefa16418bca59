package keys

import (
	"context"
	"errors"
	"sync"

	restaq "github.com/restaq/restaq/runtime"
)

// Fine's steps are called at most once on each path.
type Fine struct{ ids []string }

//restaq:step name=f1
func (f *Fine) branches(ctx context.Context, id string) error { return nil }

//restaq:step name=f2
func (f *Fine) leavesLoop(ctx context.Context) error { return nil }

//restaq:step name=f3 key=id
func (f *Fine) keyed(ctx context.Context, id string) error { return nil }

//restaq:step name=f4
func (f *Fine) deferred(ctx context.Context) error { return nil }

//restaq:step name=f5
func (f *Fine) closure(ctx context.Context) error { return nil }

//restaq:step name=f6
func (f *Fine) inTransaction(ctx context.Context) error { return nil }

//restaq:step name=f7
func (f *Fine) afterPanic(ctx context.Context) error { return nil }

//restaq:step name=f8
func (f *Fine) once(ctx context.Context) error { return nil }

//restaq:on b.a
func (f *Fine) Branches(ctx context.Context, e restaq.Event) error {
	switch e.ID {
	case "":
		return f.branchesStep(ctx, "a")
	case "x":
		if err := f.branchesStep(ctx, "b"); err != nil {
			return err
		}
	default:
		if e.Source == "" {
			return f.branchesStep(ctx, "c")
		} else if e.Provider == "" {
			_ = f.branchesStep(ctx, "d")
		}
	}
	return nil
}

//restaq:on b.b
func (f *Fine) Loops(ctx context.Context, e restaq.Event) error {
	for _, id := range f.ids {
		if err := f.keyedStep(ctx, id); err != nil {
			return f.leavesLoopStep(ctx)
		}
		if id == "" {
			_ = f.closureStep(ctx)
			break
		}
	}
outer:
	for {
		for range f.ids {
			if e.ID == "" {
				_ = f.deferredStep(ctx)
				break outer
			}
			continue outer
		}
	}
	return nil
}

//restaq:on b.c
func (f *Fine) Closures(ctx context.Context, e restaq.Event) error {
	defer func() { _ = f.deferredStep(ctx) }()
	send := func() error { return f.closureStep(ctx) }
	if e.ID == "" {
		return send()
	}
	if err := send(); err != nil {
		return err
	}
	var once sync.Once
	once.Do(func() { _ = f.onceStep(ctx) })
	return with(ctx, func() error { return f.inTransactionStep(ctx) })
}

func with(ctx context.Context, do func() error) error {
	if ctx.Err() != nil {
		return errors.New("late")
	}
	return do()
}

//restaq:on b.d
func (f *Fine) Panics(ctx context.Context, e restaq.Event) error {
	if e.ID == "" {
		_ = f.afterPanicStep(ctx)
		panic("no id")
	}
	return f.afterPanicStep(ctx)
}

// run is called by nobody's handler: each handler is a run of its own.
func run(ctx context.Context, f *Fine) {
	_ = f.Branches(ctx, restaq.Event{})
	_ = f.Branches(ctx, restaq.Event{})
}

//restaq:step name=f9
func (f *Fine) methodValue(ctx context.Context) error { return nil }

//restaq:step name=f10
func (f *Fine) oneOfTwo(ctx context.Context) error { return nil }

//restaq:step name=f11
func (f *Fine) otherOfTwo(ctx context.Context) error { return nil }

//restaq:on b.e
func (f *Fine) Values(ctx context.Context, e restaq.Event) error {
	send := f.methodValueStep
	if err := send(ctx); err != nil {
		return err
	}
	step := f.oneOfTwoStep
	if e.ID == "" {
		step = f.otherOfTwoStep
	}
	return step(ctx)
}
