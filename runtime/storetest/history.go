package storetest

import (
	"bytes"
	"strings"

	restaq "github.com/restaq/restaq/runtime"
)

var historyTests = []test{
	{"an unknown execution is not found", func(f *fixture) {
		for _, id := range []string{newID(), "", "no-uuid"} {
			_, err := f.store.History(f.ctx, id)
			f.is("History", err, restaq.ErrNotFound)
		}
	}},

	{"an execution comes with its event and order key", func(f *fixture) {
		ev := newEvent("evt_1")
		n := newExecution(handler)
		n.OrderKey = "customer 7"
		e := f.insert(ev, n)[0]
		h := f.history(n.ID)
		want := *ev
		want.ReceivedAt = h.Event.ReceivedAt
		f.equal("history", h, &restaq.StoredExecution{Execution: e, Event: want, OrderKey: "customer 7"})
	}},

	{"rows of earlier attempts never change", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2)})
		o := retryInHour
		o.RetryIn, o.Steps, o.Detail = 0, steps(1, 3, 1), []byte("one")
		f.finish(l, o)
		first := f.history(l.Execution)

		// The second attempt is interrupted, the third restarted, the fourth
		// cancelled; all of them record under the numbers of the first's rows.
		second := f.claim(l.Execution).Lease
		f.record(second, &restaq.Progress{Steps: steps(2, 1, 3)})
		f.finish(second, interrupted)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Pending, Kind: restaq.Restarted})
		third := f.claim(l.Execution).Lease
		o = completed
		o.Steps = steps(3, 1, 3)
		f.finish(third, o)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Retried})
		f.claim(l.Execution)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})

		h := f.history(l.Execution)
		if len(h.Attempts) != 4 || len(h.Steps) != 9 {
			f.Fatalf("history has %d attempts and %d steps, want 4 and 9", len(h.Attempts), len(h.Steps))
		}
		f.equal("first attempt", h.Attempts[:1], first.Attempts)
		f.equal("first steps", h.Steps[:3], first.Steps)
		for i, want := range []struct {
			outcome restaq.AttemptOutcome
			kind    restaq.AttemptKind
		}{
			{restaq.AttemptFailed, restaq.Automatic}, {restaq.AttemptInterrupted, restaq.Automatic},
			{restaq.AttemptCompleted, restaq.Restarted}, {restaq.AttemptCancelled, restaq.Retried},
		} {
			a := h.Attempts[i]
			if a.Number != i+1 || a.Outcome != want.outcome || a.Kind != want.kind {
				f.Errorf("attempt = %+v, want number %d, %s, kind %d", a, i+1, want.outcome, want.kind)
			}
		}
	}},

	{"every handle reads the same", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2), Current: "three"})
		h, err := f.another().History(f.ctx, l.Execution)
		if err != nil {
			f.Fatal(err)
		}
		f.equal("history", h, f.history(l.Execution))
	}},

	{"what was handed in or out may be changed by its holder", func(f *fixture) {
		ev := newEvent("evt_1")
		f.insert(ev, newExecution(handler))
		ev.Payload[0], ev.Header["X-Two"][0] = 'X', "changed"
		c := f.claimAll(handler)[0]
		rows := steps(1, 1, 1)
		f.record(c.Lease, &restaq.Progress{Steps: rows})
		rows[0].Output[0], rows[0].Inputs[0] = 'X', 'X'
		h := f.history(c.Execution.ID)
		h.Steps[0].Output[0], h.Event.Header["X-Two"][1] = 'Y', "changed"
		want := newEvent("evt_1")
		want.ReceivedAt = h.Event.ReceivedAt
		again := f.history(c.Execution.ID)
		f.equal("event", again.Event, *want)
		f.equal("steps", again.Steps, steps(1, 1, 1))
	}},
}

// values are byte slices that stores like to change.
var values = map[string][]byte{
	"nil":           nil,
	"empty":         {},
	"NUL":           {0},
	"NULs":          []byte("a\x00b\x00"),
	"invalid UTF-8": {0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80},
	"every byte": func() []byte {
		var all []byte
		for b := range 256 {
			all = append(all, byte(b))
		}
		return all
	}(),
	"JSON with NUL escape": []byte(`{"b":1,"a":"\u0000","b":2}`),
	"backslashes":          []byte(`\x00\\'";--`),
	"5 MB":                 bytes.Repeat([]byte("0123456789"), 500_000),
}

var bytesTests = []test{
	{"payloads are kept byte for byte", func(f *fixture) {
		for name, value := range values {
			ev := newEvent("evt_" + name)
			ev.Payload = value
			n := newExecution(handler)
			f.insert(ev, n)
			found, err := f.store.Lookup(f.ctx, "stripe", ev.ID, true)
			if err != nil {
				f.Fatal(err)
			}
			f.sameBytes(name+" in Lookup", found.Event.Payload, value)
			c := f.claim(n.ID)
			f.sameBytes(name+" in Claim", c.Event.Payload, value)
			f.sameBytes(name+" in History", f.history(n.ID).Event.Payload, value)
		}
	}},

	{"outputs, inputs and details are kept byte for byte", func(f *fixture) {
		for name, value := range values {
			l := f.begun("evt_" + name)
			rows := steps(1, 1, 2)
			for i := range rows {
				rows[i].Output, rows[i].Inputs, rows[i].Detail = value, value, value
			}
			f.record(l, &restaq.Progress{Steps: rows[:1]})
			o := completed
			o.Steps, o.Detail = rows[1:], value
			f.finish(l, o)
			h := f.history(l.Execution)
			f.sameBytes(name+" as the attempt's detail", h.Attempts[0].Detail, value)
			for _, row := range h.Steps {
				f.sameBytes(name+" as output", row.Output, value)
				f.sameBytes(name+" as inputs", row.Inputs, value)
				f.sameBytes(name+" as detail", row.Detail, value)
			}
		}
	}},

	{"texts are kept whatever is in them", func(f *fixture) {
		for i, text := range []string{
			" leading and trailing ", "line\nbreak\r\n", "quote ' and \" and `", `back\slash`, "100% _any_", "日本語 🎉 e\u0301",
			"control \x01\x1f\x7f", "\ufeff\ufffd\U0010ffff", strings.Repeat("long ", 200_000),
		} {
			l := f.begun("evt_" + string(rune('a'+i)))
			rows := steps(1, 1, 1)
			rows[0].Status, rows[0].Error = restaq.StepFailed, text
			o := died
			o.Steps, o.Error = rows, text
			e := f.finish(l, o)
			h := f.history(l.Execution)
			if e.Error != text || h.Execution.Error != text || h.Attempts[0].Error != text || h.Steps[0].Error != text {
				f.Errorf("error text %.40q came back changed", text)
			}
		}
	}},

	{"headers are kept with all their values", func(f *fixture) {
		ev := newEvent("evt_1")
		ev.Header = map[string][]string{"A": {"1", "", "ü <&>"}, "B": {""}, "lower-case": {"x"}}
		n := newExecution(handler)
		f.insert(ev, n)
		f.equal("header", f.claim(n.ID).Event.Header, ev.Header)
	}},

	{"no header is none", func(f *fixture) {
		ev := newEvent("evt_1")
		ev.Header = nil
		n := newExecution(handler)
		f.insert(ev, n)
		if h := f.claim(n.ID).Event.Header; h != nil {
			f.Errorf("header = %#v, want nil", h)
		}
	}},
}

// sameBytes compares without printing megabytes. A nil slice is not an empty
// one: a step may have put out either.
func (f *fixture) sameBytes(what string, got, want []byte) {
	f.Helper()
	if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
		f.Errorf("%s: got %.60q (nil: %v), want %.60q (nil: %v)", what, got, got == nil, want, want == nil)
	}
}
