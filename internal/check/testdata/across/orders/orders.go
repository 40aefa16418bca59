// Package orders declares events; its generated file is not there.
package orders

//restaq:event acme.order.placed
type Placed struct{ ID string }

//restaq:event acme.order.cancelled
type Cancelled struct{ ID string }

var _ = PlacedType

type ID string

type secret struct{ Text string }

// Secret gives an unexported type a name that others can write.
type Secret = secret

type Box[T any] struct{ Value T }
