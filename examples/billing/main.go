// Billing is a shop's billing service: it receives Stripe's webhooks and
// handles each successful charge in four steps.
//
//	billing [-addr ADDR] [-store sqlite:PATH | postgres://…]
//	billing -demo [-store …]
//
// The signing secret of the endpoint is read from STRIPE_WEBHOOK_SECRET. With
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
	storeURL := flag.String("store", "sqlite:billing.db", "keep everything in `STORE`: sqlite:PATH or postgres://…")
	demo := flag.Bool("demo", false, "send events to this program itself and show what happens")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *demo {
		err = runDemo(ctx, os.Stdout, demoStore(*storeURL))
	} else {
		err = serve(ctx, *addr, *storeURL, os.Getenv("STRIPE_WEBHOOK_SECRET"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "billing:", err)
		os.Exit(1)
	}
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

// serve runs the service until ctx ends.
func serve(ctx context.Context, addr, storeURL, secret string) error {
	if secret == "" {
		return errors.New("STRIPE_WEBHOOK_SECRET is not set: copy the endpoint's signing secret from Stripe's dashboard")
	}
	store, err := openStore(ctx, storeURL)
	if err != nil {
		return err
	}
	defer store.Close()
	b := &Billing{ledger: new(Ledger), mailer: new(Mailer), warehouse: new(Warehouse)}
	rt, err := restaq.New(store, restaq.Config{})
	if err != nil {
		return err
	}
	if err := b.RegisterHandlers(rt); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	slog.Info("listening", "url", "http://"+listener.Addr().String()+"/webhooks/stripe")
	return run(ctx, rt, listener, secret)
}

// run serves webhooks and works until ctx ends; then it stops taking requests
// and drains.
func run(ctx context.Context, rt *restaq.Runtime, listener net.Listener, secret string) error {
	mux := http.NewServeMux()
	mux.Handle("/webhooks/stripe", rt.Webhook(webhook.Stripe(secret)))
	server := &http.Server{Handler: mux}
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
