// Package encode has inputs and outputs that have no JSON form, and some that
// have one.
package encode

import (
	"context"
	"encoding/json"
	"math/big"
	"net/url"
	"time"
	"unsafe"

	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"
)

type Inner struct{ Notify chan int }

type Outer struct {
	Name  string
	Items []Inner
	skip  chan int
	Left  chan int `json:"-"`
	Right chan int `json:"-,"`
}

type Hidden struct{ cents int64 }

type Loud string

func (Loud) MarshalJSON() ([]byte, error) { return nil, nil }

type Texty struct{ a, b string }

func (t Texty) MarshalText() ([]byte, error)     { return nil, nil }
func (t *Texty) UnmarshalText(text []byte) error { return nil }

type List[V any] struct {
	Value V
	Next  *List[V]
}

type Tree struct{ Children map[string]*Tree }

type base struct{ ID string }

type Embeds struct {
	base
	Extra string
}

type EmbedsPointer struct{ *base }

type Left struct{ ID, Name string }

type Right struct{ ID string }

type Clash struct {
	Left
	*Right
}

type TagClash struct {
	A int `json:"n"`
	B int `json:"n"`
}

type Shadow struct {
	Left
	Right
	ID int
}

type Stamp struct {
	time.Time
	Zone string
}

type OwnStamp struct {
	time.Time
	Zone string
}

func (OwnStamp) MarshalJSON() ([]byte, error) { return nil, nil }
func (*OwnStamp) UnmarshalJSON([]byte) error  { return nil }

type HalfOwn struct {
	time.Time
	Zone string
}

func (HalfOwn) MarshalJSON() ([]byte, error) { return nil, nil }

type JustTime struct {
	time.Time
	note string
}

type Stringer interface{ String() string }

type Anything interface{}

//restaq:step
func channel(ctx context.Context, c chan int) error { return nil }

//restaq:step
func function(ctx context.Context, f func()) error { return nil }

//restaq:step
func complexNumber(ctx context.Context) (complex128, error) { return 0, nil }

//restaq:step
func errorInput(ctx context.Context, err error) error { return nil }

//restaq:step
func errorOutput(ctx context.Context) ([]error, error) { return nil, nil }

//restaq:step
func iface(ctx context.Context, _ Stringer) error { return nil }

//restaq:step
func nested(ctx context.Context) (map[string]Outer, error) { return nil, nil }

//restaq:step
func mapKey(ctx context.Context, m map[float64]string, n map[any]int, o map[Texty]int) error {
	return nil
}

//restaq:step
func mapKeyOfStructs(ctx context.Context, p map[struct{ A int }]int) error { return nil }

//restaq:step
func pointer(ctx context.Context, p unsafe.Pointer) error { return nil }

//restaq:step
func hidden(ctx context.Context) (Hidden, error) { return Hidden{}, nil }

//restaq:step
func loud(ctx context.Context) (Loud, error) { return "", nil }

//restaq:step
func genericElement(ctx context.Context, l List[List[func()]]) error { return nil }

//restaq:step
func embeddedPointer(ctx context.Context, e EmbedsPointer) error { return nil }

//restaq:step
func link(ctx context.Context, u *url.URL) error { return nil }

//restaq:step
func several(ctx context.Context, a chan int, b func()) (error, error) { return nil, nil }

//restaq:step
func clash(ctx context.Context, c Clash, t []TagClash) error { return nil }

//restaq:step
func promoted(ctx context.Context, a Stamp, b map[string]HalfOwn, c struct {
	Zone string
	*Stamp
}) error {
	return nil
}

// These are all in order.

//restaq:step
func fine(ctx context.Context, a any, b Anything, c json.RawMessage, d json.Number, e time.Time, f big.Int, g *Texty) error {
	return nil
}

//restaq:step
func fineToo(ctx context.Context, a List[string], b Tree, c Embeds, d map[int8][]byte, e struct{}, f [3]*float32, g map[time.Duration]any) (map[Loud]bool, error) {
	return nil, nil
}

//restaq:step
func fineMethods(ctx context.Context, a Shadow, b OwnStamp, c JustTime) error { return nil }

//restaq:step
func fineEvents(ctx context.Context, a stripe.Charge, b github.PullRequestEvent, c []github.PushEvent) (*stripe.ChargeSucceeded, error) {
	return nil, nil
}

//restaq:step
func familyWithin(ctx context.Context, a []github.PullRequestEvent) (struct{ Event github.PullRequestEvent }, error) {
	panic("")
}
