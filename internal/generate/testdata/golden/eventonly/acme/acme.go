// Package acme has nothing but event types: what is generated for it imports
// nothing.
package acme

// Shipped is the payload of acme.order.shipped.
//
//restaq:event acme.order.shipped
type Shipped struct {
	Order string `json:"order"`
}
