package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"restaq": main})
}

// scriptCommands are what scripts have besides the command.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"seed": seed, "lost": lost, "work": work, "exits": exits,
	"watch": watch, "sees": sees, "interrupt": interrupt,
}

// TestScripts runs the scripts in testdata/script, which read as a manual, on
// an SQLite file and on PostgreSQL. A script's store is named by RESTAQ_STORE.
// Besides the command restaq it has
//
//	seed VAR EVENT_ID BEHAVIOUR   deliver an event, run its handler as often as
//	                              BEHAVIOUR (below) says, put the execution's
//	                              id in VAR
//	lost EVENT_ID                 deliver another event, to which nobody
//	                              subscribes, or with "new" a new handler
//	work N [new]                  run a process until it has made N attempts,
//	                              with the new handler if "new" is given
//	exits STATUS restaq ARGS...   run the command and compare its exit status
//	watch restaq ARGS...          start the command and go on
//	sees PATTERN                  wait until it has printed such a line
//	interrupt                     interrupt it, and check that it ends well
//	terminal WIDTH LINE restaq …  on Linux: run the command on a terminal of so
//	                              many characters, type a line, show the screen
func TestScripts(t *testing.T) {
	stores := map[string]func(t *testing.T, env *testscript.Env) string{
		"sqlite":   func(t *testing.T, env *testscript.Env) string { return "sqlite:" + env.WorkDir + "/restaq.db" },
		"postgres": func(t *testing.T, env *testscript.Env) string { return pgtest.URL(t) },
	}
	for name, address := range stores {
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Dir: "testdata/script",
				Setup: func(env *testscript.Env) error {
					env.Setenv("RESTAQ_STORE", address(t, env))
					return nil
				},
				Condition: func(cond string) (bool, error) {
					if stores[cond] == nil {
						return false, fmt.Errorf("unknown condition %q", cond)
					}
					return cond == name, nil
				},
				Cmds: scriptCommands,
			})
		})
	}
}

// behaviours are how the handler of a seeded event behaves: how often it runs
// before the seed is done, and what sending the receipt does in an attempt.
var behaviours = map[string]struct {
	attempts int
	send     func(attempt int) error
}{
	"pending": {0, func(int) error { return nil }},
	"ok":      {1, func(int) error { return nil }},
	"flaky": {2, func(attempt int) error { // at first
		if attempt == 1 {
			return errors.New("mailer: connection reset\nby peer")
		}
		return nil
	}},
	"later": {1, func(attempt int) error { // asks for an hour, once
		if attempt == 1 {
			return restaq.RetryAfter(errors.New("mailer: 503"), time.Hour)
		}
		return nil
	}},
	"dead": {1, func(attempt int) error { // until a person has seen to it
		if attempt == 1 {
			return restaq.Permanent(errors.New("no such mailbox"))
		}
		return nil
	}},
	"leaky": {1, func(int) error { return restaq.Permanent(errors.New("no mailbox ada@example.com")) }},
}

// paid is the handler of seeded events: three steps, of which the last fails
// as the event's payload says.
func paid(ctx context.Context, event restaq.Event) error {
	var order struct{ Behaviour, Email string }
	if err := json.Unmarshal(event.Payload, &order); err != nil {
		return err
	}
	behaviour := order.Behaviour
	for _, name := range []string{"record-payment", "calculate-fee", "send-receipt"} {
		_, err := restaq.Do(ctx, name, func(ctx context.Context) (string, error) {
			if name == "send-receipt" {
				return "sent", behaviours[behaviour].send(restaq.Attempt(ctx))
			}
			return name, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// process is one process of the user's.
type process struct {
	store    opened
	rt       *restaq.Runtime
	attempts chan struct{} // one for each attempt that begins
}

func startProcess(ts *testscript.TestScript, withNew bool) *process {
	a := &app{getenv: ts.Getenv}
	store, err := a.open(context.Background(), true)
	ts.Check(err)
	p := &process{store: store, attempts: make(chan struct{}, 100)}
	p.rt, err = restaq.New(store, restaq.Config{
		Logger:  slog.New(slog.DiscardHandler),
		Backoff: restaq.Backoff{Min: time.Millisecond, Max: time.Millisecond},
		Poll:    5 * time.Millisecond,
		Redact:  []string{"email"},
	})
	ts.Check(err)
	register := func(name string, types ...string) {
		ts.Check(p.rt.Register(restaq.Handler[restaq.Event]{Name: name, Events: types, Func: func(ctx context.Context, event restaq.Event) error {
			p.attempts <- struct{}{}
			return paid(ctx, event)
		}}))
	}
	register("shop.Orders.Paid", "shop.order.paid")
	if withNew {
		register("shop.Orders.Lost", "shop.order.lost")
	}
	return p
}

// run runs the process until n attempts have begun, then lets it drain.
func (p *process) run(ts *testscript.TestScript, n int) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() { ended <- p.rt.Run(ctx) }()
	for range n {
		select {
		case <-p.attempts:
		case err := <-ended:
			ts.Fatalf("run ended early: %v", err)
		case <-time.After(time.Minute):
			ts.Fatalf("no attempt begins")
		}
	}
	stop()
	ts.Check(<-ended)
	ts.Check(p.store.Close())
}

func (p *process) deliver(ts *testscript.TestScript, id, eventType, behaviour string) restaq.Receipt {
	payload, err := json.Marshal(map[string]string{"behaviour": behaviour, "email": "ada@example.com"})
	ts.Check(err)
	receipt, err := p.rt.Deliver(context.Background(), restaq.Event{ID: id, Type: eventType, Payload: payload})
	ts.Check(err)
	return receipt
}

func seed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: seed VAR EVENT_ID BEHAVIOUR")
	}
	p := startProcess(ts, false)
	receipt := p.deliver(ts, args[1], "shop.order.paid", args[2])
	ts.Setenv(args[0], receipt.Executions[0].ID)
	if n := behaviours[args[2]].attempts; n > 0 {
		p.run(ts, n)
	} else {
		ts.Check(p.store.Close())
	}
}

func lost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: lost EVENT_ID [new]")
	}
	p := startProcess(ts, len(args) == 2)
	p.deliver(ts, args[0], "shop.order.lost", "ok")
	ts.Check(p.store.Close())
}

func work(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: work N [new]")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	startProcess(ts, len(args) == 2).run(ts, n)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGS...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func TestTablesFitATerminal(t *testing.T) {
	for _, test := range []struct {
		name          string
		width         int
		widths, wants []int
	}{
		{"no terminal", 0, []int{36, 90, 90}, []int{36, 90, 90}},
		{"wide enough", 100, []int{36, 30, 30}, []int{36, 30, 30}},
		{"the widest one gives", 80, []int{36, 20, 50}, []int{36, 20, 20}},
		{"then both", 70, []int{36, 20, 50}, []int{36, 15, 15}},
		{"what is not flexible stays", 30, []int{36, 20, 50}, []int{36, 8, 8}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (&table{flexible: []int{1, 2}, widths: test.widths}).fit(test.width)
			if !slices.Equal(got, test.wants) {
				t.Errorf("widths %v, want %v", got, test.wants)
			}
		})
	}
}

func TestForeignTextCannotDriveTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain – text":            "plain – text",
		"\x1b[31mred\x1b[0m":      "\uFFFD[31mred\uFFFD[0m",
		"a\tb\rc":                 "a b\uFFFDc",
		"\u009b31m":               "\uFFFD31m",
		"right\u202Eto\u202Cleft": "right\uFFFDto\uFFFDleft",
	} {
		if got := clean(text); got != want {
			t.Errorf("clean(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := firstLine("\none\x00two\nthree", 60), "one\uFFFDtwo"; got != want {
		t.Errorf("firstLine = %q, want %q", got, want)
	}
	if got, want := firstLine("abcdef", 4), "abc…"; got != want {
		t.Errorf("firstLine = %q, want %q", got, want)
	}
}

func TestTimes(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                          {},
		"2026-01-02T03:04:05Z":      time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"2026-01-02T03:04:05+02:00": time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC),
		"2026-01-02":                time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		"90m":                       now.Add(-90 * time.Minute),
		"1.5d":                      now.Add(-36 * time.Hour),
	} {
		if got, err := parseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("parseTime(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-3h", "-1d", "NaNd", "Infd", "1e9d", "2026-13-01", "7", "d"} {
		if got, err := parseTime(text, now); err == nil {
			t.Errorf("parseTime(%q) = %v, want an error", text, got)
		}
	}
}
