package restaq_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/codec"
)

func TestLogLinesAreLoudAndDiscreet(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var buf syncBuffer
		cfg := quick()
		cfg.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
		cfg.Attempts = 2
		s := step("pay", func(_ context.Context, v string) (string, error) {
			return "", errors.New("declined\nsecond-line-secret")
		})
		s.Key = func(in1) string { return "key-secret" }
		rt, stop := start(t, open(), cfg, on("h", func(ctx context.Context, e restaq.Event) error {
			restaq.Logger(ctx).Info("own line")
			_, err := s.Run(ctx, struct{}{}, in1{"input-secret"})
			return err
		}))
		event := newEvent()
		event.Payload = []byte(`"payload-secret"`)
		event.Header = map[string][]string{"X": {"header-secret"}}
		e := deliver(t, rt, event)
		wait(t, rt, e.ID, "dead")
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		text := buf.String()
		for _, want := range []string{
			"level=ERROR", "step=pay", "declined", "execution=" + e.ID, `retry="restaq retry ` + e.ID + `"`, "handler=h",
			`msg="own line" execution=` + e.ID + " handler=h attempt=1",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("log lacks %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("log tells a secret:\n%s", text)
		}
	})
}

func TestNoLogLineTellsAKey(t *testing.T) {
	cases := map[string]func(first, second error) error{
		"as text":     func(first, _ error) error { return fmt.Errorf("failed: %v", first) },
		"two of them": func(first, second error) error { return fmt.Errorf("%w, %w", first, second) },
		"refused":     func(error, error) error { return nil },
	}
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		for name, result := range cases {
			var buf syncBuffer
			cfg := quick()
			cfg.Logger = slog.New(slog.NewTextHandler(&buf, nil))
			cfg.Attempts = 1
			pay := step("pay", func(_ context.Context, v string) (string, error) { return "", errors.New("declined") })
			pay.Key = func(in in1) string { return strings.TrimSuffix(in.v, " again") }
			event := newEvent()
			event.Type = "acme." + event.ID
			rt, stop := start(t, store, cfg, on("h "+event.ID, func(ctx context.Context, _ restaq.Event) error {
				_, first := pay.Run(ctx, struct{}{}, in1{"secret 1"})
				_, second := pay.Run(ctx, struct{}{}, in1{"secret 2"})
				if name == "refused" { // as its inputs differ
					pay.Run(ctx, struct{}{}, in1{"secret 2 again"})
				}
				return result(first, second)
			}, event.Type))
			wait(t, rt, deliver(t, rt, event).ID, "dead")
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			if text := buf.String(); strings.Contains(text, "secret") || !strings.Contains(text, "step pay") {
				t.Errorf("%s: log:\n%s", name, text)
			}
		}
	})
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestAnIntegerBeyondItsTypeIsLoggedAndNotRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var buf syncBuffer
		cfg := quick()
		cfg.Logger = slog.New(slog.NewTextHandler(&buf, nil))
		type order struct{ Amount int64 }
		var got order
		var raw string
		rt, stop := start(t, open(), cfg, restaq.Handler[order]{
			Name: "h", Events: []string{"acme.order.*"},
			Func: func(ctx context.Context, o order) error {
				got, raw = o, string(restaq.EventFrom(ctx).Payload)
				return nil
			},
			Order: func(o order) string { return fmt.Sprint(o.Amount) },
			Decode: codec.EventReader(func(d *codec.Decoder, o *order) {
				fields := codec.Fields{Names: []string{"amount"}}
				for i := d.Object(&fields); i >= 0; i = d.Next(&fields, i) {
					codec.DecodeInt(d, &o.Amount)
				}
			}),
		})
		event := newEvent()
		const payload = `{"amount":123456789012345678901234567890}`
		event.Payload = []byte(payload)
		wait(t, rt, deliver(t, rt, event).ID, "completed")
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got.Amount != math.MaxInt64 || raw != payload {
			t.Errorf("the handler got %+v, and %s raw", got, raw)
		}
		if text := buf.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "handler=h attempt=1 first=amount count=1") {
			t.Errorf("log:\n%s", text)
		}
	})
}
