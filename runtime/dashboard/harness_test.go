package dashboard_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
)

// site is a dashboard on a server, below /ops.
type site struct {
	t   *testing.T
	url string
}

// as is a Config.Authorize that knows one person.
func as(name string, role dashboard.Role) func(*http.Request) (dashboard.Person, error) {
	return func(*http.Request) (dashboard.Person, error) { return dashboard.Person{Name: name, Role: role}, nil }
}

func serve(t *testing.T, rt *restaq.Runtime, cfg dashboard.Config) *site {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/ops", dashboard.Handler(rt, cfg)))
	t.Cleanup(server.Close)
	return &site{t, server.URL + "/ops"}
}

// client follows no redirection.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do sends a request and returns the answer with its body.
func (s *site) do(r *http.Request) (*http.Response, string) {
	s.t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(body)
}

func (s *site) request(method, path string, form url.Values) *http.Request {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

// get returns a page that must be there.
func (s *site) get(path string) string {
	s.t.Helper()
	resp, body := s.do(s.request(http.MethodGet, path, nil))
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: %s\n%s", path, resp.Status, body)
	}
	return body
}

// post sends a form as a browser does, and returns the answer.
func (s *site) post(path string, form url.Values) (*http.Response, string) {
	s.t.Helper()
	r := s.request(http.MethodPost, path, form)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.do(r)
}

// act sends a form and returns the page to which the browser is sent.
func (s *site) act(path string, form url.Values) (where, body string) {
	s.t.Helper()
	resp, body := s.post(path, form)
	if resp.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("POST %s: %s\n%s", path, resp.Status, body)
	}
	to, err := resp.Location()
	if err != nil {
		s.t.Fatal(err)
	}
	where, ok := strings.CutPrefix(to.String(), s.url)
	if !ok {
		s.t.Fatalf("POST %s leads to %s", path, to)
	}
	return where, s.get(where)
}

// holds fails unless text has all parts.
func (s *site) holds(text string, parts ...string) {
	s.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			s.t.Errorf("the page lacks %q:\n%s", part, text)
		}
	}
}

// lacks fails if text has one of the parts.
func (s *site) lacks(text string, parts ...string) {
	s.t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			s.t.Errorf("the page has %q:\n%s", part, text)
		}
	}
}
