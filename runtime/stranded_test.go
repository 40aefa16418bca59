package restaq_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

func TestAHandlerThatNoProcessHasIsNamedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		handle := func(context.Context, restaq.Event) error { return nil }
		gone := receive(t, store, quick(), on("gone", handle), on("here", handle, "acme.other"))
		left := deliver(t, gone, newEvent())

		var log syncBuffer
		cfg := quick()
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		rt := receive(t, store, cfg, on("here", handle, "acme.other"))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- rt.Run(ctx) }()
		<-time.After(time.Hour) // of the bubble
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "handler=gone execution="+left.ID); n != 1 {
			t.Errorf("named %d times, want once:\n%s", n, &log)
		}
		if strings.Contains(log.String(), "handler=here") {
			t.Errorf("a handler that is registered was named:\n%s", &log)
		}
		if h := inspect(t, rt, left.ID); h.Status != restaq.Pending {
			t.Errorf("the execution is %s, want it left pending", h.Status)
		}
	})
}
