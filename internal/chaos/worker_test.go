//go:build linux

package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
	"github.com/restaq/restaq/runtime/webhook"
)

// workerConfig is what a worker process is told.
type workerConfig struct {
	Name   string
	Kind   string // of store: "postgres" or "sqlite"
	Target string // URL or path
	Ledger string

	ReceiveOnly bool
	Concurrency int
	Attempts    int
	Lease       time.Duration
	Poll        time.Duration
	Shutdown    time.Duration
	Deliver     time.Duration
	Backoff     restaq.Backoff
	ClockAhead  time.Duration // of this process's clock
	Zone        string        // TZ
	Fail        *failPoint
}

// order is a webhook's payload, in Stripe's form: what the steps shall do.
type order struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Type   string `json:"type"`

	Work       int    `json:"work,omitempty"`       // ms that each step takes
	FailOnce   string `json:"failOnce,omitempty"`   // a step that fails in attempt 1
	Hold       string `json:"hold,omitempty"`       // the worker whose step "charge" waits, or
	HoldIn     string `json:"holdIn,omitempty"`     // another step
	Gate       string `json:"gate,omitempty"`       // until this file is there
	Downstream string `json:"downstream,omitempty"` // asked by step "ship"
	Pad        string `json:"pad,omitempty"`        // for nothing
}

const (
	handlerName = "chaos.Order"
	eventType   = "stripe.chaos.order"
)

// stepNames are the steps, in order.
var stepNames = []string{"reserve", "charge", booking, "ship", "notify"}

// worker is a worker process.
type worker struct {
	cfg    workerConfig
	ledger *ledger
	values atomic.Int64
	bookIt *restaq.Step[*worker, bookIn, string]
}

// runWorker works until SIGTERM.
func runWorker(cfg workerConfig) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := openLedger(cfg.Ledger)
	if err != nil {
		return err
	}
	w := &worker{cfg: cfg, ledger: l, bookIt: bookStep(cfg.Kind)}
	store, closeStore, err := w.openStore(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	rt, err := restaq.New(store, restaq.Config{
		Logger:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Concurrency: cfg.Concurrency, Attempts: cfg.Attempts, Backoff: cfg.Backoff, Lease: cfg.Lease, Poll: cfg.Poll,
		ShutdownTimeout: cfg.Shutdown, DeliverTimeout: cfg.Deliver,
		Now: func() time.Time { return time.Now().Add(cfg.ClockAhead) },
	})
	if err != nil {
		return err
	}
	handler := restaq.Handler[restaq.Event]{Name: handlerName, Events: []string{eventType}, Func: w.handle}
	if err := rt.Register(handler, w.bookIt.Bind(w)); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: rt.Webhook(webhook.Insecure(webhook.Stripe("unused")))}
	defer server.Close()
	go func() { _ = server.Serve(listener) }() // until Close
	fmt.Printf("http://%s\n", listener.Addr())
	if cfg.ReceiveOnly {
		<-ctx.Done()
		return nil
	}
	return w.run(ctx, rt)
}

// run runs the runtime. Run may find the database out of reach when it starts;
// whoever starts processes would start it again.
func (w *worker) run(ctx context.Context, rt *restaq.Runtime) error {
	for {
		err := rt.Run(ctx)
		if err == nil {
			w.ledger.write(entry{What: drained, Worker: w.cfg.Name})
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		slog.Warn("run", "error", err)
		if pause(ctx, 100*time.Millisecond) != nil {
			return nil
		}
	}
}

// openStore opens the store, again and again while its server is away.
func (w *worker) openStore(ctx context.Context) (restaq.Store, func(), error) {
	for {
		store, closeStore, err := w.open(ctx)
		if err == nil || pause(ctx, 100*time.Millisecond) != nil {
			return store, closeStore, err
		}
		slog.Warn("open store", "error", err)
	}
}

func (w *worker) open(ctx context.Context) (restaq.Store, func(), error) {
	fail := &failing{}
	if w.cfg.Fail != nil {
		fail.point = *w.cfg.Fail
		fail.die = func() {
			w.ledger.write(entry{What: dying, Worker: w.cfg.Name, Text: fail.point.String()})
			kill()
		}
	}
	if w.cfg.Kind == "sqlite" {
		store, err := sqlite.Open(w.cfg.Target)
		if err != nil {
			return nil, nil, err
		}
		fail.store = store
		return failingSQLite{fail, deepSQLite{store}}, func() { store.Close() }, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	store, err := postgres.Open(ctx, w.cfg.Target)
	if err != nil {
		return nil, nil, err
	}
	fail.store = store
	return failingPostgres{fail, deepPostgres{store}}, func() { store.Close() }, nil
}

// handle is the handler: all steps in order, each given what the one before
// returned.
func (w *worker) handle(ctx context.Context, event restaq.Event) error {
	var o order
	if err := json.Unmarshal(event.Payload, &o); err != nil {
		return restaq.Permanent(err)
	}
	for _, name := range stepNames {
		value, err := w.call(ctx, name, &o)
		if err != nil {
			w.say(ctx, entry{What: refused, Step: name, Text: err.Error()})
			return err
		}
		w.say(ctx, entry{What: recorded, Step: name, Value: value})
	}
	return nil
}

// call calls a step's wrapper.
func (w *worker) call(ctx context.Context, name string, o *order) (string, error) {
	if name == booking {
		return w.bookIt.Run(ctx, w, bookIn{*o})
	}
	return restaq.Do(ctx, name, func(ctx context.Context) (string, error) {
		w.say(ctx, entry{What: began, Step: name})
		if err := w.step(ctx, name, o); err != nil {
			return "", err
		}
		value := w.value(name)
		w.say(ctx, entry{What: returned, Step: name, Value: value})
		return value, nil
	})
}

// say writes to the ledger in the name of the execution that ctx belongs to.
func (w *worker) say(ctx context.Context, e entry) {
	e.Worker, e.Execution, e.Attempt = w.cfg.Name, restaq.ExecutionID(ctx), restaq.Attempt(ctx)
	w.ledger.write(e)
}

// value returns a text that no other call of a step returns.
func (w *worker) value(name string) string {
	return fmt.Sprintf("%s by %s, process %d, number %d", name, w.cfg.Name, os.Getpid(), w.values.Add(1))
}

// step does what the order says.
func (w *worker) step(ctx context.Context, name string, o *order) error {
	if err := pause(ctx, time.Duration(o.Work)*time.Millisecond); err != nil {
		return err
	}
	if name == o.FailOnce && restaq.Attempt(ctx) == 1 {
		return errors.New("fails in the first attempt")
	}
	if name == cmp.Or(o.HoldIn, "charge") && o.Hold == w.cfg.Name {
		if err := gate(ctx, o.Gate); err != nil {
			return err
		}
	}
	if name == "ship" && o.Downstream != "" {
		return ask(ctx, o.Downstream+"/"+restaq.ExecutionID(ctx))
	}
	return nil
}

// pause is work that takes d.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// gate waits for a file.
func gate(ctx context.Context, name string) error {
	for {
		if _, err := os.Stat(name); err == nil {
			return nil
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// ask calls a service that may say when to come back.
func ask(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	err = fmt.Errorf("downstream: %s", response.Status)
	if seconds, bad := strconv.Atoi(response.Header.Get("Retry-After")); bad == nil {
		return restaq.RetryAfter(err, time.Duration(seconds)*time.Second)
	}
	return err
}
