// Package shop has steps of all kinds.
package shop

import (
	"context"
	"database/sql"
	"encoding/json"
	"math/big"
	"net/netip"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"
	"github.com/restaq/restaq/schemas/stripe"

	"example.com/shop/parts"
)

type Payment struct {
	ID    string `json:"id"`
	Items []Item `json:"items"`
	note  string
	Cache map[string]int `json:"-"`
	Dash  string         `json:"-,"` // a member whose name is a dash
}

type Item struct {
	Name  string `json:"name"`
	price int64
	Meta  map[string]any `json:"meta"`
}

//restaq:step
func record(ctx context.Context, tx *sql.Tx, payment Payment) error { // want `step record: input payment: Payment.Items\[\].price is unexported, so that JSON leaves it out \(lossy\)` `Payment.Items\[\].Meta\[\] is any` `Payment.note is unexported` `Payment.Cache has the tag json:"-", so that JSON leaves it out`
	return nil
}

//restaq:step
func load(ctx context.Context, id string) ([]*Item, error) { // want `step load: output: Item.price is unexported` `output: Item.Meta\[\] is any`
	return nil, nil
}

// Types of other packages, aliases and embedded structs are looked into.

type Alias = parts.Part

type Outer struct {
	inner
	*parts.Part
	Named parts.Part `json:"named"`
}

type inner struct {
	Shown  string
	hidden string
}

//restaq:step
func outer(ctx context.Context, o Outer) error { // want `input o: Outer.hidden is unexported` `input o: Outer.cache is unexported`
	return nil
}

//restaq:step
func alias(ctx context.Context, a map[string][]Alias) error { // want `input a: Part.cache is unexported`
	return nil
}

// Generic types are looked into with their arguments.

type Page[T any] struct {
	Items []T
	Total int
	next  string
}

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

//restaq:step
func list(ctx context.Context) (Page[Item], error) { // want `output: Page.Items\[\].price is unexported` `Page.Items\[\].Meta\[\] is any` `Page.next is unexported`
	return Page[Item]{}, nil
}

//restaq:step
func pairs(ctx context.Context, p Pair[string, any], q *Pair[string, Pair[int, bool]]) error { // want `input p: Pair.Value is any`
	return nil
}

// any, alone and in parts.

//restaq:step
func anything(ctx context.Context, v any) (result map[string]interface{}, err error) { // want `step anything: input v: is any` `output: \[\] is any`
	return nil, nil
}

// Money.

type Price float64

type Cart struct {
	UnitPrice   float64
	AmountDue   *float32
	Fees        []float64
	TotalEUR    Price
	OrderTotals map[string]float64

	TotalSeconds float64
	PriceRatio   float64
	FeePercent   float64
	Weight       float64
	Amount       int64
	Cost         json.Number
}

//restaq:step
func cart(ctx context.Context, c Cart) error { // want `Cart.UnitPrice is a float64, in which most sums of money have no exact form` `Cart.AmountDue is a float32` `Cart.Fees\[\] is a float64` `Cart.TotalEUR is a Price` `Cart.OrderTotals\[\] is a float64`
	return nil
}

//restaq:step
func charge(ctx context.Context, amount float64, ratio float64) (fee float64, err error) { // want `step charge: input amount: is a float64` `output: is a float64`
	return 0, nil
}

// What survives.

type Tree struct {
	Children []*Tree
	Parent   *Tree `json:",omitempty"`
}

type Whole struct {
	At       time.Time
	Took     time.Duration
	Big      *big.Int
	Raw      json.RawMessage
	Number   json.Number
	IP       netip.Addr
	Tree     Tree
	Bytes    []byte
	ByName   map[string]Tree
	Point    struct{ X, Y float64 }
	Charge   stripe.Charge
	Optional *string
	Guarded  *parts.Guarded
	Secret   secret
}

// secret writes itself.
type secret struct{ text string }

func (s secret) MarshalText() ([]byte, error) { return []byte(s.text), nil }

func (s *secret) UnmarshalText(text []byte) error { s.text = string(text); return nil }

//restaq:step
func whole(ctx context.Context, w Whole, event github.PullRequestEvent) (stripe.Charge, error) {
	return stripe.Charge{}, nil
}

// A step is also what restaq.Do is given, be it in a closure or in a variable.

//restaq:on github.push
func pushed(ctx context.Context, push github.PushEvent) error {
	do := func() (Item, error) {
		return restaq.Do(ctx, "item", func(ctx context.Context) (Item, error) { return Item{}, nil }) // want `step item: output: Item.price is unexported` `output: Item.Meta\[\] is any`
	}
	if _, err := do(); err != nil {
		return err
	}
	const name = "number"
	if _, err := restaq.Do(ctx, name+"-of", func(ctx context.Context) (int64, error) { return 1, nil }); err != nil {
		return err
	}
	_, err := restaq.Do(ctx, push.Ref, interval) // want `restaq.Do: output: is the interface Stringer, which has no concrete JSON form`
	return err
}

type Stringer interface{ String() string }

func interval(context.Context) (Stringer, error) { return time.Minute, nil }

// Silenced.

//restaq:step
func silenced(ctx context.Context, v any) error { //restaq:ignore lossy the value is only logged
	return nil
}
