package restaq

import (
	"context"
	"slices"
	"time"
)

// claimUntil takes due work until ctx ends: at once when told to look, and
// every Config.Poll.
func (rt *Runtime) claimUntil(ctx context.Context) {
	poll := time.NewTimer(0)
	defer poll.Stop()
	kick := rt.work.kick
	for {
		select {
		case <-ctx.Done():
			return
		case <-kick:
		case <-poll.C:
		}
		err := rt.claimDue(ctx)
		next := rt.cfg.Poll
		if kick = rt.work.kick; err != nil {
			kick = nil // a store that is away is not asked by each delivery
		}
		if err != nil || rt.work.inDoubt() {
			next = min(next, time.Second)
		}
		poll.Reset(next)
	}
}

// claimDue fills the free slots with due executions.
func (rt *Runtime) claimDue(ctx context.Context) error {
	w := &rt.work
	if err := rt.recoverLeases(w.base); err != nil {
		return err
	}
	for ctx.Err() == nil {
		w.mu.Lock()
		n := w.free
		w.free = 0
		if n == 0 {
			w.backlog = true // look again when a slot is free
			w.mu.Unlock()
			return nil
		}
		w.backlog = false // what arrives from here on says so itself
		w.claiming = true
		w.mu.Unlock()
		claimed, err := rt.claim(w.base, Claim{Limit: n})
		full := len(claimed) == n
		w.mu.Lock()
		w.backlog = w.backlog || full || err != nil
		w.free += n - len(claimed)
		late, slot := w.late, w.free > 0
		w.claiming, w.late = false, nil
		w.settle()
		w.mu.Unlock()
		for _, handler := range late {
			if !slot {
				rt.tellDue(handler)
			}
		}
		if err != nil || !full {
			return err
		}
	}
	return nil
}

// recoverLeases begins the executions whose leases this process has without
// knowing of them, while that may be so.
func (rt *Runtime) recoverLeases(ctx context.Context) error {
	w := &rt.work
	w.mu.Lock()
	if !time.Now().Before(w.unsure) {
		w.mu.Unlock()
		return nil
	}
	// No delivery begins anything meanwhile, for all that is held is listed.
	w.backlog = true
	held := make([]Lease, 0, len(w.starting)+len(w.attempts))
	for id := range w.starting {
		held = append(held, firstLease(id))
	}
	for _, a := range w.attempts {
		held = append(held, a.lease)
	}
	n := w.free
	w.free = 0
	w.mu.Unlock()
	var claimed []Claimed
	var err error
	if n > 0 {
		claimed, err = rt.claim(ctx, Claim{Limit: n, Recover: true, Held: held})
	}
	if len(claimed) > 0 {
		rt.cfg.Logger.Info("restaq: went on with executions whose claim had been in doubt", "count", len(claimed))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free += n - len(claimed)
	if !w.active { // who drains waits for the slots
		w.settle()
	}
	return err
}

// claim claims executions and begins them, in slots that the caller has taken.
// ctx is not that of Run: leases that were taken must be known, to be given
// back.
func (rt *Runtime) claim(ctx context.Context, c Claim) ([]Claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, rt.cfg.Lease)
	defer cancel()
	c.Owner, c.Lease, c.DeadBlocks = rt.owner, rt.cfg.Lease, rt.cfg.DeadBlocksKey
	c.Handlers = slices.Concat(rt.registry.claimed[rt.turn:], rt.registry.claimed[:rt.turn])
	c.Except = rt.leftOut.list()
	sent := rt.instant()
	claimed, err := rt.store.Claim(ctx, c)
	if err != nil {
		rt.work.doubt(rt.cfg.Lease)
		rt.cfg.Logger.Warn("restaq: cannot claim work", "error", firstLine(errorText(err), 200))
		return nil, err
	}
	for i := range claimed {
		got := &claimed[i]
		rt.begin(got.Execution.Handler, got.Lease, got.Kind, &got.Event, sent)
	}
	if len(claimed) > 0 && !c.Recover {
		last := slices.Index(rt.registry.claimed, claimed[len(claimed)-1].Execution.Handler)
		rt.turn = (last + 1) % len(rt.registry.claimed)
	}
	return claimed, nil
}
