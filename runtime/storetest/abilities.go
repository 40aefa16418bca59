package storetest

import (
	"bytes"
	"context"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func (f *fixture) directory() restaq.Directory {
	f.Helper()
	d, ok := f.store.(restaq.Directory)
	if !ok {
		f.Skip("the store is no restaq.Directory")
	}
	return d
}

var directoryTests = []test{
	{"handlers are remembered by name", func(f *fixture) {
		d := f.directory()
		if all, err := d.Handlers(f.ctx); err != nil || len(all) != 0 {
			f.Errorf("Handlers = %v, %v; want none", all, err)
		}
		put := func(handlers ...restaq.HandlerInfo) {
			f.Helper()
			if err := d.PutHandlers(f.ctx, handlers); err != nil {
				f.Fatal(err)
			}
		}
		put(restaq.HandlerInfo{Name: "b", Events: []string{"stripe.*", "github.push"}}, restaq.HandlerInfo{Name: "a", Events: []string{"x.y"}})
		put()
		put(restaq.HandlerInfo{Name: "a", Events: []string{"x.z"}}, restaq.HandlerInfo{Name: "c", Events: []string{"ü.'\""}})
		all, err := f.another().(restaq.Directory).Handlers(f.ctx)
		if err != nil {
			f.Fatal(err)
		}
		f.equal("handlers", all, []restaq.HandlerInfo{
			{Name: "a", Events: []string{"x.z"}},
			{Name: "b", Events: []string{"stripe.*", "github.push"}},
			{Name: "c", Events: []string{"ü.'\""}},
		})
	}},

	{"all that is known of a handler comes back, and the last word counts", func(f *fixture) {
		d := f.directory()
		info := func(graph string) restaq.HandlerInfo {
			return restaq.HandlerInfo{Name: "a", Events: []string{"x.y"}, HandlerDetail: restaq.HandlerDetail{
				Steps: []restaq.StepInfo{
					{Name: "send", Func: "example.com/p.send"},
					{Name: "pay", Func: "example.com/p.Billing.pay", Shape: "3", Reads: []string{"2"}, ReadBy: []string{"2", "1"}, Earlier: []string{"0"}},
				},
				Graph:  []byte(graph),
				Redact: []string{"card", "ü.'\"\x00"},
			}}
		}
		want := info(`{"a":["\u0000",1.50],"ü":null}`)
		for _, h := range []restaq.HandlerInfo{info(`[]`), {Name: "a", Events: []string{"x.y"}}, want, want} {
			if err := d.PutHandlers(f.ctx, []restaq.HandlerInfo{h, {Name: "plain", Events: []string{"x.y"}}}); err != nil {
				f.Fatal(err)
			}
			all, err := f.another().(restaq.Directory).Handlers(f.ctx)
			if err != nil {
				f.Fatal(err)
			}
			f.equal("handlers", all, []restaq.HandlerInfo{h, {Name: "plain", Events: []string{"x.y"}}})
		}
	}},

	{"processes that start together all succeed", func(f *fixture) {
		handles := []restaq.Directory{f.directory(), f.another().(restaq.Directory)}
		together(16, func(i int) {
			handlers := []restaq.HandlerInfo{{Name: "a", Events: []string{"x.y"}}, {Name: "b", Events: []string{"x.y"}}}
			if i%4 >= 2 { // in another order
				handlers[0], handlers[1] = handlers[1], handlers[0]
			}
			if err := handles[i%2].PutHandlers(f.ctx, handlers); err != nil {
				f.Errorf("PutHandlers: %v", err)
			}
		})
	}},
}

var keyedTests = []test{
	{"the key is the same for every handle, and another in every store", func(f *fixture) {
		k, ok := f.store.(restaq.Keyed)
		if !ok {
			f.Skip("the store is no restaq.Keyed")
		}
		var mu sync.Mutex
		keys := map[string]bool{}
		handles := []restaq.Keyed{k, f.another().(restaq.Keyed), f.another().(restaq.Keyed)}
		together(12, func(i int) {
			key, err := handles[i%3].FingerprintKey(f.ctx)
			if err != nil || len(key) < 16 {
				f.Errorf("FingerprintKey = %d bytes, %v; want 16 or more", len(key), err)
			}
			mu.Lock()
			keys[string(key)] = true
			mu.Unlock()
		})
		if len(keys) != 1 {
			f.Fatalf("%d keys, want 1", len(keys))
		}
		key, _ := k.FingerprintKey(f.ctx)
		other, err := newFixture(f.T, f.backend).store.(restaq.Keyed).FingerprintKey(f.ctx)
		if err != nil || bytes.Equal(key, other) {
			f.Errorf("another store has the same key (%v)", err)
		}
	}},
}

var contextTests = []test{
	{"an ended context ends every call and writes nothing", func(f *fixture) {
		l := f.begun("evt_1")
		id := f.pending("evt_2")
		before, beforePending := f.history(l.Execution), f.history(id)

		cancelled, cancel := context.WithCancel(f.ctx)
		cancel()
		late, cancelLate := context.WithDeadline(f.ctx, time.Now().Add(-time.Second))
		defer cancelLate()
		for _, test := range []struct {
			ctx  context.Context
			want error
		}{{cancelled, context.Canceled}, {late, context.DeadlineExceeded}} {
			for name, call := range calls(f, l, id) {
				f.is(name, call(test.ctx), test.want)
			}
		}

		f.equal("running execution", f.history(l.Execution), before)
		f.equal("pending execution", f.history(id), beforePending)
		_, err := f.store.Lookup(f.ctx, "stripe", "evt_new", false)
		f.is("Lookup", err, restaq.ErrNotFound)
	}},

	{"calls whose context ends under way leave nothing half written", func(f *fixture) {
		together(32, func(i int) {
			ctx, cancel := context.WithCancel(f.ctx)
			id := "evt_" + string(rune('a'+i))
			done := make(chan error, 1)
			go func() {
				_, _, err := f.store.Insert(ctx, &restaq.Insertion{
					Event: newEvent(id), Executions: []restaq.NewExecution{newExecution("a"), newExecution("b")},
				})
				done <- err
			}()
			cancel()
			<-done
			// It may have committed all the same, but whole.
			found, err := f.store.Lookup(f.ctx, "stripe", id, false)
			if err == nil && len(found.Executions) != 2 {
				f.Errorf("event %s has %d executions, want 2", id, len(found.Executions))
			}
		})
		// And the store goes on.
		f.pending("evt_after")
	}},
}

// calls are all calls that a store has.
func calls(f *fixture, l restaq.Lease, pending string) map[string]func(ctx context.Context) error {
	all := map[string]func(ctx context.Context) error{
		"Lookup": func(ctx context.Context) error {
			_, err := f.store.Lookup(ctx, "stripe", "evt_1", true)
			return err
		},
		"Insert": func(ctx context.Context) error {
			_, _, err := f.store.Insert(ctx, &restaq.Insertion{Event: newEvent("evt_new"), Executions: []restaq.NewExecution{newExecution(handler)}})
			return err
		},
		"Claim": func(ctx context.Context) error {
			_, err := f.store.Claim(ctx, restaq.Claim{Owner: owner, Lease: lease, Handlers: []string{handler}, Limit: 1})
			return err
		},
		"Record": func(ctx context.Context) error {
			return f.store.Record(ctx, l, &restaq.Progress{Steps: steps(1, 1, 1)})
		},
		"Renew": func(ctx context.Context) error {
			_, err := f.store.Renew(ctx, []restaq.Renewal{{Lease: l, Progress: restaq.Progress{Steps: steps(1, 1, 1)}}}, lease)
			return err
		},
		"Finish": func(ctx context.Context) error {
			_, err := f.store.Finish(ctx, l, &completed)
			return err
		},
		"Change": func(ctx context.Context) error {
			_, _, err := f.store.Change(ctx, pending, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Cancelled})
			return err
		},
		"read": func(ctx context.Context) error {
			_, _, err := f.store.Change(ctx, pending, restaq.Change{})
			return err
		},
		"History": func(ctx context.Context) error {
			_, err := f.store.History(ctx, pending)
			return err
		},
	}
	if s, ok := f.store.(restaq.Lister); ok {
		all["List"] = func(ctx context.Context) error {
			_, err := s.List(ctx, restaq.Filter{})
			return err
		}
	}
	if s, ok := f.store.(restaq.Pruner); ok {
		all["Prune"] = func(ctx context.Context) error {
			_, err := s.Prune(ctx, restaq.Prune{OlderThan: time.Hour})
			return err
		}
	}
	if s, ok := f.store.(restaq.Directory); ok {
		all["PutHandlers"] = func(ctx context.Context) error {
			return s.PutHandlers(ctx, []restaq.HandlerInfo{{Name: "a", Events: []string{"x.y"}}})
		}
		all["Handlers"] = func(ctx context.Context) error {
			_, err := s.Handlers(ctx)
			return err
		}
	}
	if s, ok := f.store.(restaq.Keyed); ok {
		all["FingerprintKey"] = func(ctx context.Context) error {
			_, err := s.FingerprintKey(ctx)
			return err
		}
	}
	return all
}

var contendTests = []test{
	{"processes that set up one database at once all succeed", func(f *fixture) {
		if f.backend.Contend == nil {
			f.Skip("the store has nothing to set up")
		}
		open := f.backend.Contend(f.T)
		stores := make([]restaq.Store, 8)
		together(len(stores), func(i int) {
			s, err := open()
			if err != nil {
				f.Errorf("open: %v", err)
				return
			}
			stores[i] = s
		})
		if f.Failed() {
			return
		}
		_, _, err := stores[0].Insert(f.ctx, &restaq.Insertion{Event: newEvent("evt_1"), Executions: []restaq.NewExecution{newExecution(handler)}})
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range stores {
			if found, err := s.Lookup(f.ctx, "stripe", "evt_1", true); err != nil || len(found.Executions) != 1 {
				f.Errorf("Lookup = %+v, %v", found, err)
			}
		}
	}},
}
