// Package other has steps that others can run.
package other

import "context"

//restaq:step
func Used(ctx context.Context) error { return nil }

// Exported steps are another package's to run: one package alone does not show it.
//
//restaq:step
func Idle(ctx context.Context) error { return nil }

//restaq:step
func own(ctx context.Context) error { return nil } // want `step own: no handler runs it: nothing that one leads to calls ownStep \(unreachable\)\n\thint: call it, or remove it`

//restaq:step
func inner(ctx context.Context) error { return nil }

// Run runs a step, for handlers of other packages.
func Run(ctx context.Context) error { return innerStep(ctx) }
