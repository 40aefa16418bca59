package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"errors"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strings"
)

// key is a decoded secret: bytes for a MAC, or a public key. Exactly one of
// the two is set, so that a public key, which is no secret, can never be taken
// for the key of a MAC.
type key struct {
	mac    []byte
	public ed25519.PublicKey
}

// keyring has the secrets of one endpoint.
type keyring struct {
	fixed   []string
	decoded []key
	chosen  func(*http.Request) []string
	decode  func(string) (key, error)
}

// newKeyring returns the ring of a configuration. A nil decode takes secrets
// as they are.
func newKeyring(fixed []string, chosen func(*http.Request) []string, decode func(string) (key, error)) keyring {
	if decode == nil {
		decode = plainKey
	}
	return keyring{fixed: slices.Clone(fixed), chosen: chosen, decode: decode}
}

// plainKey is the secret's own bytes, whatever they look like.
func plainKey(secret string) (key, error) { return key{mac: []byte(secret)}, nil }

// check decodes the fixed secrets. It panics, with the provider's name, if
// there is none, or one that cannot be a secret.
func (k *keyring) check(provider string) {
	if len(k.fixed) == 0 && k.chosen == nil {
		misuse(provider, "no secret: anybody could sign requests; set Secrets or SecretsFor")
	}
	for i, secret := range k.fixed {
		key, err := k.one(secret)
		if err != nil {
			misuse(provider, "secret %d of %d %v", i+1, len(k.fixed), err)
		}
		k.decoded = append(k.decoded, key)
	}
}

// forRequest returns the keys that a request may be signed with, at least one:
// the fixed ones, then those chosen for the request. A chosen secret that is
// empty fails the request, like a fixed one the server's start: it is a fault
// of the look-up and must not pass as "no check".
func (k *keyring) forRequest(r *http.Request) ([]key, error) {
	if k.chosen == nil {
		return k.decoded, nil
	}
	chosen := k.chosen(r)
	keys := slices.Clone(k.decoded)
	for i, secret := range chosen {
		key, err := k.one(secret)
		if err != nil {
			return nil, fmt.Errorf("%w: secret %d of the %d for this request %v", ErrSecret, i+1, len(chosen), err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: there is none for this request", ErrSecret)
	}
	return keys, nil
}

// one decodes one secret. The error does not quote it.
func (k *keyring) one(secret string) (key, error) {
	if strings.TrimSpace(secret) == "" {
		return key{}, errors.New("is empty")
	}
	return k.decode(secret)
}

// match returns the index of the first key that fits, or ErrSignature.
func match(keys []key, fits func(key) bool) (int, error) {
	if i := slices.IndexFunc(keys, fits); i >= 0 {
		return i, nil
	}
	return 0, ErrSignature
}

// matchMAC reports whether one of the decoded signatures is the HMAC of parts,
// joined, under k. The MAC is made once however many signatures there are.
func matchMAC(newHash func() hash.Hash, k key, signatures [][]byte, parts ...[]byte) bool {
	if len(k.mac) == 0 {
		return false
	}
	mac := hmac.New(newHash, k.mac)
	for _, part := range parts {
		mac.Write(part)
	}
	sum, found := mac.Sum(nil), false
	for _, signature := range signatures {
		if hmac.Equal(sum, signature) {
			found = true
		}
	}
	return found
}
