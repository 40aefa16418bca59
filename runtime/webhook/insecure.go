package webhook

import (
	"fmt"
	"net/http"
	"net/netip"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Insecure returns a provider that takes requests unsigned, from this machine
// only, and otherwise reads them like the given one. It is for development:
//
//	rt.Webhook(webhook.Insecure(webhook.Stripe("unused")))
//
// A request is refused if its connection does not come from a loopback
// address, if a proxy or tunnel passed it on (X-Forwarded-For and the like), or
// if a browser sent it on behalf of a web page (Origin, Sec-Fetch-Site).
//
// The provider must be one of this package, or have the method of Reader;
// otherwise Insecure panics.
func Insecure(provider restaq.Provider) restaq.Provider {
	reader, ok := provider.(Reader)
	if !ok {
		panic(fmt.Sprintf("webhook: insecure: %T cannot read requests that it has not authenticated; it needs a method Read (see webhook.Reader)", provider))
	}
	endpoint := provider.Endpoint()
	endpoint.Local = true
	return &insecure{endpoint: endpoint, reader: reader}
}

// insecure reads requests without authenticating them.
type insecure struct {
	endpoint restaq.Endpoint
	reader   Reader
}

func (p *insecure) Endpoint() restaq.Endpoint { return p.endpoint }

func (p *insecure) Receive(r *http.Request, body []byte, _ time.Time) (*restaq.Received, error) {
	if err := checkLocal(r); err != nil {
		return nil, err
	}
	return p.reader.Read(r, body)
}

// remoteHeaders tell that a request did not begin as a connection from this
// machine, though its last hop is one.
func remoteHeaders() []string {
	return []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via", "Origin", "Sec-Fetch-Site"}
}

// checkLocal reports why a request is not plainly this machine's own.
func checkLocal(r *http.Request) error {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !addr.Addr().IsLoopback() {
		return fmt.Errorf("%w: it comes from elsewhere", ErrNotLocal)
	}
	for _, name := range remoteHeaders() {
		if len(r.Header.Values(name)) > 0 {
			return fmt.Errorf("%w: header %s says it was passed on", ErrNotLocal, name)
		}
	}
	return nil
}
