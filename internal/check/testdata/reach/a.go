// Package reach has steps that reach their own wrapper.
package reach

import "context"

type T struct{}

//restaq:step
func (t *T) direct(ctx context.Context, n int) error {
	if n > 0 {
		return t.directStep(ctx, n-1)
	}
	return nil
}

//restaq:step
func (t *T) through(ctx context.Context) error { return t.helper(ctx) }

func (t *T) helper(ctx context.Context) error {
	run := func() error { return deeper(ctx, t) }
	return run()
}

func deeper(ctx context.Context, t *T) error { return t.throughStep(ctx) }

//restaq:step
func ping(ctx context.Context) error { return pongStep(ctx) }

//restaq:step
func pong(ctx context.Context) error { return pingStep(ctx) }

//restaq:step key=n
func byValue(ctx context.Context, n int) error {
	next := byValueStep
	return next(ctx, n-1)
}

// Recursion without the wrapper is nobody's business, nor is the wrapper of
// another type with the same names.

//restaq:step
func factorial(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return 1, nil
	}
	m, err := factorial(ctx, n-1)
	return n * m, err
}

type U struct{}

//restaq:step name=u-direct
func (u U) direct(ctx context.Context, t *T) error { return t.directStep(ctx, 1) }

type Embeds struct{ *T }

//restaq:step name=embeds
func (e Embeds) outer(ctx context.Context) error { return e.directStep(ctx, 1) }

// These reach it through what is set up before main begins.

type App struct{}

//restaq:step name=app-restart
func (a *App) restart(ctx context.Context) error { return a.setUp() }

func (a *App) setUp() error { return a.RegisterHandlers(nil) }

//restaq:step
func throughVariable(ctx context.Context) error {
	_ = ready
	return nil
}

var ready = setUp()

func setUp() bool { return RegisterHandlers(nil) == nil }

//restaq:step name=other-app
func (a *U) other(ctx context.Context) error { return new(App).setUp() }
