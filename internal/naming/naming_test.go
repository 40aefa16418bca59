package naming

import (
	"go/token"
	"regexp"
	"slices"
	"testing"
)

func TestExportedFollowsGoCustom(t *testing.T) {
	for in, want := range map[string]string{
		"user_id": "UserID", "html_url": "HTMLURL", "ids": "IDs", "idea": "Idea", "apiURLs": "APIURLs", "https": "HTTPS",
		"oauth2_sha256": "OAuth2SHA256", "charge.succeeded": "ChargeSucceeded", "push": "Push", "pull_request.review_requested": "PullRequestReviewRequested",
		"+1": "PlusOne", "-1": "MinusOne", "userId": "UserID", "_links": "Links", "b2b?": "B2B", "example-key": "ExampleKey",
		"": "Empty", " ": "Space", "*": "Star", "3d": "N3D", "1.0.2": "N1_0_2", "too heated": "TooHeated", "won't fix": "WontFix", "[redacted]": "Redacted", "en-GB": "EnGB",
		"type": "Type", "default": "Default", "名前": "X名前", "größe": "Größe", "base64url": "Base64URL", "html_urls": "HTMLURLs", "utf8": "UTF8", "v2.core.account[configuration.customer].updated": "V2CoreAccountConfigurationCustomerUpdated",
		"oauth_token": "OAuthToken", "github_app": "GitHubApp", "ip": "IP", "ids_": "IDs", "A": "A", "a": "A", "HTTPServer": "HTTPServer", "node_id": "NodeID", "\U0001F600": "Symbol", "e\u0301t": "Et",
	} {
		if got := Exported(in); got != want {
			t.Errorf("Exported(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestKebab(t *testing.T) {
	for in, want := range map[string]string{
		"recordPayment": "record-payment", "sendHTTPV2": "send-http-v2", "SendReceipt": "send-receipt", "x": "x", "step1": "step1",
		"sendB2BMail": "send-b2b-mail", "fetchGitHubUser": "fetch-github-user", "newOAuthToken": "new-oauth-token", "oauth2SHA256": "oauth2-sha256",
		"parseJSONURL": "parse-json-url", "userIDs": "user-ids", "record_payment": "record-payment", "sendV2Mail": "send-v2-mail", "größe": "gru00f6u00dfe",
		"ID": "id", "getURLsFor": "get-urls-for", "HTTPServer": "http-server", "_": "underscore", "ABCs": "abcs", "isAValue": "is-a-value",
	} {
		if got := Kebab(in); got != want {
			t.Errorf("Kebab(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestScopeKeepsNamesApart(t *testing.T) {
	var s Scope
	for _, c := range []struct{ in, want string }{{"A", "A"}, {"A", "A2"}, {"A2", "A2_2"}, {"A", "A3"}, {"A2", "A2_3"}} {
		if got := s.Take(c.in); got != c.want {
			t.Errorf("Take(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := s.Take("A", "AObject"); got != "AObject" {
		t.Errorf("fallback not taken: %q", got)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"", "user_id", "+1", "名前", "sendHTTPV2", "\xff", "a\u0301", "ǅ"} {
		f.Add(s)
	}
	kebab := regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	f.Fuzz(func(t *testing.T, s string) {
		if id := Exported(s); !token.IsIdentifier(id) || !token.IsExported(id) {
			t.Errorf("Exported(%q) = %q", s, id)
		}
		for _, id := range Alternatives(s) {
			if !token.IsIdentifier(id) || !token.IsExported(id) {
				t.Errorf("Alternatives(%q): %q", s, id)
			}
		}
		for _, id := range Parts(s) {
			if !token.IsIdentifier("T" + id) {
				t.Errorf("Parts(%q): %q", s, id)
			}
		}
		if k := Kebab(s); !kebab.MatchString(k) {
			t.Errorf("Kebab(%q) = %q", s, k)
		}
	})
}

func TestAlternativesKeepNamesApart(t *testing.T) {
	for in, want := range map[string][]string{
		"user_id": {"UserID", "User_id", "UserIDSnake"}, "userId": {"UserID", "UserId", "UserIDCamel"}, "user-id": {"UserID", "UserIDKebab"}, "iDealConsumerIban": {"IDealConsumerIBAN", "IDealConsumerIban"},
		"A": {"A", "AUpper"}, "a": {"A", "ALower"}, "名": {"X名", "X名Sign"}, "": {"Empty", "EmptyEmpty"}, "a.b": {"AB", "ABDotted"}, "a b": {"AB", "ABSpaced"}, "+1": {"PlusOne", "PlusOneSign"},
	} {
		if got := Alternatives(in); !slices.Equal(got[:len(want)], want) {
			t.Errorf("Alternatives(%q) = %q, want %q first", in, got, want)
		}
	}
	if got := Parts("3d"); got[0] != "3D" || got[1] != "3DLower" {
		t.Errorf("Parts: %q", got)
	}
	order := ByPreference([]string{"userId", "b", "", "+1", "user_id", "A", "b", "1a"})
	if want := []string{"b", "user_id", "", "+1", "1a", "A", "userId"}; !slices.Equal(order, want) {
		t.Errorf("ByPreference: %q, want %q", order, want)
	}
}
