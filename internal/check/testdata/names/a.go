// Package names has names that are given twice, or taken.
package names

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

type T struct{ fieldStep int }

//restaq:step
func (t *T) send(ctx context.Context) error { return nil }

//restaq:step
func send(ctx context.Context) error { return nil }

//restaq:step name=other
func third(ctx context.Context) error { return nil }

//restaq:step other
func fourth(ctx context.Context) error { return nil }

//restaq:step
func (t *T) method(ctx context.Context) error { return nil }

func (t *T) methodStep() {}

//restaq:step
func (t *T) field(ctx context.Context) error { return nil }

//restaq:step
func function(ctx context.Context) error { return nil }

var functionStep int

//restaq:on a.b
func (t *T) Handle(ctx context.Context, e restaq.Event) error { return nil }

//restaq:on a.b name=names.T.Handle
func (t *T) Handle2(ctx context.Context, e restaq.Event) error { return nil }

type U struct{}

func (U) RegisterHandlers() {}

//restaq:on a.b
func (U) Handle(ctx context.Context, e restaq.Event) error { return nil }

//restaq:event a.b
type Order struct{ ID string }

const OrderType = "a.b"

type string = int
