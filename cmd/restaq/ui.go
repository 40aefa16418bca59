package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
)

// uiFlags are the flags of ui.
type uiFlags struct {
	listen, login string
	readOnly      bool
}

func uiCommand(a *app) *cobra.Command {
	var f uiFlags
	cmd := &cobra.Command{
		Use:   "ui [--listen ADDRESS] [--read-only]",
		Short: "Serve the web page of a store to this machine",
		Long: `Serve the web page (package dashboard) to browsers on this machine, until
interrupted. Nobody else can reach it: --listen takes loopback addresses only.
From another machine, use a tunnel: ssh -L 8337:127.0.0.1:8337 HOST.

Prints an address that lets one browser in, once. Who opens it acts in the name
of who runs the command. Instead, RESTAQ_UI_LOGIN=NAME:PASSWORD makes the page
ask every browser for these.`,
		Example: `  restaq ui
  restaq ui --listen 127.0.0.1:0 --read-only
  RESTAQ_UI_LOGIN=ada:correct-horse restaq ui --store postgres://ops@db/shop`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			f.login = a.getenv("RESTAQ_UI_LOGIN")
			if name, password, ok := strings.Cut(f.login, ":"); f.login != "" && (!ok || name == "" || password == "") {
				return errors.New("RESTAQ_UI_LOGIN: want NAME:PASSWORD")
			}
			host, _, err := net.SplitHostPort(f.listen)
			if err != nil || !loopback(host) {
				return fmt.Errorf("--listen %q: want a loopback address such as 127.0.0.1:8337", f.listen)
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error { return a.ui(ctx, rt, &f) }),
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8337", "the loopback `address` to serve at; port 0 is any free one")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "let nobody act")
	return cmd
}

// loopback reports whether a host is this machine, and reached from it alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ui serves until ctx ends.
func (a *app) ui(ctx context.Context, rt *restaq.Runtime, f *uiFlags) error {
	listener, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	role := dashboard.Act
	if f.readOnly {
		role = dashboard.View
	}
	address := "http://" + listener.Addr().String() + "/"
	var handler http.Handler
	if name, password, ok := strings.Cut(f.login, ":"); ok {
		handler = a.webPage(rt, dashboard.BasicAuth(dashboard.Login{Name: name, Password: password, Role: role}))
	} else {
		d := newDoor(dashboard.Person{Name: person(), Role: role})
		handler = d.guard(a.webPage(rt, d.authorize))
		address += "open/" + d.ticket
	}
	server := &http.Server{
		Handler:           local(handler),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // ends pages that are followed
	}
	a.print(address)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if server.Shutdown(drain) != nil {
		server.Close()
	}
	return nil
}

// webPage is the dashboard, which tells of trouble on standard error.
func (a *app) webPage(rt *restaq.Runtime, authorize func(*http.Request) (dashboard.Person, error)) http.Handler {
	return dashboard.Handler(rt, dashboard.Config{
		Authorize: authorize, Logger: slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// local refuses requests that name another host: a site that makes its own name
// mean this machine is none of ours.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !loopback(strings.Trim(host, "[]")) {
			http.Error(w, "this page is for this machine only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// door lets in the browser that opens it first.
type door struct {
	person dashboard.Person
	ticket string

	mu      sync.Mutex
	session string // "" while the ticket is good
}

// cookieName is the cookie's of who was let in.
const cookieName = "restaq_ui"

func newDoor(p dashboard.Person) *door { return &door{person: p, ticket: rand.Text()} }

// open takes the ticket and returns a session, or "" if it has been used.
func (d *door) open(ticket string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != "" || subtle.ConstantTimeCompare([]byte(ticket), []byte(d.ticket)) != 1 {
		return ""
	}
	d.session = rand.Text()
	return d.session
}

// guard serves the address that opens the door, and what is behind it.
func (d *door) guard(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /open/{ticket}", func(w http.ResponseWriter, r *http.Request) {
		session := d.open(r.PathValue("ticket"))
		if session == "" {
			http.Error(w, "this address has been used: run restaq ui again", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	mux.Handle("/", next)
	return mux
}

// authorize says who asks.
func (d *door) authorize(r *http.Request) (dashboard.Person, error) {
	cookie, err := r.Cookie(cookieName)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || d.session == "" || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(d.session)) != 1 {
		return dashboard.Person{}, errors.New("open the address that restaq ui printed")
	}
	return d.person, nil
}
