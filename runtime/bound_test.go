package restaq_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

// silentStore answers a record only when it is asked for the third time.
type silentStore struct {
	*memory.Store
	waited []time.Duration
}

func (s *silentStore) Record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) error {
	if len(s.waited) == 2 {
		return s.Store.Record(ctx, lease, p)
	}
	begun := time.Now()
	<-ctx.Done()
	s.waited = append(s.waited, time.Since(begun))
	return ctx.Err()
}

func TestAStoreThatDoesNotAnswerIsAskedAgainWithinALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quick()
		cfg.Lease = time.Minute
		store := &silentStore{Store: memory.New()}
		rt, stop := start(t, store, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			_, err := restaq.Do(ctx, "s", func(context.Context) (int, error) { return 1, nil })
			return err
		}))
		time.Sleep(7 * time.Second) // calls before this one have shared its bound
		e := deliver(t, rt, newEvent())
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if e, err := rt.Wait(ctx, e.ID); err != nil || e.Status != restaq.Completed {
			t.Fatalf("%+v, %v", e, err)
		}
		for _, d := range store.waited {
			if d < cfg.Lease*3/4 || d > cfg.Lease {
				t.Errorf("a call of the store was given up after %v, want three quarters of a lease to a lease", d)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// An execution whose lease this process loses to itself, twice, has its
// attempts one after the other all the same.
func TestAttemptsThatFollowOneAnotherInAProcessNeverOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := quick()
		cfg.Lease, cfg.Poll = time.Minute, 10*time.Second
		store := &deafStore{memory.New()}
		running, most, runs := 0, 0, 0
		rt, stop := start(t, store, cfg, on("h", func(ctx context.Context, _ restaq.Event) error {
			runs++
			running++
			most = max(most, running)
			defer func() { running-- }()
			if runs == 1 { // it hears nothing of its lost lease, nor does the attempt after it
				time.Sleep(3*cfg.Lease + cfg.Lease/2)
			}
			return nil
		}))
		e := deliver(t, rt, newEvent())
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		got, err := rt.Wait(ctx, e.ID)
		if err != nil || got.Status != restaq.Completed || got.Attempts < 3 {
			t.Fatalf("%+v, %v; want completed after three attempts at least", got, err)
		}
		if most != 1 {
			t.Errorf("up to %d attempts ran at once, want one after the other", most)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// deafStore renews no lease, and says that it did.
type deafStore struct{ *memory.Store }

func (deafStore) Renew(context.Context, []restaq.Renewal, time.Duration) ([]string, error) {
	return nil, nil
}
