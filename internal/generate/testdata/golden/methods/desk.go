package main

import (
	"context"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
)

// Desk has value receivers only, and a step of the same function name as Shop.
type Desk struct{ Name string }

//restaq:on desk.bell name=front-bell attempts=2 backoff=1ms..1ms timeout=10s
func (d Desk) Bell(ctx context.Context, _ struct{}) error {
	who, err := d.reserveStep(ctx, "chair")
	play.Say("bell", who)
	return err
}

//restaq:step reserve-chair
func (d Desk) reserve(ctx context.Context, what string) (string, error) {
	play.Say("desk reserve", what)
	return d.Name + " " + what, nil
}
