package shop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"example.com/clock"
	restaq "github.com/restaq/restaq/runtime"
)

type Shop struct {
	mu     sync.Mutex
	stock  map[string]int
	prices map[string]int
	last   time.Time
	words  chan string
}

type Order struct {
	ID string
	At time.Time
	Qt int
}

var (
	rate    = 5 // want rate:"assigned"
	fixed   = 7
	started time.Time
)

func init() { fixed = 8; started = time.Now() }

func SetRate(n int) { rate = n }

// Values that reach a step's input.

//restaq:on acme.a
func (s *Shop) Inputs(ctx context.Context, event restaq.Event) error {
	now := time.Now() // want `^handler shop.Shop.Inputs: time.Now differs between attempts, and reaches the input of step note: Shop.Inputs → time.Now \(nondeterminism\)\n\thint: get it in a step, whose result is recorded, or use a time of the event$`
	if err := s.noteStep(ctx, now.String()); err != nil {
		return err
	}
	if err := s.noteStep(ctx, fmt.Sprint(rand.IntN(6))); err != nil { // want `rand.IntN differs between attempts, and reaches the input of step note`
		return err
	}
	host, _ := os.Hostname() // want `os.Hostname differs between attempts`
	order := Order{ID: host}
	if err := s.saveStep(ctx, order); err != nil {
		return err
	}
	if err := s.noteStep(ctx, clock.Stamp()); err != nil { // want `Shop.Inputs → clock.Stamp → time.Now \(`
		return err
	}
	if err := s.noteStep(ctx, s.id()); err != nil { // want `time.Now differs between attempts, and reaches the input of step note: Shop.Inputs → Shop.id → Shop.stamp → time.Now`
		return err
	}
	if err := s.noteStep(ctx, fmt.Sprint(rate, fixed)); err != nil { // want `variable rate is assigned while the program runs, and reaches the input of step note: Shop.Inputs → variable rate`
		return err
	}
	if err := s.noteStep(ctx, clock.Zone.String()); err != nil { // want `variable clock.Zone is assigned while the program runs`
		return err
	}
	var stamped Order
	fill(&stamped) // want `time.Now differs between attempts, and reaches the input of step save: Shop.Inputs → fill → time.Now`
	if err := s.saveStep(ctx, stamped); err != nil {
		return err
	}
	if err := s.twice(ctx, time.Now().String()); err != nil { // want `time.Now differs between attempts, and reaches the input of step note`
		return err
	}
	_, err := restaq.Do(ctx, "at-"+os.Getenv("REGION"), func(ctx context.Context) (int, error) { // want `os.Getenv differs between attempts, and reaches the name of a step of restaq.Do`
		return now.Day(), nil
	})
	return err
}

func (s *Shop) id() string { return s.stamp().String() } // want id:"returns Shop.stamp → time.Now"

func (s *Shop) stamp() time.Time { return time.Now() } // want stamp:"returns time.Now"

func fill(o *Order) { o.At = time.Now() } // want fill:".*"

func (s *Shop) twice(ctx context.Context, text string) error { // want twice:"takes reaches the input of step note"
	return s.noteStep(ctx, text+text)
}

// Values that decide about steps.

//restaq:on acme.b
func (s *Shop) Decisions(ctx context.Context, event restaq.Event) error {
	if time.Since(event.ReceivedAt) > time.Hour { // want `time.Since differs between attempts, and decides about steps: Shop.Decisions → time.Since`
		return errors.New("too late")
	}
	if os.Getenv("MAIL") != "" { // want `os.Getenv differs between attempts, and decides about steps`
		if err := s.noteStep(ctx, "a"); err != nil {
			return err
		}
	}
	switch hour := time.Now().Hour(); { // want `time.Now differs between attempts, and decides about steps`
	case hour < 8:
		if err := s.noteStep(ctx, "b"); err != nil {
			return err
		}
	}
	n := 1
	if rand.IntN(2) == 0 { // want `rand.IntN differs between attempts, and reaches the input of step count`
		n = 2
	}
	if err := s.countStep(ctx, n); err != nil {
		return err
	}
	if err := s.checkWindow(); err != nil { // want `time.Now differs between attempts, and decides about steps: Shop.Decisions → Shop.checkWindow → time.Now`
		return err
	}
	for i := 0; i < rate; i++ { // want `variable rate is assigned while the program runs, and decides about steps`
		if err := s.noteStep(ctx, "c"); err != nil {
			return err
		}
	}
	if n := s.inStock("tea"); n > 0 { // want `what sync.Mutex.Lock guards differs between attempts, and decides about steps: Shop.Decisions → Shop.inStock → sync.Mutex.Lock`
		return s.noteStep(ctx, "d")
	}
	return s.late(ctx) // want `time.Now differs between attempts, and decides about steps: Shop.Decisions → Shop.late → time.Now`
}

func (s *Shop) checkWindow() error { // want checkWindow:".*"
	if time.Now().Weekday() == time.Sunday {
		return errors.New("closed")
	}
	return nil
}

func (s *Shop) inStock(what string) int { // want inStock:"returns sync.Mutex.Lock"
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stock[what]
}

func (s *Shop) late(ctx context.Context) error { // want late:"time.Now differs between attempts, and decides about steps: time.Now"
	if time.Now().Hour() > 18 {
		return s.noteStep(ctx, "late")
	}
	return nil
}

// The order of a map.

//restaq:on acme.c
func (s *Shop) Orders(ctx context.Context, event restaq.Event) error {
	for name := range s.stock { // want `the order of a map differs between attempts, and so does that of the steps in the loop: Shop.Orders → range over a map \(nondeterminism\)\n\thint: go through the keys in order: slices.Sorted\(maps.Keys\(m\)\)$`
		if err := s.noteStep(ctx, name); err != nil {
			return err
		}
	}
	var names []string
	for name := range s.prices { // want `the order of a map differs between attempts, and reaches the input of step note`
		names = append(names, name)
	}
	if err := s.noteStep(ctx, strings.Join(names, ",")); err != nil {
		return err
	}
	if err := s.noteStep(ctx, strings.Join(slices.Collect(maps.Keys(s.stock)), ",")); err != nil { // want `the order of a map differs between attempts, and reaches the input of step note: Shop.Orders → maps.Keys`
		return err
	}
	var text strings.Builder
	for name, price := range s.prices { // want `the order of a map differs`
		fmt.Fprintf(&text, "%s: %d\n", name, price)
	}
	if err := s.noteStep(ctx, text.String()); err != nil {
		return err
	}
	return s.noteStep(ctx, strings.Join(s.names(), ",")) // want `the order of a map differs between attempts, and reaches the input of step note: Shop.Orders → Shop.names → range over a map`
}

func (s *Shop) names() []string { // want names:"returns range over a map"
	var names []string
	for name := range s.stock {
		names = append(names, name)
	}
	return names
}

// What is wrong wherever it happens.

//restaq:on acme.d
func (s *Shop) Acts(ctx context.Context, event restaq.Event) error {
	go s.forget()      // want `starts a goroutine: Shop.Acts → go statement`
	s.words <- "hello" // want `waits for other goroutines by a channel: Shop.Acts → channel send`
	<-s.words          // want `Shop.Acts → channel receive`
	select {           // want `Shop.Acts → select`
	case <-s.words:
	case <-time.After(time.Second): // want `time.After`
	}
	time.Sleep(time.Second) // want `waits outside a step, or starts what runs beside it: Shop.Acts → time.Sleep`
	s.mu.Lock()             // want `guards by a lock what other attempts change: Shop.Acts → sync.Mutex.Lock`
	s.mu.Unlock()
	clock.Wait()   // want `waits outside a step, or starts what runs beside it: Shop.Acts → clock.Wait → time.Sleep`
	s.background() // want `starts a goroutine: Shop.Acts → Shop.background → Shop.spawn → go statement`
	var wg sync.WaitGroup
	wg.Go(func() {}) // want `sync.WaitGroup.Go`
	wg.Wait()        // want `sync.WaitGroup.Wait`
	return s.noteStep(ctx, "done")
}

func (s *Shop) background() { s.spawn() } // want background:"starts a goroutine"

func (s *Shop) spawn() { go s.forget() } // want spawn:"starts a goroutine"

func (s *Shop) forget() {}

// What is fine.

//restaq:on acme.e
func (s *Shop) Fine(ctx context.Context, event restaq.Event) error {
	start := time.Now()
	restaq.Logger(ctx).Info("begin", "at", start, "host", os.Getenv("HOST"))
	at, err := clock.NowStep(ctx)
	if err != nil {
		return err
	}
	if err := s.noteStep(ctx, at.String()); err != nil {
		return err
	}
	if err := s.noteStep(ctx, event.ReceivedAt.Add(time.Hour).String()); err != nil {
		return err
	}
	total := 0
	for _, n := range s.stock {
		total += n
	}
	if err := s.countStep(ctx, total); err != nil {
		return err
	}
	names := make([]string, 0, len(s.stock))
	for name := range s.stock {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := s.noteStep(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.stock)) {
		if err := s.noteStep(ctx, name); err != nil {
			return err
		}
	}
	copied := map[string]int{}
	for name, n := range s.stock {
		copied[name] = n
	}
	if err := s.countStep(ctx, len(copied)+clock.Double(fixed)); err != nil {
		return err
	}
	if d := time.Since(start); d > time.Second {
		slog.Warn("slow", "took", d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	default:
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, time.Until(start.Add(time.Minute)))
	defer cancel()
	if err := s.noteStep(limited, started.String()+clock.Default.String()); err != nil {
		return err
	}
	s.last = time.Now()
	seeded := rand.New(rand.NewPCG(1, 2))
	if err := s.countStep(ctx, seeded.IntN(6)+len(s.stock)); err != nil {
		return err
	}
	n, err := restaq.Do(ctx, "now", func(ctx context.Context) (int, error) { return time.Now().Day(), nil })
	if err != nil {
		return err
	}
	//restaq:ignore nondeterminism it is set once, ahead of all deliveries
	if err := s.countStep(ctx, n+rate); err != nil {
		return err
	}
	if time.Since(start) > time.Minute { // no step follows
		return errors.New("took too long")
	}
	return nil
}

//restaq:step key=text
func (s *Shop) note(ctx context.Context, text string) error {
	go s.forget()
	time.Sleep(time.Millisecond)
	return nil
}

//restaq:step key=n
func (s *Shop) count(ctx context.Context, n int) error { return nil }

//restaq:step key=order.ID
func (s *Shop) save(ctx context.Context, order Order) error { return nil }
