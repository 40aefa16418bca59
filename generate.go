// Package restaq is the root of the module. It holds the lines by which the
// repository generates its own event packages and pictures, and exports nothing.
//
// The engine is package runtime; the generator is cmd/restaqgen; the events of
// providers are below schemas.
package restaq

//go:generate go run ./cmd/restaqgen events -provider stripe -in schemas/stripe -out schemas/stripe
//go:generate go run ./cmd/restaqgen events -provider github -in schemas/github -out schemas/github
//go:generate go run ./cmd/restaqgen events -provider shopify -in schemas/shopify -out schemas/shopify
//go:generate go run ./cmd/restaqgen events -provider slack -in schemas/slack -out schemas/slack
//go:generate go run ./cmd/restaqgen events -provider standardwebhooks -in schemas/standardwebhooks -out schemas/standardwebhooks
//go:generate go run ./cmd/restaqgen graph -o docs/images/billing.svg ./examples/billing
//go:generate go run ./cmd/restaqgen graph -o docs/images/ship.svg -handler ship.pushed ./examples/ship
