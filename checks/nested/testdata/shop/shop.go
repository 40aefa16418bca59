// Package shop has steps that run steps.
package shop

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"

	"example.com/shop/mail"
)

type Shop struct {
	sender *mail.Sender
	send   func(ctx context.Context, to string) error
}

//restaq:on github.push
func (s *Shop) Pushed(ctx context.Context, push github.PushEvent) error {
	if err := s.settleStep(ctx); err != nil {
		return err
	}
	return s.notify(ctx) // a handler may
}

//restaq:step
func (s *Shop) settle(ctx context.Context) error {
	if err := s.bookStep(ctx, "x"); err != nil { // want `step settle: runs step book within itself \(nested\)\n\thint: run it from the handler, or call its function, Shop.book, to have it as a part of this step`
		return err
	}
	if err := s.book(ctx, "x"); err != nil { // the function itself is fine
		return err
	}
	if err := mail.SendStep(ctx, "x"); err != nil { // want `step settle: runs step send within itself`
		return err
	}
	if err := s.sender.SendLaterStep(ctx, "x"); err != nil { // want `step settle: runs step send-later within itself`
		return err
	}
	if err := mail.Plain(ctx, "x"); err != nil {
		return err
	}
	return mail.All(ctx, "x") // want `step settle: runs a step within itself: mail.All → one → SendStep \(nested\)`
}

//restaq:step key=what
func (s *Shop) book(ctx context.Context, what string) error { return nil }

// notify is a helper that runs a step two calls further down.
func (s *Shop) notify(ctx context.Context) error { return s.tell(ctx) }

func (s *Shop) tell(ctx context.Context) error {
	defer s.bookStep(ctx, "y")
	return nil
}

//restaq:step
func (s *Shop) helped(ctx context.Context) error {
	return s.notify(ctx) // want `step helped: runs a step within itself: Shop.notify → Shop.tell → Shop.bookStep`
}

// Method values, method expressions, closures and embedded receivers count.

type Chain struct{ *Shop }

//restaq:step
func (c Chain) value(ctx context.Context) error {
	run := c.bookStep // want `step value: runs step book within itself`
	each(func(to string) error {
		return (*Shop).settleStep(c.Shop, ctx) // want `step value: runs step settle within itself`
	})
	return run(ctx, "z")
}

func each(f func(to string) error) { _ = f("x") }

// What is called through a variable or an interface is not followed.

type sender interface {
	bookStep(ctx context.Context, what string) error
}

//restaq:step
func (s *Shop) dynamic(ctx context.Context, to string) error {
	var other sender = s
	if err := other.bookStep(ctx, to); err != nil {
		return err
	}
	return s.send(ctx, to)
}

// What restaq.Do is given is a step as well, and so is Do within one.

func (s *Shop) inline(ctx context.Context) error {
	_, err := restaq.Do(ctx, "outer", func(ctx context.Context) (int, error) {
		if err := s.bookStep(ctx, "q"); err != nil { // want `step outer: runs step book within itself`
			return 0, err
		}
		return restaq.Do(ctx, "inner", func(ctx context.Context) (int, error) { // want `step outer: runs a step within itself: restaq.Do`
			return 0, s.settle(ctx) // want `step inner: runs a step within itself: Shop.settle → Shop.bookStep`
		})
	})
	if err != nil {
		return err
	}
	_, err = restaq.Do(ctx, "named", s.named) // want `step named: runs a step within itself: Shop.named → Shop.bookStep`
	return err
}

func (s *Shop) named(ctx context.Context) (int, error) { return 0, s.bookStep(ctx, "n") }

// Generic helpers are followed, however they are called.

type list[T any] struct{ shop *Shop }

func (l list[T]) all(ctx context.Context, items []T) error { return l.shop.bookStep(ctx, "x") }

func first[T any](ctx context.Context, s *Shop, items []T) error {
	return list[T]{s}.all(ctx, items[:1])
}

//restaq:step
func (s *Shop) generic(ctx context.Context) error {
	if err := first(ctx, s, []int{1}); err != nil { // want `step generic: runs a step within itself: first → list.all → Shop.bookStep`
		return err
	}
	if err := first[string](ctx, s, nil); err != nil { // want `first → list.all → Shop.bookStep`
		return err
	}
	return list[bool]{s}.all(ctx, nil) // want `list.all → Shop.bookStep`
}

//restaq:step
func (s *Shop) silenced(ctx context.Context) error {
	//restaq:ignore nested the inner step is only there for its record
	return s.bookStep(ctx, "x")
}
