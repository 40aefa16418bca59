// Package expressions has keys and orders that cannot be, and some that can.
package expressions

import (
	"context"
	"fmt"
	. "path"
	str "strings"
	"time"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

type Kind string

type Code uint8

type ID struct{ n int }

func (id ID) String() string { return "" }

type PointerID struct{ N int }

func (id *PointerID) String() string { return "" }

type T struct{ name string }

var global = Base(str.ToLower("G"))

func helper(s string) string { return s }

//restaq:step key=
func (t T) missing(ctx context.Context, a string) error { return nil }

//restaq:step key=b
func (t T) unknown(ctx context.Context, a string) error { return nil }

//restaq:step key=a+
func (t T) syntax(ctx context.Context, a string) error { return nil }

//restaq:step "key=a + 1"
func (t T) mismatch(ctx context.Context, a string) error { return nil }

//restaq:step key=a
func (t T) float(ctx context.Context, a float64) error { return nil }

//restaq:step key=a==""
func (t T) boolean(ctx context.Context, a string) error { return nil }

//restaq:step key=t.name
func (t T) usesReceiver(ctx context.Context, a string) error { return nil }

//restaq:step key=restaq.ExecutionID(ctx)
func (t T) usesContext(ctx context.Context, a string) error { return nil }

//restaq:step key=tx
func (t T) usesTx(ctx context.Context, tx pgx.Tx, a string) error { return nil }

//restaq:step key="x"
func (t T) constant(ctx context.Context, a string) error { return nil }

//restaq:step key=global
func (t T) noInput(ctx context.Context, a string) error { return nil }

//restaq:step key=func()string{return(a)}()
func (t T) literal(ctx context.Context, a string) error { return nil }

//restaq:step "key=a // b"
func (t T) comment(ctx context.Context, a string) error { return nil }

//restaq:step key=str.Cut(a,"x")
func (t T) tuple(ctx context.Context, a string) error { return nil }

//restaq:step key=string
func (t T) typeName(ctx context.Context, a string) error { return nil }

//restaq:step key=a
func (t T) pointerStringer(ctx context.Context, a PointerID) error { return nil }

//restaq:step key=json.Valid(a)
func (t T) notImported(ctx context.Context, a []byte) error { return nil }

//restaq:step key=fmt.Sprint(a)
func (t T) unusedImport(ctx context.Context, a []byte) error { return nil }

//restaq:step "key=a +\nb"
func (t T) twoLines(ctx context.Context, a, b string) error { return nil }

//restaq:on a.b order=other
func (t T) OrderUnknown(ctx context.Context, e restaq.Event) error { return nil }

//restaq:on a.b order=t.name
func (t T) OrderReceiver(ctx context.Context, e restaq.Event) error { return nil }

// These are all in order.

//restaq:step key=a
func (t T) plain(ctx context.Context, a string) error { return nil }

//restaq:step `key=a + ":" + str.ToLower(b.Name)`
func (t T) sum(ctx context.Context, a string, b struct{ Name string }) error { return nil }

//restaq:step key=kind
func (t T) kind(ctx context.Context, kind Kind) error { return nil }

//restaq:step key=n%10
func (t T) signed(ctx context.Context, n int8) error { return nil }

//restaq:step key=c
func (t T) unsigned(ctx context.Context, c Code) error { return nil }

//restaq:step key=d
func (t T) duration(ctx context.Context, d time.Duration) error { return nil }

//restaq:step key=at.UTC()
func (t T) stringer(ctx context.Context, at time.Time) error { return nil }

//restaq:step key=id
func (t T) pointer(ctx context.Context, id *PointerID) error { return nil }

//restaq:step key=Base(helper(a)+global)
func (t T) packageNames(ctx context.Context, a string) error { return nil }

//restaq:step key=[]string{a,err}[n]
func (t T) renamed(ctx context.Context, a, err string, n int) error { return nil }

//restaq:on a.b order=e.Source
func (t T) Order(ctx context.Context, e restaq.Event) error { return nil }

//restaq:on a.b order="all"
func (t T) OrderConstant(ctx context.Context, e restaq.Event) error { return nil }
