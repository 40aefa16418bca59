package marker

import (
	"fmt"
	"go/token"
	"strings"
	"testing"
	"time"
)

// describe writes a marker and its errors in short, positions as columns.
func describe(m *Marker, errs []Error) string {
	var b strings.Builder
	if m != nil {
		b.WriteString(m.Verb)
		for _, t := range m.Types {
			fmt.Fprintf(&b, " %s", t.Text)
		}
		if m.Name.Text != "" {
			fmt.Fprintf(&b, " name=%s@%d", m.Name.Text, m.Name.Pos)
		}
		for _, old := range m.Old {
			fmt.Fprintf(&b, " %s@%d", old.Text, old.Pos)
		}
		if m.Key.Text != "" {
			fmt.Fprintf(&b, " key=%s@%d", m.Key.Text, m.Key.Pos)
		}
		if m.Order.Text != "" {
			fmt.Fprintf(&b, " order=%s@%d", m.Order.Text, m.Order.Pos)
		}
		if m.Attempts != 0 {
			fmt.Fprintf(&b, " attempts=%d", m.Attempts)
		}
		if m.BackoffMax != 0 {
			fmt.Fprintf(&b, " backoff=%s..%s", m.BackoffMin, m.BackoffMax)
		}
		if m.Timeout != 0 {
			fmt.Fprintf(&b, " timeout=%s", m.Timeout)
		}
		if m.Pure {
			b.WriteString(" pure")
		}
	}
	for _, e := range errs {
		fmt.Fprintf(&b, " | %d: %s", e.Pos, e.Reason)
		if e.Hint != "" {
			fmt.Fprintf(&b, " (%s)", e.Hint)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestMarkersThatAreRight(t *testing.T) {
	for text, want := range map[string]string{
		"//restaq:on stripe.charge.succeeded":                           "on stripe.charge.succeeded",
		"//restaq:on a.b  a.c\ta.d.*":                                   "on a.b a.c a.d.*",
		"//restaq:on *":                                                 "on *",
		"//restaq:on stripe.* name=shop.Billing.Old attempts=3":         "on stripe.* name=shop.Billing.Old@27 attempts=3",
		"//restaq:on a.b backoff=1s..10m timeout=1m30s order=event.ID":  "on a.b order=event.ID@53 backoff=1s..10m0s timeout=1m30s",
		"//restaq:on stripe.v2.core.account[configuration.customer].up": "on stripe.v2.core.account[configuration.customer].up",
		"//restaq:step":                                                      "step",
		"//restaq:step ":                                                     "step",
		"//restaq:step send-receipt":                                         "step name=send-receipt@15",
		"//restaq:step name=send_receipt.v2 pure":                            "step name=send_receipt.v2@20 pure",
		"//restaq:step name=pure":                                            "step name=pure@20",
		"//restaq:step order":                                                "step name=order@15",
		"//restaq:step key=customer":                                         "step key=customer@19",
		"//restaq:step \"key=a + b\" attempts=20":                            "step key=a + b@20 attempts=20",
		"//restaq:step `key=a + \":\" + b`":                                  "step key=a + \":\" + b@20",
		"//restaq:step \"key=a + \\\":\\\" + b\" x":                          "step name=x@35 key=a + \":\" + b@20",
		"//restaq:step key=a+\":\"+b":                                        "step key=a+\":\"+b@19",
		"//restaq:step key=a[\"x\"]":                                         "step key=a[\"x\"]@19",
		"//restaq:step attempts=20 backoff=1s..10m timeout=10s key=a==b key": "step key=a==b@59 attempts=20 backoff=1s..10m0s timeout=10s | 64: key needs a value: key=EXPR, without spaces around the \"=\" (a step of that name is written name=key)",
		"//restaq:event acme.order.shipped":                                  "event acme.order.shipped",
		"//restaq:was send-mail  mail":                                       "was send-mail@14 mail@25",
		"//restaq:was shop.Billing.Old":                                      "was shop.Billing.Old@14",
		"//restaq:convert record-payment":                                    "convert name=record-payment@18",
		"// an ordinary comment":                                             "",
		"//go:generate go tool restaqgen":                                    "",
		"// restaq: on every retry the step runs again":                      "",
		"// restaq runs each step once":                                      "",
		"// Restaq: an engine":                                               "",
		"// restaq:xyz is nothing":                                           "",
		"/* restaq is a toolkit */":                                          "",
		"//nolint:all":                                                       "",
		"////restaq:step":                                                    "",
		"//rest:api":                                                         "",
	} {
		if got := describe(Parse(text, 1)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestMarkersThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		// Near misses.
		"// restaq:step":                "| 1: a marker has no space behind the slashes (write //restaq:step)",
		"// restaq:step key=id  pure":   "| 1: a marker has no space behind the slashes (write //restaq:step key=id  pure)",
		"//\trestaq:on a.b":             "| 1: a marker has no space behind the slashes (write //restaq:on a.b)",
		"//Restaq:step":                 "| 1: a marker is written in lower case (write //restaq:step)",
		"//RESTAQ:ON a.b":               "| 1: a marker is written in lower case (write //restaq:on a.b)",
		"//restaq:Step":                 "| 1: a marker is written in lower case (write //restaq:step)",
		"// Restaq:stepp":               "| 1: a marker has no space behind the slashes (write //restaq:step)",
		"//restaq: step":                "| 1: a marker has no space around the colon (write //restaq:step)",
		"//restaq :step x":              "| 1: a marker has no space around the colon (write //restaq:step x)",
		"//restaq step":                 "| 1: a marker has a colon behind restaq (write //restaq:step)",
		"//restaq.step":                 "| 1: a marker has a colon behind restaq (write //restaq:step)",
		"//restaq-on a.b":               "| 1: a marker has a colon behind restaq (write //restaq:on a.b)",
		"/*restaq:step*/":               "| 1: a marker is a // comment (write //restaq:step)",
		"/* restaq:on a.b\n * more\n*/": "| 1: a marker is a // comment (write //restaq:on a.b)",
		"//retsaq:step":                 "| 1: unknown marker //retsaq:step (write //restaq:step)",
		"//@restaq:step":                "| 1: a marker has nothing between the slashes and restaq (write //restaq:step)",
		"///restaq:step":                "| 1: a marker has two slashes (write //restaq:step)",
		"//restaq::on a.b":              "| 1: a marker has one colon (write //restaq:on a.b)",
		"//restaq:":                     "| 1: the marker has no verb (the markers are //restaq:on, //restaq:step, //restaq:event, //restaq:was, //restaq:convert and //restaq:ignore)",
		"// restaq: ":                   "| 1: the marker has no verb (the markers are //restaq:on, //restaq:step, //restaq:event, //restaq:was, //restaq:convert and //restaq:ignore)",

		// Verbs.
		"//restaq:stpe":            "| 1: unknown marker //restaq:stpe (did you mean //restaq:step?)",
		"//restaq:steps":           "| 1: unknown marker //restaq:steps (did you mean //restaq:step?)",
		"//restaq:events a.b":      "| 1: unknown marker //restaq:events (did you mean //restaq:event?)",
		"//restaq:step,":           "| 1: unknown marker //restaq:step, (did you mean //restaq:step?)",
		"//restaq:on:a.b":          "| 1: unknown marker //restaq:on:a.b (did you mean //restaq:on a.b?)",
		"//restaq:step,x":          "| 1: unknown marker //restaq:step,x (did you mean //restaq:step?)",
		"//restaq:handler":         "| 1: unknown marker //restaq:handler (the markers are //restaq:on, //restaq:step, //restaq:event, //restaq:was, //restaq:convert and //restaq:ignore)",
		"//restaq:ignore":          "| 1: //restaq:ignore says neither which check nor why (//restaq:ignore CHECK REASON)",
		"//restaq:ignore loopkey":  "| 17: //restaq:ignore loopkey says no reason (//restaq:ignore loopkey REASON)",
		"//restaq:ignore Loop why": "| 17: the name of a check is written in small letters: \"Loop\" is none (//restaq:ignore CHECK REASON)",

		// Options.
		"//restaq:step attempt=3":             "step | 15: unknown option attempt= (did you mean attempts?)",
		"//restaq:step Attempts=3":            "step | 15: unknown option Attempts= (did you mean attempts?)",
		"//restaq:step retries=3":             "step | 15: unknown option retries= (the options are name, key, attempts, backoff, timeout, pure)",
		"//restaq:step order=x":               "step | 15: unknown option order= (order belongs to //restaq:on)",
		"//restaq:on a.b key=x":               "on a.b | 17: unknown option key= (key belongs to //restaq:step)",
		"//restaq:on a.b pure":                "on a.b | 17: pure belongs to //restaq:step",
		"//restaq:step pure=true":             "step | 15: unknown option pure= (pure stands alone)",
		"//restaq:event a.b name=x":           "event a.b | 20: unknown option name= (//restaq:event has no options)",
		"//restaq:step attempts=2 attempts=2": "step attempts=2 | 26: attempts is given twice",
		"//restaq:step pure pure":             "step pure | 20: pure is given twice",
		"//restaq:step a b":                   "step name=a@15 | 17: second name \"b\"",
		"//restaq:step a name=b":              "step name=a@15 | 22: second name \"b\"",
		"//restaq:step timeout":               "step | 15: timeout needs a value: timeout=DURATION, without spaces around the \"=\" (a step of that name is written name=timeout)",
		"//restaq:step timeout = 10s":         "step | 15: timeout needs a value: timeout=DURATION, without spaces around the \"=\" (a step of that name is written name=timeout)",
		"//restaq:step timeout= 10s":          "step | 15: timeout= has no value: timeout=DURATION, without spaces around the \"=\"",
		"//restaq:on a.b attempts 3":          "on a.b | 17: attempts needs a value: attempts=N, without spaces around the \"=\"",
		"//restaq:step key=":                  "step | 15: key= has no value: key=EXPR, without spaces around the \"=\"",
		"//restaq:step key=a + b":             "step key=a@19 | 15: an argument that holds spaces must be quoted (write it as \"key=a + b\")",
		"//restaq:step key=a+\" \"+b":         "step | 15: an argument's quotes are not closed, or text follows them without a space (an argument that holds spaces is quoted whole: `key=a + \" \" + b`)",
		"//restaq:step key=\"a + b\"":         "step key=\"a@19 | 15: an argument that holds spaces must be quoted (write it as \"key=a + b\")",
		"//restaq:step x // because":          "step name=x@15 | 17: a marker ends with its line (a remark stands on a line of its own)",
		"//restaq:on a.b //why":               "on a.b | 17: a marker ends with its line (a remark stands on a line of its own)",
		"//restaq:step \"key=a":               "step | 15: an argument's quotes are not closed, or text follows them without a space",
		"//restaq:step \"key=a\"pure":         "step | 15: an argument's quotes are not closed, or text follows them without a space",
		"//restaq:step RecordPayment":         "step name=RecordPayment@15 | 15: \"RecordPayment\" is no name: a name has the letters a to z, digits, \".\", \"_\" and \"-\", and begins with a letter or digit (write record-payment)",
		"//restaq:step -x":                    "step name=-x@15 | 15: \"-x\" is no name: a name has the letters a to z, digits, \".\", \"_\" and \"-\", and begins with a letter or digit (write x)",
		"//restaq:step timeout:10s":           "step name=timeout:10s@15 | 15: \"timeout:10s\" is no name: a name has the letters a to z, digits, \".\", \"_\" and \"-\", and begins with a letter or digit (write timeout=10s)",
		"//restaq:step attempts=0":            "step | 24: attempts=0: want a number from 1 to 1000000",
		"//restaq:step attempts=3x":           "step | 24: attempts=3x: want a number from 1 to 1000000",
		"//restaq:step attempts=99999999999":  "step | 24: attempts=99999999999: want a number from 1 to 1000000",
		"//restaq:step timeout=10":            "step | 23: timeout=10: want a duration such as 10s or 1m30s (write the unit: timeout=10s)",
		"//restaq:step timeout=-1s":           "step | 23: timeout=-1s: must be above zero",
		"//restaq:step timeout=soon":          "step | 23: timeout=soon: want a duration such as 10s or 1m30s",
		"//restaq:step backoff=5s":            "step | 23: backoff=5s: want MIN..MAX, such as 1s..10m (write backoff=5s..5s for a wait that does not grow)",
		"//restaq:step backoff=10m..1s":       "step backoff=10m0s..1s | 23: backoff=10m..1s: the minimum is above the maximum (write backoff=1s..10m)",
		"//restaq:step backoff=1s..x":         "step | 27: backoff=x: want a duration such as 10s or 1m30s",
		"//restaq:step backoff=1s...2s":       "step backoff=1s..200ms | 23: backoff=1s...2s: the minimum is above the maximum (write backoff=.2s..1s)",
		"//restaq:step attempts=0 timeout=0s": "step | 24: attempts=0: want a number from 1 to 1000000 | 34: timeout=0s: must be above zero",

		// What earlier builds left.
		"//restaq:was":              "was | 1: names no name (write //restaq:was OLD, with the name that the step or handler had before)",
		"//restaq:was a a":          "was a@14 | 16: name a is given twice",
		"//restaq:was a, b":         "was b@17 | 14: \"a,\" is no name: a name has letters, digits, \".\", \"_\" and \"-\", and begins with a letter or digit",
		"//restaq:was name=a":       "was | 14: unknown option name= (//restaq:was has no options)",
		"//restaq:convert":          "convert | 1: names no step (write //restaq:convert STEP, with the name of the step whose records it converts)",
		"//restaq:convert a b":      "convert name=a@18 | 20: second name \"b\"",
		"//restaq:convert Pay":      "convert name=Pay@18 | 18: \"Pay\" is no name: a name has the letters a to z, digits, \".\", \"_\" and \"-\", and begins with a letter or digit (write pay)",
		"//restaq:convert step=pay": "convert | 18: unknown option step= (//restaq:convert has no options)",
		"// restaq:was old":         "| 1: a marker has no space behind the slashes (write //restaq:was old)",

		// Event types.
		"//restaq:on":             "on | 1: names no event type (write //restaq:on PROVIDER.TYPE, such as //restaq:on stripe.charge.succeeded)",
		"//restaq:on attempts=3":  "on attempts=3 | 1: names no event type (write //restaq:on PROVIDER.TYPE, such as //restaq:on stripe.charge.succeeded)",
		"//restaq:on stripe":      "on | 13: event type \"stripe\" has no provider: want PROVIDER.TYPE, such as stripe.charge.succeeded",
		"//restaq:on a.b, a.c":    "on a.c | 13: event type \"a.b,\" holds a comma (event types are separated by spaces)",
		"//restaq:on a.b,a.c":     "on | 13: event type \"a.b,a.c\" holds a character that no event type has (event types are separated by spaces)",
		"//restaq:on \"a.b a.c\"": "on | 13: event type \"a.b a.c\" holds a character that no event type has (event types are separated by spaces)",
		"//restaq:on a..b":        "on | 13: event type \"a..b\" has an empty segment",
		"//restaq:on a.*.b":       "on | 13: event type \"a.*.b\": \"*\" may stand only as the whole last segment",
		"//restaq:on a.b*":        "on | 13: event type \"a.b*\": \"*\" may stand only as the whole last segment",
		"//restaq:on a.b a.b":     "on a.b | 17: event type a.b is given twice",
		"//restaq:event":          "event | 1: names no event type (write //restaq:event PROVIDER.TYPE, such as //restaq:event acme.order.shipped)",
		"//restaq:event a.b a.c":  "event a.b a.c | 20: a struct stands for one event type",
		"//restaq:event a.*":      "event | 16: event type \"a.*\": a struct stands for one event type, so \"*\" cannot stand in it",
	} {
		if got := describe(Parse(text, 1)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestNearestIsASlipOfTheHand(t *testing.T) {
	for s, want := range map[string]string{
		"stpe": "step", "setp": "step", "ste": "step", "evnet": "event", "o": "on", "no": "on", "handler": "", "": "", "xyzzy": "",
	} {
		if got := Nearest(s, verbs); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"//restaq:step a key=b timeout=1s", "//restaq:on a.b a.* name=x order=e", "//restaq:event a.b", "// restaq:step", "/*restaq:on*/",
		"//restaq:step \"key=a + b\" `x`", "//restaq:step backoff=1s..2s pure", "//restaq step", "//restaq:was x", "//restaq:step key=\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, errs := Parse(text, 1)
		for _, e := range errs {
			if e.Reason == "" || e.Pos < 1 || int(e.Pos) > len(text)+1 {
				t.Errorf("error %+v for %q", e, text)
			}
		}
		if m == nil || len(errs) > 0 {
			return
		}
		if (m.Verb == On || m.Verb == Event) != (len(m.Types) > 0) || (m.Verb == Was) != (len(m.Old) > 0) || m.Timeout < 0 || m.BackoffMin > m.BackoffMax || m.Attempts < 0 {
			t.Errorf("Parse(%q) = %+v", text, m)
		}
		if m.Name.Text != "" && !handlerName.MatchString(m.Name.Text) {
			t.Errorf("Parse(%q): name %q", text, m.Name.Text)
		}
		for _, w := range append([]Word{m.Name, m.Key, m.Order}, m.Types...) {
			if w.Text != "" && (w.Pos < 1 || w.Pos > token.Pos(len(text))) {
				t.Errorf("Parse(%q): word %q at %d", text, w.Text, w.Pos)
			}
		}
		if m.Timeout%time.Nanosecond != 0 {
			t.Errorf("timeout %s", m.Timeout)
		}
	})
}
