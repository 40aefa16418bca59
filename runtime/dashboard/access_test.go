package dashboard_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
)

// everything is a path of each kind that the page has, and some that it has not.
var everything = []string{
	"GET /", "GET /executions", "GET /executions/ID", "GET /executions/ID/payload", "GET /audit", "GET /jobs/x", "GET /static/style.css",
	"GET /live/", "GET /live/executions", "GET /live/executions/ID", "GET /none", "GET /executions/ID/retry", "HEAD /", "DELETE /executions",
	"POST /executions/ID/retry", "POST /executions/ID/cancel", "POST /bulk", "POST /bulk/run", "POST /jobs/x/stop", "POST /",
}

// each sends a request to everything.
func (s *site) each(id string, do func(what string, resp *http.Response, body string), change func(*http.Request)) {
	s.t.Helper()
	for _, what := range everything {
		method, path, _ := strings.Cut(what, " ")
		r := s.request(method, strings.ReplaceAll(path, "ID", id), nil)
		if change != nil {
			change(r)
		}
		resp, body := s.do(r)
		do(what, resp, body)
	}
}

func TestNothingIsServedToWhomNobodyKnows(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverRefund(t, "evt_1")
	for name, test := range map[string]struct {
		authorize func(*http.Request) (dashboard.Person, error)
		status    int
	}{
		"no Authorize": {nil, http.StatusForbidden},
		"an error": {func(*http.Request) (dashboard.Person, error) {
			return dashboard.Person{Name: "ann", Role: dashboard.Act}, errors.New("secret reason")
		}, http.StatusUnauthorized},
		"no role": {as("ann", dashboard.None), http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, shop.rt, dashboard.Config{Authorize: test.authorize})
			s.t = t
			s.each(e.ID, func(what string, resp *http.Response, body string) {
				if resp.StatusCode != test.status {
					t.Errorf("%s: %s, want %d", what, resp.Status, test.status)
				}
				if len(body) > 100 || strings.Contains(body, "secret") || strings.Contains(body, "<") {
					t.Errorf("%s: says %q", what, body)
				}
			}, nil)
		})
	}
	if got, err := shop.rt.Inspect(t.Context(), e.ID); err != nil || got.Attempts != 1 {
		t.Errorf("it was acted on: %d attempts, %v", got.Attempts, err)
	}
}

func TestEveryAnswerHasThePolicy(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverRefund(t, "evt_1")
	known := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.View)})
	unknown := serve(t, shop.rt, dashboard.Config{})
	check := func(what string, resp *http.Response, _ string) {
		policy := resp.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %s", what, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", what, resp.Header)
		}
		if what != "GET /static/style.css" && resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: may be stored: %q", what, resp.Header.Get("Cache-Control"))
		}
	}
	unknown.each(e.ID, check, nil)
	for _, what := range everything {
		if method, path, _ := strings.Cut(what, " "); !strings.HasPrefix(path, "/live") { // which goes on
			resp, body := known.do(known.request(method, strings.ReplaceAll(path, "ID", e.ID), nil))
			check(what, resp, body)
		}
	}
}

func TestWhoMayLookMayNotAct(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverRefund(t, "evt_1")
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.View)})
	for _, path := range []string{"/executions/" + e.ID + "/retry", "/executions/" + e.ID + "/cancel", "/bulk", "/bulk/run", "/jobs/x/stop"} {
		if resp, body := s.post(path, url.Values{"action": {"cancel"}, "scope": {"all"}}); resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "You may look, but not act.") {
			t.Errorf("POST %s: %s", path, resp.Status)
		}
	}
	s.lacks(s.get("/executions/"+e.ID)+s.get("/executions"), `method="post" action="./../executions`, "<button name", `type="checkbox" name="id"`)
	untouched(t, shop, e)
}

func TestActionsComeFromTheSameOriginByPOST(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverRefund(t, "evt_1")
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	for name, header := range map[string]http.Header{
		"another site":                   {"Sec-Fetch-Site": {"cross-site"}},
		"another host of the site":       {"Sec-Fetch-Site": {"same-site"}},
		"an old browser, another origin": {"Origin": {"https://evil.example"}},
		"no origin":                      {"Origin": {"null"}},
	} {
		for _, path := range []string{"/executions/" + e.ID + "/cancel", "/bulk/run", "/bulk"} {
			r := s.request(http.MethodPost, path, url.Values{"action": {"cancel"}, "scope": {"all"}})
			r.Header = header.Clone()
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if resp, body := s.do(r); resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "another site") {
				t.Errorf("%s: POST %s: %s", name, path, resp.Status)
			}
		}
	}
	for _, path := range []string{"/executions/" + e.ID + "/cancel", "/bulk", "/bulk/run", "/jobs/x/stop"} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
			resp, _ := s.do(s.request(method, path+"?action=cancel&scope=all", nil))
			if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
				t.Errorf("%s %s: %s", method, path, resp.Status)
			}
		}
	}
	untouched(t, shop, e)
}

// untouched fails if somebody did something to a dead execution.
func untouched(t *testing.T, shop *shop, e restaq.Execution) {
	t.Helper()
	got, err := shop.rt.Inspect(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Dead() || got.Attempts != e.Attempts {
		t.Errorf("the execution is %s after %d attempts", got.Status, got.Attempts)
	}
	audit, err := shop.rt.Audit(t.Context(), restaq.AuditFilter{})
	if err != nil || len(audit.Entries) != 0 {
		t.Errorf("audit: %v, %v", audit.Entries, err)
	}
}

func TestStrangeRequestsAreRefused(t *testing.T) {
	shop := openShop(t)
	shop.deliverRefund(t, "evt_1")
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	for path, want := range map[string]int{
		"/static/../dashboard.go":                           http.StatusNotFound,
		"/static/..%2fdashboard.go":                         http.StatusNotFound,
		"/static/%2e%2e/page/list.html":                     http.StatusNotFound,
		"/static/":                                          http.StatusNotFound,
		"/static/page":                                      http.StatusNotFound,
		"/executions/../audit":                              http.StatusNotFound,
		"/executions/":                                      http.StatusNotFound,
		"/executions/a%0d%0aSet-Cookie:%20x=y":              http.StatusNotFound,
		"/executions/%00":                                   http.StatusNotFound,
		"/executions/%ff":                                   http.StatusNotFound,
		"/executions/" + strings.Repeat("x", 2000):          http.StatusNotFound,
		"/executions?event=" + strings.Repeat("x", 9000):    http.StatusRequestURITooLong,
		"/executions?cursor=none":                           http.StatusBadRequest,
		"/?span=none":                                       http.StatusBadRequest,
		"/executions/x?find=" + strings.Repeat("x", 3000):   http.StatusNotFound,
		"/audit?person=" + url.QueryEscape("\r\nX-Evil: 1"): http.StatusOK,
	} {
		resp, body := s.raw(path)
		if resp.StatusCode != want {
			t.Errorf("GET %.60s: %s, want %d", path, resp.Status, want)
		}
		if resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("X-Evil") != "" {
			t.Errorf("GET %.60s: headers %v", path, resp.Header)
		}
		if strings.Contains(body, "package dashboard") || strings.Contains(body, "{{") {
			t.Errorf("GET %.60s shows a file", path)
		}
	}
	for name, form := range map[string]url.Values{
		"no action":        {"scope": {"all"}},
		"another action":   {"scope": {"all"}, "action": {"prune"}},
		"no scope":         {"action": {"cancel"}},
		"nothing selected": {"action": {"cancel"}, "scope": {"selected"}},
		"a bad filter":     {"action": {"cancel"}, "scope": {"all"}, "filter": {"status=odd"}},
		"no filter":        {"action": {"cancel"}, "scope": {"all"}, "filter": {"%zz"}},
		"many selected":    {"action": {"cancel"}, "scope": {"selected"}, "id": make([]string, 1001)},
	} {
		for _, path := range []string{"/bulk", "/bulk/run"} {
			if resp, _ := s.post(path, form); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: POST %s: %s", name, path, resp.Status)
			}
		}
	}
	if resp, _ := s.post("/bulk/run", url.Values{"action": {"cancel"}, "scope": {"selected"}, "id": {strings.Repeat("x", 200_000)}}); resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a large form: %s", resp.Status)
	}
	if resp, _ := s.post("/executions/a%0d%0aX-Evil:%201/retry", nil); resp.Header.Get("X-Evil") != "" || strings.ContainsAny(resp.Header.Get("Location"), "\r\n") {
		t.Errorf("header injection: %v", resp.Header)
	}
	if resp, _ := s.post("/executions/x/explode", nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown action: %s", resp.Status)
	}
}

// raw gets a path as it is: a client would clean it.
func (s *site) raw(path string) (*http.Response, string) {
	s.t.Helper()
	r := s.request(http.MethodGet, "/", nil)
	r.URL.Opaque = strings.TrimPrefix(s.url, "http:") + path
	if query := strings.IndexByte(path, '?'); query >= 0 {
		r.URL.Opaque = strings.TrimPrefix(s.url, "http:") + path[:query]
		r.URL.RawQuery = path[query+1:]
	}
	return s.do(r)
}

func TestBasicAuth(t *testing.T) {
	auth := dashboard.BasicAuth(
		dashboard.Login{Name: "ann", Password: "correct horse", Role: dashboard.Act},
		dashboard.Login{Name: "bob", Password: "battery", Role: dashboard.View},
		dashboard.Login{Name: "eve", Password: "", Role: dashboard.Act},
	)
	for _, test := range []struct {
		name, password string
		want           dashboard.Role
	}{
		{"ann", "correct horse", dashboard.Act}, {"bob", "battery", dashboard.View},
		{"ann", "battery", 0}, {"bob", "", 0}, {"eve", "", 0}, {"", "", 0}, {"annc", "orrect horse", 0},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(test.name, test.password)
		p, err := auth(r)
		if p.Role != test.want || (err == nil) != (test.want != 0) || err == nil && p.Name != test.name {
			t.Errorf("%s with %q: %v, %v", test.name, test.password, p, err)
		}
	}
	shop := openShop(t)
	s := serve(t, shop.rt, dashboard.Config{Authorize: auth})
	if resp, _ := s.do(s.request(http.MethodGet, "/", nil)); resp.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("browsers do not ask for a password: %s %v", resp.Status, resp.Header)
	}
}

func TestBearerToken(t *testing.T) {
	auth := dashboard.BearerToken(
		dashboard.Token{Secret: "s3cret", Person: dashboard.Person{Name: "robot", Role: dashboard.View}},
		dashboard.Token{Secret: "", Person: dashboard.Person{Name: "nobody", Role: dashboard.Act}},
	)
	for header, want := range map[string]string{
		"Bearer s3cret": "robot", "bearer s3cret": "robot", "Bearer s3cre": "", "Bearer ": "", "Bearer": "", "": "", "Basic s3cret": "", "s3cret": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		if p, err := auth(r); p.Name != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v", header, p, err)
		}
	}
}

func TestTrustedHeader(t *testing.T) {
	role := func(name string) dashboard.Role {
		if name == "ann" {
			return dashboard.Act
		}
		return dashboard.None
	}
	auth := dashboard.TrustedHeader{Header: "X-Forwarded-User", From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Role: role}
	for _, test := range []struct {
		from   string
		header []string
		want   string
	}{
		{"10.1.2.3:99", []string{"ann"}, "ann"},
		{"[::ffff:10.1.2.3]:99", []string{"ann"}, "ann"},
		{"192.0.2.1:99", []string{"ann"}, ""},
		{"", []string{"ann"}, ""},
		{"10.1.2.3:99", []string{"ann", "eve"}, ""},
		{"10.1.2.3:99", []string{" "}, ""},
		{"10.1.2.3:99", []string{"a\x07n"}, ""},
		{"10.1.2.3:99", nil, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = test.from
		r.Header["X-Forwarded-User"] = test.header
		if p, err := auth.Authorize(r); p.Name != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q from %q: %v, %v", test.header, test.from, p, err)
		}
	}
	if _, err := (dashboard.TrustedHeader{From: auth.From, Role: role}).Authorize(httptest.NewRequest(http.MethodGet, "/", nil)); err == nil {
		t.Error("no header is trusted")
	}
}
