// Types: what steps take and return.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	"github.com/restaq/restaq/internal/generate/testdata/golden/types/money"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/stripe"
)

type Page[T any] struct {
	Items []T `json:"items"`
	Next  *Page[T]
}

type Pair[K comparable, V any] struct {
	Key   K
	Value V
}

type Node struct {
	Name string
	Kids []*Node `json:",omitempty"`
	base
	odd odd
}

// odd has types that no JSON has, in a field that encoding/json does not see.
type odd struct {
	in   chan<- <-chan int
	out  <-chan func()
	both chan (<-chan int)
	note func(n int, rest ...string) (x, y error)
	face interface {
		Foo(int) string
		fmt.Stringer
	}
	many map[string][]*[3]interface{}
	E    string "json:\"e`\""
	*base
	Pair[int, string]
}

type base struct{ Depth int }

type (
	Prices   = []money.Price
	Names    []string
	Settings map[string]any
)

//restaq:on types.try
func try(ctx context.Context, _ struct{}) error {
	page, err := pageStep(ctx, Page[money.Price]{Items: Prices{{Amount: 1}}}, Prices{{Amount: 2, Currency: "eur"}})
	print(page, err)
	pair, err := pairStep(ctx, Pair[string, []Pair[int, bool]]{"k", []Pair[int, bool]{{1, true}}})
	print(pair, err)
	node, err := nodeStep(ctx, &Node{Name: "root", base: base{1}})
	print(node, err)
	when, err := clockStep(ctx, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), time.Minute)
	print(when, err)
	text, err := textStep(ctx, money.NewText(7), json.RawMessage(`{"a": 1}`))
	print(text, err)
	thing, err := anythingStep(ctx, Settings{"a": 1.5, "b": []any{nil}}, 3)
	print(thing, err)
	literal, err := literalStep(ctx, struct {
		A int `json:"a"`
	}{1}, [2]bool{true, false})
	print(literal, err)
	names, err := namesStep(ctx, Names{"x"})
	print(names, err)
	err = oddlyStep(ctx, []Odd{{N: 1}})
	print(nil, err)
	customer, err := customerStep(ctx, stripe.Charge{ID: "ch_1"})
	print(customer == nil, err)
	tree, err := treeStep(ctx, Forest{{"a": nil}})
	print(tree, err)
	return err
}

func print(v any, err error) {
	data, _ := json.Marshal(v)
	play.Say(string(data), err)
}

//restaq:step
func page(ctx context.Context, first Page[money.Price], more Prices) (Page[money.Price], error) {
	return Page[money.Price]{Items: more, Next: &first}, nil
}

//restaq:step
func pair(ctx context.Context, p Pair[string, []Pair[int, bool]]) (map[string]Pair[int, bool], error) {
	return map[string]Pair[int, bool]{p.Key: p.Value[0]}, nil
}

//restaq:step
func node(ctx context.Context, n *Node) (*Node, error) {
	return &Node{Name: "top", Kids: []*Node{n}}, nil
}

//restaq:step name=time
func clock(ctx context.Context, t time.Time, d time.Duration) (time.Time, error) {
	return t.Add(d), nil
}

//restaq:step
func text(ctx context.Context, t money.Text, raw json.RawMessage) (map[string]money.Text, error) {
	return map[string]money.Text{string(raw): t}, nil
}

//restaq:step name=any
func anything(ctx context.Context, s Settings, v any) (any, error) { return []any{s, v}, nil }

//restaq:step
func literal(ctx context.Context, s struct {
	A int `json:"a"`
}, flags [2]bool) (struct{ Sum int }, error) {
	return struct{ Sum int }{s.A + 1}, nil
}

//restaq:step
func names(ctx context.Context, n Names) (Names, error) { return append(n, "y"), nil }

// Odd is guarded although encoding/json sees only one of its fields.
type Odd struct {
	N   int
	odd odd
}

//restaq:step
func oddly(ctx context.Context, o []Odd) error { return nil }

//restaq:step
func customer(ctx context.Context, c stripe.Charge) (*stripe.Charge, error) { return nil, nil }

// Types that contain themselves without a struct, and a generic alias.
type (
	Tree        map[string]Tree
	Forest      []Tree
	ByID[T any] = map[string]T
)

//restaq:step
func tree(ctx context.Context, f Forest) (ByID[Tree], error) { return ByID[Tree]{"b": f[0]}, nil }

func main() {
	play.Run([]func(*restaq.Runtime) error{RegisterHandlers}, play.Event("types.try", `{}`))
}
