package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The senders of the demo, and what they send.

const pushEvent = `{
  "ref": "refs/heads/main",
  "before": "3a1d5e0c94b27f68d1029e5b7c4af3860912de57",
  "after": "c27b90e41f6a835de0924c71b5d83fa60e19b74d",
  "created": false, "deleted": false, "forced": false,
  "commits": [
    {"id": "81e4f7d20b9c56a3471fe8d05c2a6b93f4d7081e", "message": "Keep the cart over a restart, fixes #41", "distinct": true},
    {"id": "c27b90e41f6a835de0924c71b5d83fa60e19b74d", "message": "Test it, see #41 & #17", "distinct": true}
  ],
  "repository": {"id": 9001, "name": "shop", "full_name": "acme/shop"},
  "pusher": {"name": "ines"},
  "sender": {"login": "ines", "id": 501}
}`

const pullRequestEvent = `{
  "action": "closed",
  "number": 43,
  "pull_request": {
    "number": 43, "state": "closed", "title": "Keep the cart", "merged": true, "merged_at": "2026-12-01T09:30:00Z",
    "user": {"login": "ines", "id": 501}
  },
  "repository": {"id": 9001, "name": "shop", "full_name": "acme/shop"},
  "sender": {"login": "oskar", "id": 502}
}`

const releaseEvent = `{
  "id": "release-7",
  "type": "release.approved",
  "version": "v2.1.0",
  "repository": "acme/shop",
  "commit": "c27b90e41f6a835de0924c71b5d83fa60e19b74d",
  "regions": ["eu-west", "us-east"]
}`

// request is what a sender sends.
type request struct {
	path   string
	header map[string]string
	body   string
}

// githubJSON is what GitHub sends for a hook with the content type
// application/json.
func githubJSON(secret, event, id, body string) request {
	return githubRequest(secret, event, id, "application/json", body)
}

// githubForm is what GitHub sends for a hook with the content type
// application/x-www-form-urlencoded: the signature covers the encoded form.
func githubForm(secret, event, id, body string) request {
	return githubRequest(secret, event, id, "application/x-www-form-urlencoded", url.Values{"payload": {body}}.Encode())
}

func githubRequest(secret, event, id, contentType, body string) request {
	return request{path: "/webhooks/github", body: body, header: map[string]string{
		"Content-Type":        contentType,
		"X-GitHub-Event":      event,
		"X-GitHub-Delivery":   id,
		"X-Hub-Signature-256": "sha256=" + sign(secret, body),
	}}
}

// deskRequest is what the release desk sends: the signature covers the time and
// the body.
func deskRequest(secret, body string) request {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	return request{path: "/webhooks/desk", body: body, header: map[string]string{
		"Content-Type":     "application/json",
		"X-Desk-Timestamp": now,
		"X-Desk-Signature": "sha256=" + sign(secret, now+"."+body),
	}}
}

// sign returns the HMAC-SHA256 of text, in hex.
func sign(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// send sends a request to the server at base and returns the answer's status
// and body.
func send(ctx context.Context, base string, r request) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+r.path, strings.NewReader(r.body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, strings.TrimSpace(string(data)), err
}
