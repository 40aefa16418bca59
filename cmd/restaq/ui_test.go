package main

import (
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
	"github.com/restaq/restaq/runtime/memory"
)

func TestTheAddressLetsOneBrowserIn(t *testing.T) {
	rt, err := restaq.New(memory.New(), restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	a := &app{output: &output{stdout: os.Stdout, stderr: os.Stderr}}
	d := newDoor(dashboard.Person{Name: "ada", Role: dashboard.View})
	server := httptest.NewServer(local(d.guard(a.webPage(rt, d.authorize))))
	defer server.Close()
	browser := func() *http.Client {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Client{Jar: jar}
	}
	status := func(c *http.Client, path, host string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	ada, eve := browser(), browser()
	if got := status(ada, "/", ""); got == http.StatusOK {
		t.Error("the page is served without a ticket")
	}
	if got := status(ada, "/open/wrong", ""); got != http.StatusForbidden {
		t.Errorf("a wrong ticket gets %d", got)
	}
	if got := status(ada, "/open/"+d.ticket, ""); got != http.StatusOK {
		t.Errorf("the ticket leads to %d", got)
	}
	if got := status(ada, "/executions", ""); got != http.StatusOK {
		t.Errorf("who was let in gets %d", got)
	}
	if got := status(eve, "/open/"+d.ticket, ""); got != http.StatusForbidden {
		t.Errorf("the ticket, used again, gets %d", got)
	}
	if got := status(eve, "/executions", ""); got == http.StatusOK {
		t.Error("another browser is let in")
	}
	if got := status(ada, "/", "evil.example:80"); got != http.StatusForbidden {
		t.Errorf("another name of this machine gets %d", got)
	}
}
