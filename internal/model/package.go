// Package model is what the generator knows about a package of the user's: its
// handlers, steps and event types, as plain data in source order (file name,
// then position). It is built by package check, which has refused whatever
// cannot be generated for, and read by the emitters.
//
// Positions are for problems only. Nothing that is emitted may depend on them.
package model

import (
	"go/token"
	"go/types"
	"time"
)

// Package is one package of the user's. One without markers is Empty.
type Package struct {
	// Path is the import path, Name the package clause, Dir the absolute
	// folder of its files.
	Path, Name, Dir string

	// Word is the first word of handler names: the package's name, or in a
	// main package the last element of its import path.
	Word string

	// Types is the type-checked package, without our own output.
	Types *types.Package

	// Constraint is the build constraint that all marked files share, which the
	// generated files must carry: what follows "//go:build "; "" for none.
	Constraint string

	// Groups are the receivers with a marker, and the package-level functions
	// as one group, in the order of their first marked function.
	Groups []*Group

	// Events are the package's own event types.
	Events []*EventDecl

	// Families are the members of the families that handlers and steps take or
	// return: of sealed interfaces of event packages.
	Families map[*types.TypeName][]Member

	// Taken holds every name that a generated file must not declare at package
	// level and not use for an import, unless it means the same: names that the
	// package's own files declare, and names under which they import packages.
	Taken map[string]bool

	// Imports are the packages that the package's files import: import path to
	// the name that the package's own clause gives it.
	Imports map[string]string
}

// Empty reports whether nothing is to be generated for the package.
func (p *Package) Empty() bool { return len(p.Groups) == 0 && len(p.Events) == 0 }

// Handlers returns the handlers of all groups, group by group.
func (p *Package) Handlers() []*Handler {
	var all []*Handler
	for _, g := range p.Groups {
		all = append(all, g.Handlers...)
	}
	return all
}

// Steps returns the steps of all groups, group by group.
func (p *Package) Steps() []*Step {
	var all []*Step
	for _, g := range p.Groups {
		all = append(all, g.Steps...)
	}
	return all
}

// Group is what one RegisterHandlers registers.
type Group struct {
	// Type is the receivers' named type; nil for package-level functions.
	Type *types.TypeName

	// Pointer says that RegisterHandlers has a pointer receiver: some marked
	// method of the type has.
	Pointer bool

	// Param is the name of RegisterHandlers's receiver: the users' own where
	// one is usable. It differs from every import name of the package, and from
	// rt.
	Param string

	Handlers []*Handler
	Steps    []*Step
}

// Func is a marked function or method.
type Func struct {
	// Name is the function's name.
	Name string

	// Obj is the function itself.
	Obj *types.Func

	// Pos is where its name stands.
	Pos token.Position

	// Recv is the receiver's named type; nil for a package-level function.
	Recv *types.TypeName

	// RecvPointer says that the receiver is a pointer.
	RecvPointer bool

	// RecvParam and Ctx are the names of the receiver and of the context
	// parameter in a wrapper: the user's own where they can be used. RecvParam
	// is "" for a package-level function.
	RecvParam, Ctx string

	// Stem is the function's name or a variation of it, such that Stem with
	// each of [Suffixes] behind it is free at package level, and differs from
	// that of every other step, or for a handler of every other handler:
	// sendReceipt, or billingSendReceipt where two receivers have a sendReceipt.
	// It begins with a lower-case letter where the function's name has one to
	// lower.
	Stem string
}

// Suffixes are what generated code puts behind a [Func.Stem] for its
// package-level names.
var Suffixes = []string{"Def", "In", "Codec", "Order", "Key", "Shape"}

// Qualified returns the function's name qualified by its package's import
// path: example.com/shop/billing.Billing.sendReceipt.
func (f *Func) Qualified() string {
	name := f.Name
	if f.Recv != nil {
		name = f.Recv.Name() + "." + name
	}
	return f.Obj.Pkg().Path() + "." + name
}

// Param is one input of a step.
type Param struct {
	// Name is the parameter's name in a wrapper, and the name of its field in
	// the struct of inputs: the user's own, unless that is missing, "_", or
	// would hide a name that the wrapper needs. Distinct among the step's
	// parameters, receiver and context, and not err.
	Name string

	// Type is its type as declared: types.Alias nodes are kept.
	Type types.Type
}

// Backoff bounds the wait before a next attempt; the zero value means that the
// marker gives none.
type Backoff struct{ Min, Max time.Duration }

// Tx is the kind of transaction that a step takes as its second parameter.
type Tx int

// The kinds of transactions.
const (
	NoTx  Tx = iota
	PgxTx    // pgx.Tx
	SQLTx    // *sql.Tx
)

// Step is a function marked //restaq:step.
type Step struct {
	Func

	// Record is the step's name, such as record-payment.
	Record string

	// Wrapper is the name of the generated function: <function name>Step.
	Wrapper string

	// Tx is the transaction parameter; the wrapper does not have it.
	Tx Tx

	// TxType is the type of that parameter as declared; nil with NoTx.
	TxType types.Type

	// Inputs are the parameters behind context and transaction.
	Inputs []Param

	// Output is the result beside the error; nil if there is none.
	Output types.Type

	// Key tells calls in one execution apart; nil without key=. Its operands
	// are inputs.
	Key *Expr

	// Was are the names that the step had before, in the order of their markers.
	Was []string

	// Converters read records of earlier shapes, in source order.
	Converters []*Converter

	Attempts int           // 0: not given
	Backoff  Backoff       // zero: not given
	Timeout  time.Duration // 0: not given
	Pure     bool
}

// Converter is a function marked //restaq:convert: it makes today's output of a
// step from an earlier one.
type Converter struct {
	Func

	// From is the type of its parameter as declared. Which shape that is, and
	// whether records have it, the lock file says.
	From types.Type
}

// Handler is a function marked //restaq:on.
type Handler struct {
	Func

	// FullName is the handler's stable name, such as
	// "billing.Billing.ChargeSucceeded".
	FullName string

	// Events are the event types as the marker lists them.
	Events []EventType

	// Param is the event parameter's name in generated functions: the user's
	// own where it can be used.
	Param string

	// Event is the type of the event parameter as declared.
	Event types.Type

	// Kind says how a payload becomes the event.
	Kind EventKind

	// Decoder is the import path of the event package whose function Decode
	// reads an event of [FamilyEvent]; "" otherwise.
	Decoder string

	// Order is the order key over the event parameter; nil without order=.
	Order *Expr

	// Was are the full names that the handler had before, in the order of their
	// markers.
	Was []string

	Attempts int           // 0: not given
	Backoff  Backoff       // zero: not given
	Timeout  time.Duration // 0: not given
}

// EventType is one event type that a handler subscribes to.
type EventType struct {
	// Type is the event type, or a pattern with "*" as its last segment.
	Type string

	// Package and Const name the constant that stands for it,
	// <Struct>Type; empty where there is none. Package may be the handler's own.
	Package, Const string
}

// EventKind says what a handler's event parameter is.
type EventKind int

// The kinds of event parameters.
const (
	// RawEvent is restaq.Event: nothing is decoded.
	RawEvent EventKind = iota

	// StructEvent is a struct that the payload is decoded into: that of the one
	// event type, or the user's own for any types.
	StructEvent

	// PointerEvent is a pointer to such a struct.
	PointerEvent

	// FamilyEvent is a sealed interface of an event package: its Decode reads
	// the payload, and the result implements the interface.
	FamilyEvent
)

// Member is a struct of a family, in the family's package.
type Member struct {
	// Obj is the struct's type name.
	Obj *types.TypeName

	// Const is the name of the constant that holds its event type.
	Const string

	// Pointer says that only pointers to the struct are of the family.
	Pointer bool
}

// EventDecl is a struct marked //restaq:event: the payload of a user's own
// event type.
type EventDecl struct {
	// Obj is the struct's type name.
	Obj *types.TypeName

	// Type is the event type, such as "acme.order.shipped".
	Type string

	// Const is the name of the constant to emit: <Struct>Type.
	Const string

	// Pos is where the type's name stands.
	Pos token.Position
}
