// Ship builds and deploys: it receives GitHub's webhooks and those of a sender
// of its own, the release desk, and handles them with package-level functions.
//
//	ship [-addr ADDR] [-store sqlite:PATH | postgres://…]
//	ship -demo [-store …]
//
// The secrets are read from GITHUB_WEBHOOK_SECRET and DESK_WEBHOOK_SECRET. With
// -demo the program sends itself signed events over HTTP, shows what happens,
// and ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
	"github.com/restaq/restaq/runtime/webhook"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "listen on `ADDR`")
	storeURL := flag.String("store", "sqlite:ship.db", "keep everything in `STORE`: sqlite:PATH or postgres://…")
	demo := flag.Bool("demo", false, "send events to this program itself and show what happens")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *demo {
		err = runDemo(ctx, os.Stdout, demoStore(*storeURL))
	} else {
		err = serve(ctx, *addr, *storeURL, secrets{github: os.Getenv("GITHUB_WEBHOOK_SECRET"), desk: os.Getenv("DESK_WEBHOOK_SECRET")})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ship:", err)
		os.Exit(1)
	}
}

// secrets are what the senders sign with.
type secrets struct{ github, desk string }

// endpoints returns a mux with an endpoint for each sender.
func endpoints(rt *restaq.Runtime, s secrets) *http.ServeMux {
	desk := webhook.HMACConfig{
		Name:      "desk", // its types are desk.…
		Secrets:   []string{s.desk},
		Header:    "X-Desk-Signature",
		Prefix:    "sha256=",
		Timestamp: webhook.Timestamp{Header: "X-Desk-Timestamp"},
	}
	mux := http.NewServeMux()
	mux.Handle("/webhooks/github", rt.Webhook(webhook.GitHub(s.github)))
	mux.Handle("/webhooks/desk", rt.Webhook(desk.Provider()))
	return mux
}

// serve runs the service until ctx ends.
func serve(ctx context.Context, addr, storeURL string, s secrets) error {
	if s.github == "" || s.desk == "" {
		return errors.New("GITHUB_WEBHOOK_SECRET and DESK_WEBHOOK_SECRET must be set, to what the senders sign with")
	}
	store, err := openStore(ctx, storeURL)
	if err != nil {
		return err
	}
	defer store.Close()
	rt, err := restaq.New(store, restaq.Config{})
	if err != nil {
		return err
	}
	if err := RegisterHandlers(rt); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	slog.Info("listening", "url", "http://"+listener.Addr().String()+"/webhooks/")
	return run(ctx, rt, listener, s)
}

// run serves webhooks and works until ctx ends; then it stops taking requests
// and drains.
func run(ctx context.Context, rt *restaq.Runtime, listener net.Listener, s secrets) error {
	server := &http.Server{Handler: endpoints(rt, s)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err := rt.Run(ctx)
	if closeErr := server.Shutdown(context.WithoutCancel(ctx)); err == nil {
		err = closeErr
	}
	if serveErr := <-served; err == nil && !errors.Is(serveErr, http.ErrServerClosed) {
		err = serveErr
	}
	return err
}

// closer is a store that can be closed.
type closer interface {
	restaq.Store
	Close() error
}

// openStore opens the store that url names.
func openStore(ctx context.Context, url string) (closer, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.Open(path)
	}
	return postgres.Open(ctx, url)
}
