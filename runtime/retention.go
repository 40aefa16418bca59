package restaq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// Retention says how long what is over is kept. Zero is for ever. Whichever
// process runs, one at a time, deletes what is older, in small batches, for at
// most a tenth of the time. Unfinished executions are never deleted. All
// processes on a store should agree.
type Retention struct {
	// Completed, Cancelled and Dead are how long an execution is kept after its
	// end, with its attempts and steps; the payload and header of its event go
	// with the event's last execution.
	Completed, Cancelled, Dead time.Duration

	// Events is for how long after it was received an event's id is remembered,
	// by the event's Provider, such as "stripe": after that, another delivery is
	// a new event and runs its handlers again. It is never forgotten while it has
	// an execution. One that nobody handled is deleted whole. Events of
	// providers that are not named here are remembered for ever, as those
	// should be that sign no time (GitHub, Shopify): whoever has a copy of a
	// request can send it again.
	//
	// An id must be remembered at least for as long as the provider delivers an
	// event again, by itself or because somebody asks it to: 30 days of Stripe
	// and Adyen, 72 h of others. docs/data.md has more.
	Events map[string]time.Duration
}

// redelivery is for how long providers, by their names, deliver an event again
// by themselves or let people ask for it, where that is longer than
// leastRemembered.
var redelivery = map[string]time.Duration{
	"adyen":  30 * 24 * time.Hour,
	"stripe": 30 * 24 * time.Hour,
}

// leastRemembered is what most others stay below or at.
const leastRemembered = 3 * 24 * time.Hour

// A Forgetter deletes events. It is an optional ability of a [Store].
type Forgetter interface {
	// Forget deletes up to limit events of a provider that were received longer
	// than olderThan ago, by the store's clock, and have no execution, and
	// returns how many. Their ids are new afterwards. One that gets an execution
	// at that moment either stays, with its payload, or is gone for who adds it.
	Forget(ctx context.Context, provider string, olderThan time.Duration, limit int) (int, error)
}

// Turns lets one process at a time do something. It is an optional ability of a
// [Store].
type Turns interface {
	// TakeTurn gives a name to owner for d from now, by the store's clock, and
	// reports whether it did: not if another owner has it.
	TakeTurn(ctx context.Context, name, owner string, d time.Duration) (bool, error)
}

func (r *Retention) none() bool {
	return r.Completed == 0 && r.Cancelled == 0 && r.Dead == 0 && len(r.Events) == 0
}

func (r *Retention) validate() error {
	var errs []error
	for _, f := range r.ofExecutions() {
		if f.age < 0 {
			errs = append(errs, fmt.Errorf("Retention: of %s executions: must not be negative", f.status))
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(r.Events)) {
		least := max(leastRemembered, redelivery[provider])
		switch age := r.Events[provider]; {
		case provider == "":
			errs = append(errs, errors.New("Retention.Events: a provider's name is empty"))
		case age < least:
			errs = append(errs, fmt.Errorf("Retention.Events[%q]: must be at least %v, for as long as it delivers an event again; leave it out to remember for ever", provider, least))
		}
	}
	return errors.Join(errs...)
}

// unsupported reports whether the store lacks what r asks for.
func (r *Retention) unsupported(store Store) error {
	_, prunes := store.(Pruner)
	_, forgets := store.(Forgetter)
	if !r.none() && !prunes || len(r.Events) > 0 && !forgets {
		return fmt.Errorf("Retention: %w", ErrUnsupported)
	}
	return nil
}

// kept is how long executions of a status are kept.
type kept struct {
	status string
	age    time.Duration
}

func (r *Retention) ofExecutions() []kept {
	return []kept{{string(Completed), r.Completed}, {string(Cancelled), r.Cancelled}, {"dead", r.Dead}}
}

const (
	// pruneEvery is how often it is looked for what is old.
	pruneEvery = time.Minute

	// pruneTurn is how long a process that has died keeps the others from it,
	// at most.
	pruneTurn = 3 * time.Minute

	// pruneBatch bounds what one transaction deletes, so that on SQLite, which
	// has one writer, no other write waits for long.
	pruneBatch = 200

	// pruneRest is how long it rests after a batch, in times of the batch.
	pruneRest = 9

	// pruneTimeout bounds a batch.
	pruneTimeout = 30 * time.Second
)

// retain deletes what Config.Retention says, until ctx ends.
func (rt *Runtime) retain(ctx context.Context) {
	if rt.cfg.Retention.none() {
		return
	}
	timer := time.NewTimer(rand.N(pruneEvery)) // processes begin together
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if err := rt.pruneOld(ctx); err != nil && ctx.Err() == nil {
			rt.cfg.Logger.Warn("restaq: cannot delete what is old", "error", firstLine(errorText(err), 200))
		}
		timer.Reset(pruneEvery)
	}
}

// pruneOld deletes all that is old now, while it has the turn.
func (rt *Runtime) pruneOld(ctx context.Context) (err error) {
	p := pruning{rt: rt}
	defer func() {
		if p.pruned != (Pruned{}) || p.forgotten > 0 {
			rt.cfg.Logger.Info("restaq: deleted what Config.Retention does not keep",
				"executions", p.pruned.Executions, "payloads", p.pruned.Payloads, "events", p.forgotten)
		}
	}()
	for _, k := range rt.cfg.Retention.ofExecutions() {
		if k.age > 0 && err == nil {
			err = p.untilNone(ctx, func(ctx context.Context) (int, error) {
				done, err := rt.raw.(Pruner).Prune(ctx, Prune{OlderThan: k.age, Statuses: []string{k.status}, Limit: pruneBatch})
				p.pruned.Executions += done.Executions
				p.pruned.Payloads += done.Payloads
				return done.Executions, err
			})
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(rt.cfg.Retention.Events)) {
		if err == nil {
			err = p.untilNone(ctx, func(ctx context.Context) (int, error) {
				n, err := rt.raw.(Forgetter).Forget(ctx, provider, rt.cfg.Retention.Events[provider], pruneBatch)
				p.forgotten += n
				return n, err
			})
		}
	}
	if errors.Is(err, errNoTurn) {
		err = nil
	}
	return err
}

// errNoTurn says that another process is at it.
var errNoTurn = errors.New("another process has the turn")

// pruning is one look for what is old.
type pruning struct {
	rt        *Runtime
	turn      time.Time // when it was taken; zero for not yet
	pruned    Pruned
	forgotten int
}

// untilNone calls batch until it deletes less than a whole batch, and rests in
// between.
func (p *pruning) untilNone(ctx context.Context, batch func(ctx context.Context) (int, error)) error {
	for {
		began := time.Now()
		n, err := p.inTurn(ctx, batch)
		if err != nil || n < pruneBatch {
			return err
		}
		rest := time.NewTimer(pruneRest * time.Since(began))
		select {
		case <-rest.C:
		case <-ctx.Done():
			rest.Stop()
			return ctx.Err()
		}
	}
}

// inTurn calls batch if this process has the turn.
func (p *pruning) inTurn(ctx context.Context, batch func(ctx context.Context) (int, error)) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, pruneTimeout)
	defer cancel()
	if turns, ok := p.rt.raw.(Turns); ok && time.Since(p.turn) > pruneTurn/3 {
		mine, err := turns.TakeTurn(ctx, "prune", p.rt.owner, pruneTurn)
		if err != nil {
			return 0, err
		}
		if !mine {
			return 0, errNoTurn
		}
		p.turn = time.Now()
	}
	return batch(ctx)
}
