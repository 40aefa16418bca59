package storetest

import (
	"bytes"
	"strings"

	restaq "github.com/restaq/restaq/runtime"
)

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
