package storetest

import (
	"errors"
	"fmt"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// lister returns the store's ability to list, or skips.
func (f *fixture) lister() restaq.Lister {
	f.Helper()
	l, ok := f.store.(restaq.Lister)
	if !ok {
		f.Skip("the store is no restaq.Lister")
	}
	return l
}

// list follows a filter to its last page.
func (f *fixture) list(filter restaq.Filter) []restaq.Execution {
	f.Helper()
	var all []restaq.Execution
	for range 1000 {
		page, err := f.lister().List(f.ctx, filter)
		if err != nil {
			f.Fatalf("List(%+v): %v", filter, err)
		}
		all = append(all, page.Executions...)
		if page.Next == "" {
			return all
		}
		filter.Cursor = page.Next
	}
	f.Fatalf("List(%+v) does not end", filter)
	return nil
}

func idsOf(executions []restaq.Execution) []string {
	ids := []string{}
	for _, e := range executions {
		ids = append(ids, e.ID)
	}
	return ids
}

// newestFirst checks the order of a list.
func (f *fixture) newestFirst(executions []restaq.Execution) {
	f.Helper()
	for i := 1; i < len(executions); i++ {
		a, b := executions[i-1], executions[i]
		if c := a.CreatedAt.Compare(b.CreatedAt); c < 0 || (c == 0 && a.ID <= b.ID) {
			f.Errorf("%s of %v stands before %s of %v", a.ID, a.CreatedAt, b.ID, b.CreatedAt)
		}
	}
}

var listTests = []test{
	{"an empty store lists nothing", func(f *fixture) {
		page, err := f.lister().List(f.ctx, restaq.Filter{})
		if err != nil || len(page.Executions) != 0 || page.Next != "" {
			f.Errorf("List = %+v, %v", page, err)
		}
	}},

	{"all executions, newest first, page by page", func(f *fixture) {
		f.lister()
		var want []string
		for i := range 12 {
			// Several executions of one moment, and several moments.
			for _, e := range f.insert(newEvent(fmt.Sprint("evt_", i)), newExecution("a"), newExecution("b"), newExecution("c")) {
				want = append(want, e.ID)
			}
		}
		for _, limit := range []int{0, 1, 5, 36, 37, 1000, 5000} {
			got := f.list(restaq.Filter{Limit: limit})
			f.newestFirst(got)
			f.equal(fmt.Sprintf("ids with limit %d", limit), sorted(idsOf(got)), sorted(want))
		}
		page, _ := f.lister().List(f.ctx, restaq.Filter{Limit: 36})
		if len(page.Executions) != 36 || page.Next != "" {
			f.Errorf("a page that holds all has %d rows and next %q", len(page.Executions), page.Next)
		}
	}},

	{"rows are executions as they are", func(f *fixture) {
		f.lister()
		want := map[string]restaq.Execution{}
		for state, get := range states {
			l := get(f, "evt_"+state)
			want[l.Execution] = f.read(l.Execution)
		}
		f.equal("rows", byID(f.list(restaq.Filter{})), want)
	}},

	{"by status and by the words dead and retrying", func(f *fixture) {
		f.lister()
		id := map[string]string{}
		for state, get := range states {
			id[state] = get(f, "evt_"+state).Execution
		}
		for _, test := range []struct{ words, want []string }{
			{nil, []string{"pending", "running", "retrying", "dead", "completed", "cancelled"}},
			{[]string{"pending"}, []string{"pending"}},
			{[]string{"running"}, []string{"running"}},
			{[]string{"sleeping"}, nil},
			{[]string{"completed"}, []string{"completed"}},
			{[]string{"cancelled"}, []string{"cancelled"}},
			{[]string{"failed"}, []string{"dead", "retrying"}},
			{[]string{"dead"}, []string{"dead"}},
			{[]string{"retrying"}, []string{"retrying"}},
			{[]string{"dead", "retrying"}, []string{"dead", "retrying"}},
			{[]string{"dead", "completed"}, []string{"dead", "completed"}},
			{[]string{"failed", "dead", "pending"}, []string{"dead", "retrying", "pending"}},
		} {
			want := []string{}
			for _, state := range test.want {
				want = append(want, id[state])
			}
			f.equal(fmt.Sprint(test.words), sorted(idsOf(f.list(restaq.Filter{Statuses: test.words, Limit: 2}))), sorted(want))
		}
	}},

	{"by the reason for which they are dead", func(f *fixture) {
		f.lister()
		ids := map[string]string{}
		for name := range states {
			ids[name] = states[name](f, "evt_"+name).Execution
		}
		for i, reason := range []restaq.StopReason{restaq.StoppedBySchema, restaq.StoppedByAttempts, restaq.StoppedBySchema} {
			name := fmt.Sprint(reason, i)
			l := f.begun("evt_" + name)
			o := died
			o.StoppedBy = reason
			f.finish(l, o)
			ids[name] = l.Execution
		}
		// Reopened, it is not dead.
		f.change(ids["schema2"], restaq.Change{From: []restaq.Status{restaq.Failed}, To: restaq.Pending, Kind: restaq.Retried})
		for _, c := range []struct {
			filter restaq.Filter
			want   []string
		}{
			{restaq.Filter{StoppedBy: restaq.StoppedBySchema}, []string{"schema0"}},
			{restaq.Filter{StoppedBy: restaq.StoppedByAttempts, Statuses: []string{"dead"}}, []string{"attempts1"}},
			{restaq.Filter{StoppedBy: restaq.StoppedByAttempts, Statuses: []string{"failed", "completed"}}, []string{"attempts1"}},
			{restaq.Filter{StoppedBy: restaq.StoppedByAttempts, Statuses: []string{"completed", "pending"}}, nil},
			{restaq.Filter{StoppedBy: restaq.StoppedByPermanent}, nil},
		} {
			want := []string{}
			for _, name := range c.want {
				want = append(want, ids[name])
			}
			f.equal(fmt.Sprintf("stopped by %s, %v", c.filter.StoppedBy, c.filter.Statuses), sorted(idsOf(f.list(c.filter))), sorted(want))
		}
	}},

	{"by handler, type, provider, source and event", func(f *fixture) {
		f.lister()
		id := map[string]string{}
		for _, e := range []struct{ source, provider, id, typ, handler string }{
			{"stripe", "stripe", "evt_1", "stripe.charge.succeeded", "a"},
			{"stripe-two", "stripe", "evt_1", "stripe.charge.failed", "b"},
			{"stripe", "stripe", "evt_2", "stripe.charge", "a"},
			{"stripe", "stripe", "evt_3", "stripe.charge_x.y", "a"},
			{"stripe", "stripe", "evt_4", "stripe.charge.dispute.created", "a"},
			{"github", "github", "evt_5", "github.push", "a.b"},
		} {
			ev := &restaq.Event{Source: e.source, Provider: e.provider, ID: e.id, Type: e.typ}
			id[e.source+"/"+e.id] = f.insert(ev, newExecution(e.handler))[0].ID
		}
		for _, test := range []struct {
			filter restaq.Filter
			want   []string
		}{
			{restaq.Filter{Handler: "a"}, []string{"stripe/evt_1", "stripe/evt_2", "stripe/evt_3", "stripe/evt_4"}},
			{restaq.Filter{Handler: "a.b"}, []string{"github/evt_5"}},
			{restaq.Filter{Handler: "a%"}, nil},
			{restaq.Filter{EventType: "stripe.charge"}, []string{"stripe/evt_2"}},
			{restaq.Filter{EventType: "stripe.charge.*"}, []string{"stripe/evt_1", "stripe-two/evt_1", "stripe/evt_4"}},
			{restaq.Filter{EventType: "stripe.*"}, []string{"stripe/evt_1", "stripe-two/evt_1", "stripe/evt_2", "stripe/evt_3", "stripe/evt_4"}},
			{restaq.Filter{EventType: "stripe.charge.succeeded.*"}, nil},
			{restaq.Filter{EventType: "stripe.charge_x.*"}, []string{"stripe/evt_3"}},
			{restaq.Filter{EventType: "stripe.charge%.*"}, nil},
			{restaq.Filter{EventType: "%.*"}, nil},
			{restaq.Filter{Provider: "github"}, []string{"github/evt_5"}},
			{restaq.Filter{Source: "stripe-two"}, []string{"stripe-two/evt_1"}},
			{restaq.Filter{EventID: "evt_1"}, []string{"stripe/evt_1", "stripe-two/evt_1"}},
			{restaq.Filter{EventID: "evt_1", Source: "stripe"}, []string{"stripe/evt_1"}},
			{restaq.Filter{EventID: "evt_1", Source: "github"}, nil},
			{restaq.Filter{Handler: "a", EventType: "stripe.charge.*", Provider: "stripe", Source: "stripe", Statuses: []string{"pending"}}, []string{"stripe/evt_1", "stripe/evt_4"}},
			{restaq.Filter{Handler: "a", Statuses: []string{"completed"}}, nil},
		} {
			want := []string{}
			for _, name := range test.want {
				want = append(want, id[name])
			}
			f.equal(fmt.Sprintf("%+v", test.filter), sorted(idsOf(f.list(test.filter))), sorted(want))
		}
	}},

	{"replays are listed like any other", func(f *fixture) {
		f.lister()
		ev := newEvent("evt_1")
		original := f.insert(ev, newExecution(handler))[0]
		n := newExecution(handler)
		n.ReplayOf = original.ID
		f.add(ev, n)
		f.pending("evt_2")
		for _, filter := range []restaq.Filter{{EventID: "evt_1"}, {EventID: "evt_1", Source: "stripe", Limit: 1}} {
			f.equal("ids", sorted(idsOf(f.list(filter))), sorted([]string{original.ID, n.ID}))
		}
		if got := f.list(restaq.Filter{EventID: "evt_1"}); got[0].ReplayOf+got[1].ReplayOf != original.ID {
			f.Errorf("rows = %+v, want one replay of %s", got, original.ID)
		}
	}},

	{"by time of creation, from since until before until", func(f *fixture) {
		f.lister()
		for i := range 3 {
			f.pending(fmt.Sprint("evt_", i))
			f.advance(time.Second)
		}
		all := f.list(restaq.Filter{}) // newest first, as they are now
		mid := all[1].CreatedAt
		f.equal("since", idsOf(f.list(restaq.Filter{Since: mid})), idsOf(all[:2]))
		f.equal("until", idsOf(f.list(restaq.Filter{Until: mid})), idsOf(all[2:]))
		f.equal("both", idsOf(f.list(restaq.Filter{Since: mid, Until: all[0].CreatedAt})), idsOf(all[1:2]))
		zone := time.FixedZone("away", 9*3600)
		f.equal("in another zone", idsOf(f.list(restaq.Filter{Since: mid.In(zone)})), idsOf(all[:2]))
		f.equal("a little later", idsOf(f.list(restaq.Filter{Since: mid.Add(time.Nanosecond)})), idsOf(all[:1]))
	}},

	{"a cursor stays valid while rows come and go", func(f *fixture) {
		l := f.lister()
		var want []string
		for i := range 10 {
			want = append(want, states["completed"](f, fmt.Sprint("evt_", i)).Execution)
		}
		filter := restaq.Filter{Limit: 3}
		page, err := l.List(f.ctx, filter)
		if err != nil {
			f.Fatal(err)
		}
		got := idsOf(page.Executions)
		f.pending("evt_new") // newer than what was listed: on no page to come
		f.pruneAll()         // takes the row that the cursor names, and the rest
		filter.Cursor = page.Next
		page, err = l.List(f.ctx, filter)
		if err != nil {
			f.Fatal(err)
		}
		if len(page.Executions) != 0 || page.Next != "" {
			f.Errorf("after pruning, a page lists %v", idsOf(page.Executions))
		}
		f.equal("first page", sorted(got), sorted(want[7:]))
	}},

	{"a cursor skips nothing while others insert", func(f *fixture) {
		l := f.lister()
		var want []string
		for i := range 9 {
			want = append(want, f.pending(fmt.Sprint("evt_", i)))
		}
		filter := restaq.Filter{Limit: 2}
		var got []string
		for i := range 6 {
			page, err := l.List(f.ctx, filter)
			if err != nil {
				f.Fatal(err)
			}
			got = append(got, idsOf(page.Executions)...)
			if filter.Cursor = page.Next; page.Next == "" {
				break
			}
			f.pending(fmt.Sprint("evt_new_", i))
		}
		f.equal("ids", sorted(got), sorted(want))
	}},

	{"a cursor works on every handle", func(f *fixture) {
		f.lister()
		for i := range 4 {
			f.pending(fmt.Sprint("evt_", i))
		}
		first, err := f.lister().List(f.ctx, restaq.Filter{Limit: 3})
		if err != nil {
			f.Fatal(err)
		}
		rest, err := f.another().(restaq.Lister).List(f.ctx, restaq.Filter{Limit: 3, Cursor: first.Next})
		if err != nil || len(rest.Executions) != 1 || rest.Next != "" {
			f.Errorf("List = %+v, %v; want the last row", rest, err)
		}
	}},

	{"a foreign cursor is an error", func(f *fixture) {
		for _, cursor := range []string{"x", "%", "AAAA", "MTIzNDU2", "\x00", "MTIzIA=="} {
			for _, unhandled := range []bool{false, true} {
				if _, err := f.lister().List(f.ctx, restaq.Filter{Cursor: cursor, Unhandled: unhandled}); !errors.Is(err, restaq.ErrCursor) {
					f.Errorf("List with cursor %q worked", cursor)
				}
			}
		}
	}},

	{"unhandled lists events without executions", func(f *fixture) {
		f.lister()
		f.pending("evt_handled")
		for i := range 5 {
			ev := newEvent(fmt.Sprint("evt_", i))
			if i == 4 {
				ev.Source, ev.Provider, ev.Type = "github", "github", "github.push"
			}
			f.insert(ev)
		}
		all := f.list(restaq.Filter{Unhandled: true, Limit: 2, Statuses: []string{"dead"}, Handler: "x"})
		if len(all) != 5 {
			f.Fatalf("%d unhandled events, want 5", len(all))
		}
		for i, e := range all {
			if want := fmt.Sprint("evt_", 4-i); e.Event.ID != want {
				f.Errorf("row %d is %s, want %s", i, e.Event.ID, want)
			}
			f.stamped("CreatedAt", e.CreatedAt)
			f.equal("row", e, restaq.Execution{Event: e.Event, CreatedAt: e.Event.ReceivedAt})
		}
		for _, filter := range []restaq.Filter{
			{EventType: "github.*"}, {EventType: "github.push"}, {Provider: "github"}, {Source: "github"}, {EventID: "evt_4"},
			{Since: all[0].CreatedAt, EventID: "evt_4"},
		} {
			filter.Unhandled = true
			if got := f.list(filter); len(got) != 1 || got[0].Event.ID != "evt_4" {
				f.Errorf("%+v lists %v, want evt_4", filter, got)
			}
		}
		f.add(newEvent("evt_2"), newExecution(handler))
		if got := f.list(restaq.Filter{Unhandled: true}); len(got) != 4 {
			f.Errorf("%d unhandled events after one was handled, want 4", len(got))
		}
	}},
}
