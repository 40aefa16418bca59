package dashboard_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
	"github.com/restaq/restaq/runtime/sqlite"
)

// TestNewEventsAreHandledWhileManyAreReplayed replays executions from a page that
// is open, while new events come in. Under RESTAQ_SOAK, for which a machine should
// have nothing else to do, these are 10,000, and new events may take twice as long
// as when it is quiet.
func TestNewEventsAreHandledWhileManyAreReplayed(t *testing.T) {
	many, soak := 200, os.Getenv("RESTAQ_SOAK") != ""
	if soak {
		many = 10_000
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "load.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rt, err := restaq.New(store, restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	work := func(ctx context.Context, _ restaq.Event) error {
		_, err := restaq.Do(ctx, "work", func(context.Context) (int, error) { return 1, nil })
		return err
	}
	if err := rt.Register(
		restaq.Handler[restaq.Event]{Name: "load.Old", Events: []string{"acme.old"}, Func: work},
		restaq.Handler[restaq.Event]{Name: "load.New", Events: []string{"acme.new"}, Func: work},
	); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	handle := func(typ, id string) time.Duration {
		begun := time.Now()
		r, err := rt.Deliver(ctx, restaq.Event{Type: typ, ID: id, Payload: []byte("{}")})
		if err != nil {
			t.Error(err)
			return 0
		}
		if _, err := rt.Wait(ctx, r.Executions[0].ID); err != nil {
			t.Error(err)
		}
		return time.Since(begun)
	}
	var old sync.WaitGroup
	for w := range 32 {
		old.Go(func() {
			for i := w; i < many; i += 32 {
				handle("acme.old", fmt.Sprint("old-", i))
			}
		})
	}
	old.Wait()
	// measure handles new events, one every few milliseconds, until enough says so.
	n := 0
	measure := func(enough func(done int) bool) []time.Duration {
		var took []time.Duration
		pace := time.NewTicker(4 * time.Millisecond)
		defer pace.Stop()
		for !enough(len(took)) {
			<-pace.C
			n++
			took = append(took, handle("acme.new", fmt.Sprint("new-", n)))
		}
		slices.Sort(took)
		return took
	}
	quiet := measure(func(done int) bool { return done >= 500 })

	s := serve(t, rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	for _, path := range []string{"/", "/executions", "/executions?handler=load.Old"} {
		page := s.follow(path)
		defer page.close()
		go func() {
			for page.lines.Scan() {
			}
		}()
	}
	at, _ := s.act("/bulk/run", url.Values{"action": {"replay"}, "scope": {"all"}, "filter": {"handler=load.Old"}})
	over := make(chan string, 1)
	go func() { over <- s.untilOver(at) }()
	var page string
	busy := measure(func(int) bool {
		select {
		case page = <-over:
			return true
		default:
			return false
		}
	})
	s.holds(page, fmt.Sprintf("Replayed %s executions", grouped(many)), "failed <b>0</b>")
	of := func(took []time.Duration, share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
	t.Logf("new events, quiet: median %v, 95%% %v of %d; while %d are replayed: median %v, 95%% %v of %d",
		of(quiet, .5), of(quiet, .95), len(quiet), many, of(busy, .5), of(busy, .95), len(busy))
	if soak && of(busy, .5) > 2*of(quiet, .5) {
		t.Errorf("the median of new events is %.1f times that when it is quiet, want 2 at most", float64(of(busy, .5))/float64(of(quiet, .5)))
	}
}

// grouped is a number below a million as the page shows it.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
