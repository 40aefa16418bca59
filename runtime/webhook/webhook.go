// Package webhook knows the senders of webhooks: how each of them signs a
// request, and where the id and the type of its event stand.
//
// A provider is made once, with the secrets that the sender's settings page
// shows, and handed to the runtime:
//
//	mux.Handle("POST /webhooks/stripe", rt.Webhook(webhook.Stripe(secret)))
//
// [Stripe], [GitHub] and [StandardWebhooks] are the short forms. The structs
// behind them ([StripeConfig], [GitHubConfig], [StandardWebhooksConfig]) have a
// field for everything that can be changed, and [HMACConfig] describes a
// sender of one's own. [Insecure] takes unsigned requests while developing.
//
// # What happens to a request
//
//	secrets ─→ signature over the raw bytes ─→ timestamp ─→ id and type
//	   └──────────────┴─── 401 ───────────────────┘            └─ 400
//
// Nothing of a body is parsed before its signature was found good: not the
// JSON, not the form. (A sender whose timestamp stands in the body is read in
// between, after the signature.) Signatures are compared as decoded bytes, in
// constant time.
//
// # Secrets
//
// Several secrets may be given, and any of them may match any signature of the
// request, so that a secret can be replaced without losing a delivery: put the
// new one in front, change it at the sender, take the old one away when Matched
// no longer reports it. An empty secret, or none, is a panic where the provider
// is made: a server that anybody could sign for must not start.
//
// # Failures
//
// Every error of Receive wraps [restaq.ErrNotAuthentic] or
// [restaq.ErrMalformed]. The sentinels of this package are the reasons for the
// first; errors.Is tells them apart. No error text holds a secret, a computed
// signature or a part of the body.
package webhook

import (
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
)

// Reasons why a request is not authentic. Each wraps restaq.ErrNotAuthentic.
var (
	// ErrSecret says that SecretsFor had no usable secret for the request.
	ErrSecret = notAuthentic("no usable secret")

	// ErrUnsigned says that a header that signing needs is missing.
	ErrUnsigned = notAuthentic("signature header is missing")

	// ErrHeader says that a header of the signature cannot be read.
	ErrHeader = notAuthentic("signature header is malformed")

	// ErrSignature says that no signature of the request matches a secret:
	// the secret is another one, or the body is not the one that was signed.
	ErrSignature = notAuthentic("no matching signature")

	// ErrTimestamp says that the signature is good and its timestamp too far
	// from this server's clock: a replay, or a clock that is wrong.
	ErrTimestamp = notAuthentic("timestamp outside tolerance")

	// ErrBodyRead says that the body had been read before the webhook handler
	// got the request, by a middleware for instance.
	ErrBodyRead = notAuthentic("body was read already")

	// ErrNotLocal says that an Insecure provider got a request that did not
	// come straight from this machine.
	ErrNotLocal = notAuthentic("unsigned requests are taken from this machine only")
)

func notAuthentic(reason string) error {
	return fmt.Errorf("%w: %s", restaq.ErrNotAuthentic, reason)
}

// malformed returns an error for an authentic request that makes no sense.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{restaq.ErrMalformed}, args...)...)
}
