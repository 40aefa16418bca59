// Names: whatever users call things, generated code gets by.
package main

import (
	stdcontext "context"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	stripe "github.com/restaq/restaq/internal/generate/testdata/golden/types/money"
	runtime "github.com/restaq/restaq/runtime"
	events "github.com/restaq/restaq/schemas/stripe"
)

// Names that generated code would use for its imports.
var (
	context = "context"
	restaq  = "restaq"
	codec   = "codec"
	time    = "time"
	strconv = 1
)

//restaq:on names.try
func in(rt stdcontext.Context, restaq struct{}) error {
	if err := unnamedStep(rt, 1, "b"); err != nil {
		return err
	}
	if err := shadowStep(rt, stripe.Price{Amount: 5}, "s", 1, 2); err != nil {
		return err
	}
	if err := outStep(rt, "in"); err != nil {
		return err
	}
	if err := ctxStep(rt, 4, 5); err != nil {
		return err
	}
	return Receiver{}.stepStep(rt, "x", events.Charge{})
}

//restaq:on names.third order=rt.ID
func rt(ctx stdcontext.Context, rt json) error { return say("third", rt.ID) }

type json struct{ ID string }

//restaq:step "key=in2(in)"
func ctx(ctx stdcontext.Context, in, in3 int) error { return say("ctx", in, in3) }

func in2(n int) int { return n }

//restaq:step timeout=1s
func unnamed(stdcontext.Context, int, string) error { return say("unnamed") }

//restaq:step
func shadow(_ stdcontext.Context, stripe stripe.Price, restaq string, err, in int) error {
	return say("shadow", stripe.Amount, restaq, err, in)
}

//restaq:step key=in
func out(ctx stdcontext.Context, in string) error {
	return say("out", in, context, codec, time, strconv)
}

type Receiver struct{}

//restaq:on names.other
func (restaq Receiver) On(ctx stdcontext.Context, _ struct{}) error { return say("other") }

//restaq:step key=ctx
func (restaq Receiver) step(codec stdcontext.Context, ctx string, _ events.Charge) error {
	return say("step", ctx)
}

func say(args ...any) error {
	play.Say(args...)
	return nil
}

func main() {
	play.Run([]func(*runtime.Runtime) error{RegisterHandlers, Receiver{}.RegisterHandlers},
		play.Event("names.try", `{}`), play.Event("names.other", `{}`), play.Event("names.third", `{"ID":"x"}`))
}
