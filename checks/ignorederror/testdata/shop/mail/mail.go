// Package mail has a step of its own, and functions that run it.
package mail

import "context"

//restaq:step
func Send(ctx context.Context, to string) error { return nil }

// Sender sends.
type Sender struct{}

//restaq:step send-later
func (s *Sender) SendLater(ctx context.Context, to string) error { return nil }

// All runs Send for everyone.
func All(ctx context.Context, to string) error { return one(ctx, to) }

func one(ctx context.Context, to string) error { return SendStep(ctx, to) }

// Plain runs no step.
func Plain(ctx context.Context, to string) error { return Send(ctx, to) }
