// Package shop drops errors in every way.
package shop

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"sync"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"

	"example.com/shop/mail"
)

type Shop struct{ last error }

//restaq:step key=id
func (s *Shop) book(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func (s *Shop) load(ctx context.Context, id string) (string, error) { return "", nil }

//restaq:on github.push
func (s *Shop) Dropped(ctx context.Context, push github.PushEvent) error {
	s.bookStep(ctx, "a")             // want `step book: its error is dropped \(ignorederror\)\n\thint: return it, or handle it and say so`
	_ = s.bookStep(ctx, "b")         // want `step book: its error is dropped`
	_, _ = s.loadStep(ctx, "c")      // want `step load: its error is dropped`
	x, _ := s.loadStep(ctx, "d")     // want `step load: its error is dropped`
	var y, _ = s.loadStep(ctx, x)    // want `step load: its error is dropped`
	if s.bookStep(ctx, y); x != "" { // want `step book: its error is dropped`
		return nil
	}
	defer s.bookStep(ctx, "e")                                           // want `step book: its error is dropped`
	go s.bookStep(ctx, "f")                                              // want `step book: its error is dropped`
	mail.SendStep(ctx, "g")                                              // want `step send: its error is dropped`
	_, _ = restaq.Do(ctx, "do", func(ctx context.Context) (int, error) { // want `the error of restaq.Do is dropped`
		return 0, s.book(ctx, "h")
	})
	return nil
}

// Helpers hand the error on, and who calls them has it to look at.
func (s *Shop) helpers(ctx context.Context) {
	s.helper(ctx)            // want `the error of Shop.helper → Shop.bookStep is dropped`
	_ = mail.All(ctx, "x")   // want `the error of mail.All → one → SendStep is dropped`
	_ = mail.Plain(ctx, "x") // no step
	_, err := s.pair(ctx)    // want `the error of Shop.pair → Shop.bookStep is kept in err, at which nobody looks`
	_ = err
	s.count(ctx) // returns no error
}

func (s *Shop) helper(ctx context.Context) error { return s.bookStep(ctx, "x") }

func (s *Shop) pair(ctx context.Context) (int, error) { return 0, s.bookStep(ctx, "x") }

func (s *Shop) count(ctx context.Context) int {
	if s.bookStep(ctx, "x") != nil {
		return 0
	}
	return 1
}

// Variables that nobody reads.

func (s *Shop) overwritten(ctx context.Context) error {
	err := s.bookStep(ctx, "a") // want `step book: its error is kept in err, at which nobody looks`
	name, err := s.loadStep(ctx, "b")
	if err != nil {
		return err
	}
	_, err = s.loadStep(ctx, name) // want `step load: its error is kept in err, at which nobody looks`
	return nil
}

func (s *Shop) shadowed(ctx context.Context, on bool) error {
	var err error
	if on {
		name, err := s.loadStep(ctx, "a") // want `step load: its error is kept in err, at which nobody looks`
		_ = err
		log.Print(name)
	}
	return err
}

func (s *Shop) loop(ctx context.Context, ids []string) error {
	var err error
	for _, id := range ids {
		err = s.bookStep(ctx, id) // the last one's is looked at: the paths differ
	}
	return err
}

func (s *Shop) lost(ctx context.Context, ids []string) error {
	var err error
	for _, id := range ids {
		err = s.bookStep(ctx, id) // want `step book: its error is kept in err, at which nobody looks`
		if err = ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shop) named(ctx context.Context) (n int, err error) {
	err = s.bookStep(ctx, "a")
	return
}

func (s *Shop) namedLost(ctx context.Context) (n int, err error) {
	err = s.bookStep(ctx, "a") // want `step book: its error is kept in err, at which nobody looks`
	return 1, nil
}

func (s *Shop) namedDeferred(ctx context.Context) (n int, err error) {
	defer func() { slog.InfoContext(ctx, "done", "error", err) }()
	err = s.bookStep(ctx, "a") // the closure reads it
	return 1, nil
}

func (s *Shop) values(ctx context.Context) error {
	run := s.bookStep
	run(ctx, "a") // want `step book: its error is dropped`
	load := (*Shop).loadStep
	_, err := load(s, ctx, "b")
	if err != nil {
		return err
	}
	other := s.bookStep
	other = s.book
	other(ctx, "c") // may be either
	return nil
}

func (s *Shop) closures(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { s.bookStep(ctx, "a") }) // want `step book: its error is dropped`
	wg.Wait()
	return func() error {
		_ = s.bookStep(ctx, "b") // want `step book: its error is dropped`
		return nil
	}()
}

func (s *Shop) ends(ctx context.Context) {
	err := s.bookStep(ctx, "a") // want `step book: its error is kept in err, at which nobody looks`
	if err = ctx.Err(); ctx != nil {
		panic("x")
	}
	log.Fatal(err)
}

// What is looked at, in whatever way.

var errGone = errors.New("gone")

func (s *Shop) fine(ctx context.Context, ids []string) (string, error) {
	if err := s.bookStep(ctx, "a"); err != nil {
		slog.Warn("not booked", "error", err) // goes on without, on purpose
	}
	if err := s.bookStep(ctx, "b"); errors.Is(err, errGone) {
		return "", nil
	}
	s.last = s.bookStep(ctx, "c")
	errs := make([]error, len(ids))
	for i, id := range ids {
		errs[i] = s.bookStep(ctx, id)
	}
	switch err := s.bookStep(ctx, "d"); {
	case err != nil:
		return "", err
	}
	var first, second = s.bookStep(ctx, "e"), s.bookStep(ctx, "f")
	if err := errors.Join(append(errs, first, second)...); err != nil {
		return "", err
	}
	err := s.bookStep(ctx, "g")
	p := &err
	_ = *p
	ok := s.bookStep(ctx, "h") == nil
	log.Print(ok)
	wrapped := must(s.loadStep(ctx, "i"))
	return s.loadStep(ctx, wrapped)
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// Generic helpers, and methods that embedding promotes.

func each[T any, U ~[]T](ctx context.Context, s *Shop, list U) error {
	for range list {
		if err := s.bookStep(ctx, "x"); err != nil {
			return err
		}
	}
	return nil
}

type Mall struct {
	*Shop
	next interface{ helper(context.Context) error }
}

func (m Mall) generic(ctx context.Context) {
	_ = each(ctx, m.Shop, []int{1})              // want `the error of each → Shop.bookStep is dropped`
	_ = each[string, []string](ctx, m.Shop, nil) // want `the error of each → Shop.bookStep is dropped`
	_ = m.bookStep(ctx, "y")                     // want `step book: its error is dropped`
	_ = m.next.helper(ctx)                       // who knows whose this is
}

// Who names a handler registers it, and runs no step.

type handler struct {
	run func(context.Context, github.PushEvent) error
}

func (s *Shop) register(list *[]handler) error {
	*list = append(*list, handler{s.Dropped})
	return nil
}

func (s *Shop) setUp() {
	var list []handler
	_ = s.register(&list)
}

func (s *Shop) silenced(ctx context.Context) {
	s.bookStep(ctx, "x") //restaq:ignore ignorederror nobody waits for it
}
