// Package play runs golden programs: it delivers events to registered handlers
// and prints what became of them.
package play

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
)

// Event is an event of a provider; its id is its type.
func Event(eventType, payload string) restaq.Event {
	provider, _, _ := strings.Cut(eventType, ".")
	return restaq.Event{Provider: provider, Source: provider, ID: eventType, Type: eventType, Payload: []byte(payload)}
}

var (
	mu   sync.Mutex
	said []string
)

// Say prints a line, before the history of the execution that says it. What
// executions of one event say is printed in the lines' order.
func Say(args ...any) {
	mu.Lock()
	defer mu.Unlock()
	said = append(said, fmt.Sprintln(args...))
}

// Run is RunOn a memory store.
func Run(register []func(*restaq.Runtime) error, events ...restaq.Event) {
	RunOn(memory.New(), register, events...)
}

// RunOn registers, delivers the events one after the other, and prints the
// history of each execution by handler, without ids.
func RunOn(store restaq.Store, register []func(*restaq.Runtime) error, events ...restaq.Event) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	rt, err := restaq.New(store, restaq.Config{
		Logger:   slog.New(slog.DiscardHandler),
		Attempts: 3,
		Backoff:  restaq.Backoff{Min: time.Millisecond, Max: time.Millisecond},
	})
	check(err)
	for _, f := range register {
		check(f(rt))
	}
	running := make(chan error)
	runCtx, end := context.WithCancel(ctx)
	go func() { running <- rt.Run(runCtx) }()
	for _, e := range events {
		receipt, err := rt.Deliver(ctx, e)
		check(err)
		slices.SortFunc(receipt.Executions, func(a, b restaq.Execution) int { return strings.Compare(a.Handler, b.Handler) })
		for _, x := range receipt.Executions {
			_, err := rt.Wait(ctx, x.ID)
			check(err)
		}
		if len(receipt.Executions) > 1 {
			slices.Sort(said)
		}
		fmt.Print(strings.Join(said, ""))
		said = nil
		for _, x := range receipt.Executions {
			history, err := rt.Inspect(ctx, x.ID)
			check(err)
			fmt.Printf("%s: %s: %s", e.Type, x.Handler, strings.Replace(history.Tree(), "Execution: "+x.ID+" | ", "", 1))
		}
	}
	end()
	check(<-running)
}

func check(err error) {
	if err != nil {
		log.SetFlags(0)
		log.Println(err)
		os.Exit(1)
	}
}
