// Package shop recovers in many ways.
package shop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"

	"example.com/shop/guard"
)

type Shop struct{ panics int }

//restaq:step
func (s *Shop) book(ctx context.Context) (err error) { // want book:"shields from panics"
	defer func() { _ = recover() }() // a step may
	return nil
}

//restaq:on github.push
func (s *Shop) Swallows(ctx context.Context, push github.PushEvent) error { // want Swallows:"shields from panics"
	defer func() {
		if r := recover(); r != nil { // want `handler shop.Shop.Swallows: recovers from a panic and hides it, so that the attempt counts as completed \(recovered\)\n\thint: leave the panic to the runtime`
			slog.Error("panic", "reason", r)
		}
	}()
	return s.bookStep(ctx)
}

//restaq:on github.push
func (s *Shop) SetsLocal(ctx context.Context, push github.PushEvent) error { // want SetsLocal:"shields from panics"
	var err error
	defer func() {
		if r := recover(); r != nil { // want `handler shop.Shop.SetsLocal: recovers from a panic and hides it`
			err = fmt.Errorf("panic: %v", r) // comes too late
		}
	}()
	err = s.bookStep(ctx)
	return err
}

//restaq:on github.push
func (s *Shop) SetsResult(ctx context.Context, push github.PushEvent) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return s.bookStep(ctx)
}

//restaq:on github.push
func (s *Shop) PanicsAgain(ctx context.Context, push github.PushEvent) error {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("panic", "reason", r)
			panic(r)
		}
	}()
	return s.bookStep(ctx)
}

//restaq:on github.push
func (s *Shop) Exits(ctx context.Context, push github.PushEvent) error {
	defer func() {
		if r := recover(); r != nil {
			os.Exit(2)
		}
	}()
	return s.bookStep(ctx)
}

//restaq:on github.push
func (s *Shop) Methods(ctx context.Context, push github.PushEvent) (err error) { // want Methods:"shields from panics"
	defer guard.Into(&err)
	defer guard.Loudly()
	defer s.count()                           // want `handler shop.Shop.Methods: recovers from a panic and hides it, so that the attempt counts as completed: Shop.Methods → Shop.count`
	defer guard.Quietly()                     // want `hides it, .*: Shop.Methods → guard.Quietly`
	defer recover()                           // has no effect
	defer func() { s.helperThatRecovers() }() // has none, either
	return s.bookStep(ctx)
}

func (s *Shop) count() { // want count:"swallows panics"
	if recover() != nil {
		s.panics++
	}
}

func (s *Shop) helperThatRecovers() { _ = recover() } // want helperThatRecovers:"swallows panics"

//restaq:on github.push
func (s *Shop) Closures(ctx context.Context, push github.PushEvent) error {
	func() {
		defer func() { _ = recover() }() // want `handler shop.Shop.Closures: recovers from a panic and hides it`
		if err := s.bookStep(ctx); err != nil {
			slog.Warn("not booked", "error", err)
		}
	}()
	var failed error
	func() {
		defer func() {
			if r := recover(); r != nil {
				failed = fmt.Errorf("panic: %v", r) // is looked at below
			}
		}()
		failed = s.markStep(ctx, "zero")
	}()
	func() {
		defer func() { _ = recover() }() // no step in here
		parse("x")
	}()
	return failed
}

func parse(s string) {
	if s == "" {
		panic("empty")
	}
}

// settle is not a handler, but runs steps for one.
func (s *Shop) settle(ctx context.Context) (n int, err error) { // want settle:"shields from panics"
	defer func() {
		_ = recover() // want `^Shop.settle, which runs steps, recovers from a panic and hides it`
	}()
	return 1, s.bookStep(ctx)
}

// lookUp runs none.
func (s *Shop) lookUp() { // want lookUp:"shields from panics"
	defer func() { _ = recover() }()
	parse("y")
}

//restaq:step key=id
func (s *Shop) mark(ctx context.Context, id string) error { return nil }

func (s *Shop) markOne(ctx context.Context) error { return s.markStep(ctx, "one") }

//restaq:on github.push
func (s *Shop) Shielded(ctx context.Context, push github.PushEvent) error {
	guard.Safely(ctx, s.markOne)                        // want `handler shop.Shop.Shielded: gives steps to guard.Safely, which recovers from their panics and hides them`
	guard.Safely(ctx, func(ctx context.Context) error { // want `gives steps to guard.Safely`
		return s.markStep(ctx, "two")
	})
	guard.Safely(ctx, func(context.Context) error { return errors.New("no step") })
	if _, err := restaq.Do(ctx, "inline", func(ctx context.Context) (int, error) {
		defer func() { _ = recover() }() // a step may
		return 1, nil
	}); err != nil {
		return err
	}
	s.lookUp()
	return guard.Try(func() error { return s.markStep(ctx, "three") })
}

//restaq:on github.push
func (s *Shop) Silenced(ctx context.Context, push github.PushEvent) error { // want Silenced:"shields from panics"
	defer func() {
		_ = recover() //restaq:ignore recovered the plug-in panics when it has nothing to do
	}()
	return s.bookStep(ctx)
}
