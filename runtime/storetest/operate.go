package storetest

import (
	"errors"
	"fmt"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var countTests = []test{
	{"as many as List returns, up to most", func(f *fixture) {
		c, ok := f.store.(restaq.Counter)
		if !ok {
			f.Skip("the store is no restaq.Counter")
		}
		f.lister()
		for state, get := range states {
			get(f, "evt_"+state)
		}
		f.insert(newEvent("evt_plain"), newExecution("other"))
		f.insert(newEvent("evt_unhandled"))
		for _, filter := range []restaq.Filter{
			{}, {Unhandled: true}, {Handler: "other"}, {Handler: "nobody"}, {EventID: "evt_dead"}, {EventType: "stripe.*"},
			{Statuses: []string{"dead"}}, {Statuses: []string{"retrying", "completed"}}, {Statuses: []string{"pending"}, Handler: handler},
			{Text: "boo"}, {Until: time.Unix(1, 0)}, {Provider: "stripe", Source: "stripe"},
			{Limit: 1, Cursor: "neither is used"},
		} {
			listed := filter
			listed.Limit, listed.Cursor = 0, ""
			all := len(f.list(listed))
			for _, most := range []int{1, 2, 1000} {
				n, err := c.Count(f.ctx, filter, most)
				if want := min(all, most); err != nil || n != want {
					f.Errorf("Count(%+v, %d) = %d, %v; want %d", filter, most, n, err, want)
				}
			}
		}
	}},
}

var textTests = []test{
	{"by a part of the error of failed ones, letter for letter", func(f *fixture) {
		f.lister()
		end := func(eventID, text string, o restaq.Outcome) string {
			l := f.begun(eventID)
			o.Error = text
			f.finish(l, o)
			return l.Execution
		}
		percent := end("evt_1", `50% off_by 'one' \ ünï`, died)
		retrying := end("evt_2", "timeout\nsecond line", retryInHour)
		l := f.begun("evt_3") // an error that a later attempt made good
		o := retryInHour
		o.RetryIn, o.Error = 0, "timeout"
		f.finish(l, o)
		f.finish(f.claim(l.Execution).Lease, completed)
		end("evt_4", "", interrupted)
		for _, test := range []struct {
			filter restaq.Filter
			want   []string
		}{
			{restaq.Filter{Text: "timeout"}, []string{retrying}},
			{restaq.Filter{Text: "second"}, []string{retrying}},
			{restaq.Filter{Text: "Timeout"}, []string{}},
			{restaq.Filter{Text: "%"}, []string{percent}},
			{restaq.Filter{Text: "_"}, []string{percent}},
			{restaq.Filter{Text: `'one' \`}, []string{percent}},
			{restaq.Filter{Text: "ünï"}, []string{percent}},
			{restaq.Filter{Text: "t", Statuses: []string{"dead"}}, []string{}},
			{restaq.Filter{Text: "t", Statuses: []string{"completed", "retrying"}}, []string{retrying}},
			{restaq.Filter{Text: "timeout", Handler: "nobody"}, []string{}},
		} {
			f.equal(fmt.Sprintf("%+v", test.filter), sorted(idsOf(f.list(test.filter))), sorted(test.want))
		}
	}},
}

func (f *fixture) meter() restaq.Meter {
	f.Helper()
	m, ok := f.store.(restaq.Meter)
	if !ok {
		f.Skip("the store is no restaq.Meter")
	}
	return m
}

// now is the store's time.
func (f *fixture) now() time.Time {
	f.Helper()
	n := newExecution("clock")
	f.insert(newEvent("evt_"+n.ID), n)
	return f.read(n.ID).CreatedAt
}

// counts returns the counts of all time.
func (f *fixture) counts(step time.Duration) []restaq.Count {
	f.Helper()
	all, err := f.meter().Counts(f.ctx, time.Unix(0, 0), f.now().Add(1000*time.Hour), step)
	if err != nil {
		f.Fatal(err)
	}
	return all
}

var meterTests = []test{
	{"counts of one key add up, over calls and processes", func(f *fixture) {
		minute := f.now().Truncate(time.Hour)
		count := func(at time.Time, name, result string, bucket int, n int64) restaq.Count {
			return restaq.Count{Minute: at, Kind: restaq.CountAttempt, Name: name, Result: result, Bucket: bucket, N: n}
		}
		add := func(counts ...restaq.Count) {
			f.Helper()
			if err := f.meter().AddCounts(f.ctx, counts, 48*time.Hour); err != nil {
				f.Fatal(err)
			}
		}
		add()
		if got := f.counts(time.Minute); len(got) != 0 {
			f.Errorf("counts of nothing: %v", got)
		}
		add(count(minute, "b", "completed", 3, 2), count(minute, "a", "dead", 1, 1), count(minute, "a", "dead", 1, 4))
		add(count(minute.Add(time.Minute), "a", "dead", 1, 1), count(minute, "a", "dead", 2, 1))
		handles := []restaq.Meter{f.meter(), f.another().(restaq.Meter)}
		together(8, func(i int) {
			counts := []restaq.Count{count(minute, "b", "completed", 3, 1), count(minute, "ü'%", "x", 0, 1)}
			if i%4 >= 2 { // in another order
				counts[0], counts[1] = counts[1], counts[0]
			}
			if err := handles[i%2].AddCounts(f.ctx, counts, 48*time.Hour); err != nil {
				f.Errorf("AddCounts: %v", err)
			}
		})
		f.equal("by the minute", f.counts(time.Minute), []restaq.Count{
			count(minute, "a", "dead", 1, 5), count(minute, "a", "dead", 2, 1), count(minute, "b", "completed", 3, 10), count(minute, "ü'%", "x", 0, 8),
			count(minute.Add(time.Minute), "a", "dead", 1, 1),
		})
		f.equal("by the hour", f.counts(time.Hour), []restaq.Count{
			count(minute, "a", "dead", 1, 6), count(minute, "a", "dead", 2, 1), count(minute, "b", "completed", 3, 10), count(minute, "ü'%", "x", 0, 8),
		})
		some, err := f.meter().Counts(f.ctx, minute.Add(time.Second), minute.Add(2*time.Minute), time.Minute)
		if err != nil {
			f.Fatal(err)
		}
		f.equal("since a second later", some, []restaq.Count{count(minute.Add(time.Minute), "a", "dead", 1, 1)})
		some, err = f.meter().Counts(f.ctx, minute, minute.Add(time.Minute), time.Minute)
		if err != nil || len(some) != 4 {
			f.Errorf("until the next minute: %v, %v", some, err)
		}
	}},

	{"counts older than keep go", func(f *fixture) {
		now := f.now().Truncate(time.Minute)
		for _, age := range []time.Duration{0, time.Hour, 47 * time.Hour, 49 * time.Hour, 1000 * time.Hour} {
			c := restaq.Count{Minute: now.Add(-age), Kind: restaq.CountRefusal, Name: "a", Result: "r", N: 1}
			if err := f.meter().AddCounts(f.ctx, []restaq.Count{c}, 2000*time.Hour); err != nil {
				f.Fatal(err)
			}
		}
		if got := f.counts(time.Minute); len(got) != 5 {
			f.Fatalf("%d counts before, want 5", len(got))
		}
		if err := f.meter().AddCounts(f.ctx, nil, 48*time.Hour); err != nil {
			f.Fatal(err)
		}
		if got := f.counts(time.Minute); len(got) != 3 {
			f.Errorf("%d counts after, want 3", len(got))
		}
	}},
}

func (f *fixture) auditor() restaq.Auditor {
	f.Helper()
	a, ok := f.store.(restaq.Auditor)
	if !ok {
		f.Skip("the store is no restaq.Auditor")
	}
	return a
}

// audited follows a filter to its last page, and checks the times.
func (f *fixture) audited(filter restaq.AuditFilter) []restaq.AuditEntry {
	f.Helper()
	var all []restaq.AuditEntry
	for range 1000 {
		page, err := f.auditor().Audit(f.ctx, filter)
		if err != nil {
			f.Fatalf("Audit(%+v): %v", filter, err)
		}
		for _, e := range page.Entries {
			if e.At.IsZero() || len(all) > 0 && e.At.After(all[len(all)-1].At) {
				f.Errorf("entry at %v does not stand newest first", e.At)
			}
			all = append(all, e)
		}
		if page.Next == "" {
			return all
		}
		filter.Cursor = page.Next
	}
	f.Fatalf("Audit(%+v) does not end", filter)
	return nil
}

var auditTests = []test{
	{"entries come newest first, page by page", func(f *fixture) {
		a := f.auditor()
		var want []string
		for i := range 7 {
			person := []string{"ann", "bob"}[i%2]
			execution := []string{"", "x1", "x2"}[i%3]
			entries := []restaq.AuditEntry{
				{At: time.Unix(1, 0), Person: person, Action: "retry", Execution: execution, Detail: fmt.Sprint(i, "a 'ü")},
				{Person: person, Action: "cancel", Execution: execution, Detail: fmt.Sprint(i, "b")},
			}
			if err := a.AppendAudit(f.ctx, entries); err != nil {
				f.Fatal(err)
			}
			want = append([]string{entries[1].Detail, entries[0].Detail}, want...)
		}
		details := func(filter restaq.AuditFilter) []string {
			f.Helper()
			var all []string
			for _, e := range f.audited(filter) {
				all = append(all, e.Detail)
			}
			return all
		}
		for _, limit := range []int{0, 1, 3, 14, 5000} {
			f.equal(fmt.Sprint("limit ", limit), details(restaq.AuditFilter{Limit: limit}), want)
		}
		f.equal("by person, action and execution", details(restaq.AuditFilter{Person: "bob", Action: "cancel", Execution: "x1"}), []string{"1b"})
		f.equal("before all time", len(details(restaq.AuditFilter{Until: time.Unix(0, 0)})), 0)
		f.equal("since all time", len(details(restaq.AuditFilter{Since: time.Unix(0, 0)})), 14)
		if _, err := a.Audit(f.ctx, restaq.AuditFilter{Cursor: "no cursor"}); !errors.Is(err, restaq.ErrCursor) {
			f.Errorf("an invalid cursor: %v", err)
		}
	}},

	{"entries outlive their execution", func(f *fixture) {
		pruner, ok := f.store.(restaq.Pruner)
		if !ok {
			f.Skip("the store is no restaq.Pruner")
		}
		l := f.begun("evt_1")
		f.finish(l, completed)
		if err := f.auditor().AppendAudit(f.ctx, []restaq.AuditEntry{{Person: "ann", Action: "retry", Execution: l.Execution}}); err != nil {
			f.Fatal(err)
		}
		f.advance(time.Hour)
		if done, err := pruner.Prune(f.ctx, restaq.Prune{OlderThan: time.Minute}); err != nil || done.Executions != 1 {
			f.Fatalf("Prune = %+v, %v", done, err)
		}
		if all := f.audited(restaq.AuditFilter{Execution: l.Execution}); len(all) != 1 {
			f.Errorf("audit: %v", all)
		}
	}},
}

var secretsTests = []test{
	{"a secret is swapped by who knows what is there", func(f *fixture) {
		s, ok := f.store.(restaq.Secrets)
		if !ok {
			f.Skip("the store is no restaq.Secrets")
		}
		swap := func(old, value string, want bool) {
			f.Helper()
			bytes := func(text string) []byte {
				if text == "" {
					return nil
				}
				return []byte(text)
			}
			if swapped, err := s.SwapSecret(f.ctx, "name", bytes(old), bytes(value)); err != nil || swapped != want {
				f.Errorf("SwapSecret(%q, %q) = %v, %v; want %v", old, value, swapped, err, want)
			}
		}
		is := func(want string) {
			f.Helper()
			value, err := f.another().(restaq.Secrets).Secret(f.ctx, "name")
			if err != nil || string(value) != want || (value == nil) != (want == "") {
				f.Errorf("Secret = %q, %v; want %q", value, err, want)
			}
		}
		is("")
		swap("", "", true)
		swap("one", "two", false)
		is("")
		swap("", "one\x00\xff", true)
		swap("", "two", false)
		swap("two", "three", false)
		is("one\x00\xff")
		swap("one\x00\xff", "two", true)
		swap("one\x00\xff", "", false)
		is("two")
		swap("two", "", true)
		is("")
	}},

	{"the key of fingerprints is a secret", func(f *fixture) {
		s, ok := f.store.(restaq.Secrets)
		keyed, ok2 := f.store.(restaq.Keyed)
		if !ok || !ok2 {
			f.Skip("the store is no restaq.Secrets or no restaq.Keyed")
		}
		key, err := keyed.FingerprintKey(f.ctx)
		if err != nil {
			f.Fatal(err)
		}
		if secret, err := s.Secret(f.ctx, "fingerprint"); err != nil || string(secret) != string(key) {
			f.Errorf("Secret = %x, %v; want the key", secret, err)
		}
		if swapped, err := s.SwapSecret(f.ctx, "fingerprint", key, nil); err != nil || !swapped {
			f.Errorf("SwapSecret = %v, %v", swapped, err)
		}
	}},
}
