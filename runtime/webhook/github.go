package webhook

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	githubName       = "github"
	githubSHA256     = "X-Hub-Signature-256"
	githubSHA1       = "X-Hub-Signature"
	githubDelivery   = "X-GitHub-Delivery"
	githubEvent      = "X-GitHub-Event"
	githubFormField  = "payload"
	githubSHA256Mark = "sha256="
	githubSHA1Mark   = "sha1="
)

// GitHub takes the webhooks of GitHub under the given secrets, sent as JSON or
// as a form.
//
// An event's id is the X-GitHub-Delivery header, which a redelivery repeats.
// Its type is the X-GitHub-Event header and, where the body has one, the
// action: "github.pull_request.opened", "github.push". GitHub signs neither
// header, only the body. The ping of a new hook is the event "github.ping". It
// panics without a secret, or with an empty one.
func GitHub(secrets ...string) restaq.Provider {
	return GitHubConfig{Secrets: secrets}.Provider()
}

// GitHubConfig is what GitHub can be told besides its secrets.
type GitHubConfig struct {
	// Secrets are the hook's secrets; any of them may match.
	Secrets []string

	// SecretsFor returns more secrets, chosen by the request: by its path, say.
	// It is called for each request, before the signature is checked, and must
	// be safe for concurrent use. A request for which there is no secret, or an
	// empty one among several, is refused.
	SecretsFor func(r *http.Request) []string

	// Matched, if set, is told which secret an authentic request was signed
	// with: its index in Secrets, or, beyond these, in what SecretsFor returned.
	// A secret that is reported no more can be taken away.
	Matched func(r *http.Request, secret int)

	// Source is the endpoint's name. Default: "github".
	Source string

	// MaxBody is the largest body taken, in bytes. Default: 25 MiB, which is
	// GitHub's own limit.
	MaxBody int64

	// AllowSHA1 takes a request that has only the old X-Hub-Signature header,
	// with SHA-1, as old GitHub Enterprise servers send it. A request that has
	// X-Hub-Signature-256 is judged by that alone.
	AllowSHA1 bool

	// BodyID makes an event's id from the body (its SHA-256) instead of the
	// X-GitHub-Delivery header. GitHub does not sign that header: whoever got
	// hold of a request can send it again under a new id, and with BodyID that
	// is a duplicate. Two events with the same body are then one.
	BodyID bool
}

// Provider returns the provider. It panics if the configuration has no secret,
// an empty one, or a negative limit.
func (c GitHubConfig) Provider() restaq.Provider {
	return newProvider(
		restaq.Endpoint{
			Provider:     githubName,
			Source:       c.Source,
			MaxBody:      c.MaxBody,
			ContentTypes: []string{mediaJSON, mediaForm},
			Secret:       []string{githubSHA256, githubSHA1},
		},
		newKeyring(c.Secrets, c.SecretsFor, nil),
		&github{allowSHA1: c.AllowSHA1, bodyID: c.BodyID},
		c.Matched,
	)
}

// github signs the body, as it is sent, with HMAC-SHA256.
type github struct{ allowSHA1, bodyID bool }

func (g *github) verify(r *http.Request, body []byte, keys []key, _ time.Time) (int, error) {
	name, mark, newHash := githubSHA256, githubSHA256Mark, sha256.New
	if g.allowSHA1 && len(r.Header.Values(githubSHA256)) == 0 && len(r.Header.Values(githubSHA1)) > 0 {
		name, mark, newHash = githubSHA1, githubSHA1Mark, func() hash.Hash { return sha1.New() }
	}
	value, err := header(r, name)
	if err != nil {
		return 0, err
	}
	signature, err := parseHexSignature(value, mark)
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", ErrHeader, name, err)
	}
	return match(keys, func(k key) bool {
		return matchMAC(newHash, k, [][]byte{signature}, body)
	})
}

// parseHexSignature reads "<mark><hex>". The header's name fixes the
// algorithm; its value has no say in it.
func parseHexSignature(value, mark string) ([]byte, error) {
	digits, ok := strings.CutPrefix(value, mark)
	if !ok {
		return nil, fmt.Errorf("want %s followed by hex digits", mark)
	}
	signature, err := hex.DecodeString(digits)
	if err != nil || len(signature) == 0 {
		return nil, errors.New("signature is not hex")
	}
	return signature, nil
}

func (g *github) read(r *http.Request, body []byte) (*restaq.Received, error) {
	id, err := named(r, githubDelivery)
	if err != nil {
		return nil, err
	}
	kind, err := named(r, githubEvent)
	if err != nil {
		return nil, err
	}
	switch media := mediaType(r); {
	case media == mediaForm:
		if body, err = formField(body, githubFormField); err != nil {
			return nil, err
		}
	case !isJSON(media):
		return nil, malformed("content type is neither %s nor %s", mediaJSON, mediaForm)
	}
	doc, err := parseDocument(body)
	if err != nil {
		return nil, err
	}
	if g.bodyID {
		id = digestID(body)
	}
	if raw := doc.field("action"); raw != nil && raw[0] == '"' {
		action, err := doc.text("action")
		if err != nil {
			return nil, err
		}
		if action != "" {
			kind += "." + action
		}
	}
	return oneEvent(githubName, id, kind, body), nil
}
