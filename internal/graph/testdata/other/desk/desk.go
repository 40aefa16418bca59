// Package desk has steps for others.
package desk

import "context"

type Desk struct{}

//restaq:step from-elsewhere key=who timeout=1s pure
func Greet(ctx context.Context, who string) error { return nil }

//restaq:step attempts=3 backoff=1s..1m
func (d *Desk) Ring(ctx context.Context) error { return nil }

// Bell has a method that looks like a step and is none.
type Bell[T any] struct{ sound T }

func (b *Bell[T]) Toll(ctx context.Context) error     { return nil }
func (b *Bell[T]) TollStep(ctx context.Context) error { return nil }

// Helper calls steps where graphs of other packages do not look.
func Helper(ctx context.Context) error { return GreetStep(ctx, "") }
