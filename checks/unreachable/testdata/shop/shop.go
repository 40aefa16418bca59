// Package shop has steps that handlers run in many ways, and some that none does.
package shop

import (
	"context"

	"github.com/restaq/restaq/schemas/github"

	"example.com/shop/other"
)

type Shop struct {
	hooks map[string]func(ctx context.Context, id string) error
}

//restaq:on github.push
func (s *Shop) pushed(ctx context.Context, push github.PushEvent) error {
	if err := s.directStep(ctx); err != nil {
		return err
	}
	if err := s.helper(ctx); err != nil {
		return err
	}
	run := s.valueStep
	if err := run(ctx); err != nil {
		return err
	}
	if err := func() error { return s.closureStep(ctx) }(); err != nil {
		return err
	}
	var r runner = named{}
	if err := r.run(ctx); err != nil {
		return err
	}
	return other.UsedStep(ctx)
}

//restaq:step
func (s *Shop) direct(ctx context.Context) error { return nil }

//restaq:step
func (s *Shop) helped(ctx context.Context) error { return nil }

func (s *Shop) helper(ctx context.Context) error { return s.helpedStep(ctx) }

//restaq:step
func (s *Shop) value(ctx context.Context) error { return nil }

//restaq:step
func (s *Shop) closure(ctx context.Context) error { return nil }

// Through an interface.

type runner interface {
	run(ctx context.Context) error
}

type named struct{}

func (named) run(ctx context.Context) error { return namedOnlyStep(ctx) }

//restaq:step
func namedOnly(ctx context.Context) error { return nil }

// Through a variable, and through what begins the program.

//restaq:step key=id
func inTable(ctx context.Context, id string) error { return nil }

var table = map[string]func(ctx context.Context, id string) error{"x": inTableStep}

//restaq:step key=id
func inInit(ctx context.Context, id string) error { return nil }

func init() { (&Shop{}).hooks["x"] = inInitStep }

// Through an exported function or method, which other packages' handlers may call.

//restaq:step
func (s *Shop) offered(ctx context.Context) error { return nil }

func (s *Shop) Offer(ctx context.Context) error { return s.offeredStep(ctx) }

// Not at all.

//restaq:step
func (s *Shop) left(ctx context.Context) error { return nil } // want `step left: no handler runs it: nothing that one leads to calls Shop.leftStep`

//restaq:step
func (s *Shop) leftTwo(ctx context.Context) error { return nil } // want `step left-two: no handler runs it`

func (s *Shop) leftOver(ctx context.Context) error { return s.leftTwoStep(ctx) } // is not called itself

//restaq:step
func (s *Shop) misused(ctx context.Context) error { return nil }

//restaq:on github.issues.*
func (s *Shop) issues(ctx context.Context, event github.IssuesEvent) error {
	return s.misused(ctx) // which the check directcall reports
}

//restaq:step
func (s *Shop) silenced(ctx context.Context) error { return nil } //restaq:ignore unreachable the next release runs it
