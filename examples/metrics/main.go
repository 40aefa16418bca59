// Metrics shows a service whose webhooks Prometheus can watch: the runtime's
// observer feeds OpenTelemetry, whose Prometheus exporter answers /metrics. The
// alert rules and the Grafana dashboard in docs/prometheus read what it
// exports.
//
//	metrics [-addr ADDR]
//
// The endpoint takes unsigned requests from this machine:
//
//	curl -H 'Content-Type: application/json' localhost:8080/webhooks/stripe \
//		-d '{"id":"evt_1","object":"event","type":"charge.succeeded"}'
//	curl localhost:8080/metrics
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/otel"
	"github.com/restaq/restaq/runtime/webhook"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "listen on `ADDR`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		err = run(ctx, listener)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, listener net.Listener) error {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return err
	}
	observer, err := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(exporter))})
	if err != nil {
		return err
	}
	rt, err := restaq.New(memory.New(), restaq.Config{Observer: observer})
	if err != nil {
		return err
	}
	if err := RegisterHandlers(rt); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/webhooks/stripe", rt.Webhook(webhook.Insecure(webhook.Stripe("unused"))))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if err := rt.Health(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Handler: mux}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = rt.Run(ctx)
	if closeErr := server.Shutdown(context.WithoutCancel(ctx)); err == nil {
		err = closeErr
	}
	if serveErr := <-served; err == nil && !errors.Is(serveErr, http.ErrServerClosed) {
		err = serveErr
	}
	return err
}
