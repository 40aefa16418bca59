package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
)

// signHex is HMAC-SHA256 in hex, over the parts joined.
func signHex(secret string, parts ...[]byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// signStripe returns the Stripe-Signature header of a body.
func signStripe(secret string, at int64, body []byte) string {
	t := strconv.FormatInt(at, 10)
	return fmt.Sprintf("t=%s,v1=%s", t, signHex(secret, []byte(t+"."), body))
}

// signGitHub returns the X-Hub-Signature-256 header of a body.
func signGitHub(secret string, body []byte) string { return "sha256=" + signHex(secret, body) }

// signStandard returns the webhook-signature header of a body.
func signStandard(secret, id string, at int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
