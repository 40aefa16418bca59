package restaq_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

func TestEqualOrderKeysRunOneAtATimeInOrder(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		var mu sync.Mutex
		var order []string
		running := 0
		handler := on("h", func(_ context.Context, e restaq.Event) error {
			mu.Lock()
			defer mu.Unlock()
			if running++; running > 1 {
				t.Error("two executions of one key run at once")
			}
			order = append(order, e.ID)
			running--
			if len(order) == 1 {
				return errors.New("its retry keeps the key")
			}
			return nil
		})
		handler.Order = func(e restaq.Event) string {
			if e.Header.Get("Key") == "panic" {
				panic("no key")
			}
			return e.Header.Get("Key")
		}
		rt, _ := start(t, open(), quick(), handler)
		var want, ids []string
		for range 5 {
			event := newEvent()
			event.Header = map[string][]string{"Key": {"customer"}}
			ids = append(ids, deliver(t, rt, event).ID)
			want = append(want, event.ID)
		}
		for _, id := range ids {
			wait(t, rt, id, "completed")
		}
		mu.Lock()
		defer mu.Unlock()
		if got := fmt.Sprint(order[1:]); got != fmt.Sprint(want) {
			t.Errorf("order %s, want %s after the first's failed attempt", got, want)
		}

		// A key that cannot be computed: the event is stored, its execution dead.
		event := newEvent()
		event.Header = map[string][]string{"Key": {"panic"}}
		e := deliver(t, rt, event)
		if !e.Dead() || e.Error != "order key: panic: no key" {
			t.Errorf("execution %s: %s", word(&e), e.Error)
		}
	})
}
