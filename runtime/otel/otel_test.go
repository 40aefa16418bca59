package otel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/otel"
	"github.com/restaq/restaq/runtime/sqlite"
	"github.com/restaq/restaq/runtime/webhook"
)

// incoming is the trace context that a sender's request carries.
const incoming = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// seen runs a handler that fails once on two deliveries, one of them a
// duplicate, and returns what was observed.
func seen(t *testing.T) (tracetest.SpanStubs, map[string]float64) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	reader := metric.NewManualReader()
	traces := trace.NewTracerProvider(trace.WithSyncer(spans))
	observer, err := otel.New(otel.Config{
		TracerProvider: traces,
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "restaq.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ended := make(chan *restaq.AttemptEnd, 10)
	rt, err := restaq.New(store, restaq.Config{
		Observer: observer, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Poll: 10 * time.Millisecond, Backoff: restaq.Backoff{Min: time.Millisecond, Max: time.Millisecond},
		Hooks: restaq.Hooks{AttemptEnded: func(_ context.Context, a *restaq.AttemptEnd) { ended <- a }},
	})
	if err != nil {
		t.Fatal(err)
	}
	var failed atomic.Bool
	err = rt.Register(restaq.Handler[restaq.Event]{Name: "shop.Paid", Events: []string{"stripe.paid"}, Func: func(ctx context.Context, _ restaq.Event) error {
		if _, err := restaq.Do(ctx, "charge", func(ctx context.Context) (int, error) {
			_, span := traces.Tracer("user").Start(ctx, "bank")
			span.End()
			return 1, nil
		}); err != nil {
			return err
		}
		_, err := restaq.Do(ctx, "mail", func(context.Context) (int, error) {
			if !failed.Swap(true) {
				return 0, errors.New("mail is down\nand more")
			}
			return 2, nil
		})
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- rt.Run(ctx) }()
	hook := rt.Webhook(webhook.Insecure(webhook.Stripe("unused")))
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"id":"evt_1","object":"event","type":"paid"}`))
		r.RemoteAddr = "127.0.0.1:1"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", incoming)
		w := httptest.NewRecorder()
		hook.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("delivery: %d %s", w.Code, w.Body)
		}
	}
	hook.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	for range 2 {
		<-ended
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return spans.GetSpans(), values(t, reader)
}

// values reads counters, and histograms as the number of their values, by name
// and attributes.
func values(t *testing.T, reader metric.Reader) map[string]float64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	name := func(m metricdata.Metrics, set attribute.Set) string {
		return strings.TrimSpace(m.Name + " " + strings.ReplaceAll(set.Encoded(attribute.DefaultEncoder()), "restaq.", ""))
	}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Description == "" || m.Unit == "" {
				t.Errorf("%s has description %q and unit %q", m.Name, m.Description, m.Unit)
			}
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					all[name(m, p.Attributes)] = float64(p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					all[name(m, p.Attributes)] = float64(p.Count)
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					all[name(m, p.Attributes)] = float64(p.Count)
				}
			default:
				t.Errorf("%s is a %T", m.Name, m.Data)
			}
		}
	}
	return all
}

func TestTracesJoinTheSendersAndLinkAttempts(t *testing.T) {
	spans, _ := seen(t)
	name := map[string]string{} // of spans by their id
	for _, s := range spans {
		name[s.SpanContext.SpanID().String()] = s.Name
	}
	name["b7ad6b7169203331"] = "the sender's"
	var got []string
	for _, s := range spans {
		if s.SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is in trace %s", s.Name, s.SpanContext.TraceID())
		}
		line := fmt.Sprintf("%s < %s", s.Name, name[s.Parent.SpanID().String()])
		for _, l := range s.Links {
			line += " ~ " + name[l.SpanContext.SpanID().String()]
		}
		if s.Status.Code == codes.Error {
			line += " ! " + s.Status.Description
		}
		for _, e := range s.Events {
			line += " + " + e.Name
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{
		"attempt shop.Paid < deliver stripe.paid ! step mail: mail is down",
		"attempt shop.Paid < deliver stripe.paid ~ attempt shop.Paid + step charge",
		"bank < step charge",
		"deliver stripe.paid < the sender's",
		"deliver stripe.paid < the sender's",
		"execution shop.Paid < deliver stripe.paid ~ attempt shop.Paid ~ attempt shop.Paid",
		"step charge < attempt shop.Paid",
		"step mail < attempt shop.Paid",
		"step mail < attempt shop.Paid ! step mail: mail is down",
	}
	if !slices.Equal(got, want) {
		t.Errorf("spans\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMetricsCountWhatHappened(t *testing.T) {
	_, got := seen(t)
	for name, want := range map[string]float64{
		"restaq.deliveries provider=stripe,result=accepted,source=stripe":        1,
		"restaq.deliveries provider=stripe,result=duplicate,source=stripe":       1,
		"restaq.delivery.duration provider=stripe,result=accepted,source=stripe": 1,
		"restaq.refusals provider=stripe,source=stripe,status=405":               1,
		"restaq.executions handler=shop.Paid,outcome=completed":                  1,
		"restaq.attempts handler=shop.Paid,outcome=failed":                       1,
		"restaq.attempts handler=shop.Paid,outcome=completed":                    1,
		"restaq.attempt.duration handler=shop.Paid,outcome=completed":            1,
		"restaq.retries handler=shop.Paid":                                       1,
		"restaq.queue.age handler=shop.Paid":                                     1,
		"restaq.step.duration handler=shop.Paid,status=completed,step=charge":    1,
		"restaq.step.duration handler=shop.Paid,status=skipped,step=charge":      1,
		"restaq.step.duration handler=shop.Paid,status=failed,step=mail":         1,
		"restaq.step.duration handler=shop.Paid,status=completed,step=mail":      1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	for _, name := range []string{"restaq.store.duration error=false,method=Insert", "restaq.store.duration error=false,method=Finish", "restaq.commit.writes"} {
		if got[name] < 1 {
			t.Errorf("%s has no values", name)
		}
	}
	if t.Failed() {
		t.Logf("%v", got)
	}
}

func TestWithoutProvidersNothingIsStored(t *testing.T) {
	observer, err := otel.New(otel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := &restaq.Event{Header: http.Header{"X": {"y"}}}
	_, end := observer.Delivery(t.Context(), e)
	end(&restaq.Receipt{}, nil)
	if len(e.Header) != 1 {
		t.Errorf("header %v", e.Header)
	}
	_, trace, attemptEnd := observer.Attempt(t.Context(), &restaq.AttemptStart{Event: e, Traces: []string{"nonsense", ""}})
	attemptEnd(&restaq.AttemptEnd{AttemptStart: restaq.AttemptStart{Event: e}, Dead: true})
	if trace != "" {
		t.Errorf("trace %q", trace)
	}
}
