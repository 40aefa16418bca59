package shop

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

type Shop struct{}

//restaq:on acme.order.paid
func (s *Shop) Paid(ctx context.Context, event restaq.Event) error {
	for _, name := range []string{"a", "b"} {
		if err := s.packStep(ctx, name); err != nil {
			return err
		}
		if err := s.sendStep(ctx, name); err != nil {
			return err
		}
		if err := s.onceStep(ctx); err != nil {
			return err
		}
	}
	if err := notifyStep(ctx); err != nil {
		return err
	}
	send := s.greetStep
	if err := send(ctx); err != nil {
		return err
	}
	return s.rest(ctx)
}

func (s *Shop) rest(ctx context.Context) error {
	if err := notifyStep(ctx); err != nil {
		return err
	}
	return s.greetOnceStep(ctx)
}

// pack is called for each.
/* want `^step pack: needs key=, because it is called in a loop, at shop.go:14:13 \(loopkey\)\n\thint: key=EXPR tells the calls in one execution apart: //restaq:step key=name, say$` */ //restaq:step
func (s *Shop) pack(ctx context.Context, name string) error {
	return nil
}

//restaq:step key=name
func (s *Shop) send(ctx context.Context, name string) error { return nil }

//restaq:ignore loopkey the loop ends with the first
//restaq:step
func (s *Shop) once(ctx context.Context) error { return nil }

/* want `^step notify: needs key=, because it is called twice on one path, at shop.go:24:12 and shop.go:31:9 \(loopkey\)` */ //restaq:step
func notify(ctx context.Context) error {
	return nil
}

//restaq:step
func (s *Shop) greet(ctx context.Context) error { return nil }

//restaq:step
func (s *Shop) greetOnce(ctx context.Context) error { return nil }
