package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Claim begins the next attempts of due executions.
func (s *Store) Claim(ctx context.Context, c restaq.Claim) ([]restaq.Claimed, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("claim executions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.time()

	if c.Recover {
		return s.recover(c, now), nil
	}
	// What was taken out of the queues goes back only after the loop, so that
	// none is met twice.
	var taken []*execution
	var claimed []restaq.Claimed
	for round := true; round; {
		round = false
		for _, h := range c.Handlers {
			if len(claimed) == c.Limit {
				break
			}
			e, passed := s.next(h, now, &c)
			taken = append(taken, passed...)
			if e == nil {
				continue
			}
			round = true
			taken = append(taken, e)
			if e.Status == restaq.Running {
				e.close(restaq.AttemptLost, now)
			}
			e.begin(now, c.Owner, c.Lease)
			claimed = append(claimed, e.claimed())
		}
	}
	for _, e := range taken {
		s.settle(e)
	}
	return claimed, nil
}

// recover returns what runs under leases of the owner that it does not know
// of, and extends them.
func (s *Store) recover(c restaq.Claim, now time.Time) []restaq.Claimed {
	var claimed []restaq.Claimed
	for _, h := range c.Handlers {
		q := s.queues[h]
		if q == nil {
			continue
		}
		for _, e := range slices.Clone(*q) {
			if len(claimed) == c.Limit {
				return claimed
			}
			if e.Status != restaq.Running || e.owner != c.Owner || slices.Contains(c.Held, e.lease()) {
				continue
			}
			e.due = now.Add(c.Lease)
			s.settle(e)
			claimed = append(claimed, e.claimed())
		}
	}
	return claimed
}

func (e *execution) claimed() restaq.Claimed {
	return restaq.Claimed{Execution: e.out(), Event: e.event.out(true), Lease: e.lease(), Kind: e.kind}
}

// lease is that of the attempt under way.
func (e *execution) lease() restaq.Lease {
	return restaq.Lease{Execution: e.ID, Attempt: e.Attempts, Token: e.token}
}

// begin starts e's next attempt. The caller settles it.
func (e *execution) begin(now time.Time, owner string, lease time.Duration) {
	e.Status, e.RetryAt, e.FinishedAt = restaq.Running, time.Time{}, time.Time{}
	e.Attempts++
	e.token++
	e.kind, e.wish = e.wish, restaq.Automatic
	e.startedAt, e.owner = now, owner
	e.Step = ""
	e.due = now.Add(lease)
}

// close ends the attempt under way on behalf of someone other than the process
// that runs it.
func (e *execution) close(outcome restaq.AttemptOutcome, now time.Time) {
	e.attempts = append(e.attempts, attempt{AttemptRow: restaq.AttemptRow{
		Number: e.Attempts, Kind: e.kind, Outcome: outcome, StartedAt: e.startedAt, EndedAt: now,
	}})
}

// held returns the execution whose attempt lease gives the right to run, or
// nil if the lease is lost.
func (s *Store) held(lease restaq.Lease) *execution {
	e := s.executions[lease.Execution]
	if e == nil || e.Status != restaq.Running || e.token != lease.Token {
		return nil
	}
	return e
}

// Record appends progress to the attempt that holds the lease.
func (s *Store) Record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("record step: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.held(lease)
	if e == nil {
		return restaq.ErrLeaseLost
	}
	e.progress(lease.Attempt, p)
	return nil
}

// Renew extends leases and returns the executions that lost theirs.
func (s *Store) Renew(ctx context.Context, renewals []restaq.Renewal, d time.Duration) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.time()
	var lost []string
	for _, r := range renewals {
		e := s.held(r.Lease)
		if e == nil {
			lost = append(lost, r.Lease.Execution)
			continue
		}
		e.progress(r.Lease.Attempt, &r.Progress)
		e.due = now.Add(d)
		s.settle(e)
	}
	return lost, nil
}

func (e *execution) progress(attempt int, p *restaq.Progress) {
	e.addSteps(attempt, p.Steps)
	e.Step = p.Current
}

// addSteps adds the rows of an attempt that are not there yet.
func (e *execution) addSteps(attempt int, rows []restaq.StepRow) {
	for _, row := range rows {
		row.Attempt = attempt
		i, there := slices.BinarySearchFunc(e.steps, row, func(a, b restaq.StepRow) int {
			if a.Attempt != b.Attempt {
				return a.Attempt - b.Attempt
			}
			return a.Seq - b.Seq
		})
		if !there {
			e.steps = slices.Insert(e.steps, i, cloneStep(row))
		}
	}
}

func cloneStep(row restaq.StepRow) restaq.StepRow {
	row.Output, row.Inputs, row.Detail = slices.Clone(row.Output), slices.Clone(row.Inputs), slices.Clone(row.Detail)
	row.StartedAt = row.StartedAt.UTC().Truncate(time.Microsecond)
	row.EndedAt = row.EndedAt.UTC().Truncate(time.Microsecond)
	return row
}

// Finish closes the attempt that holds the lease.
func (s *Store) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("finish attempt: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.held(lease)
	if e == nil {
		if e = s.executions[lease.Execution]; e == nil || !e.finishedBefore(lease, o) {
			return nil, restaq.ErrLeaseLost
		}
		x := e.out()
		return &x, nil
	}
	now := s.time()
	noted := e.wish != restaq.Automatic
	if o.Uncounted {
		// The attempt never was: what it was to be, the next one is.
		e.Attempts--
		e.wish = max(e.wish, e.kind)
	} else {
		e.addSteps(lease.Attempt, o.Steps)
		e.attempts = append(e.attempts, attempt{token: lease.Token, AttemptRow: restaq.AttemptRow{
			Number: lease.Attempt, Kind: e.kind, Outcome: o.Attempt, Error: o.Error, Step: o.Step,
			Detail: slices.Clone(o.Detail), StartedAt: e.startedAt, EndedAt: now,
		}})
	}
	e.Step = o.Step
	if o.Attempt == restaq.AttemptFailed || o.Attempt == restaq.AttemptReleased {
		e.Error = o.Error
	}
	e.StoppedBy = o.StoppedBy
	switch {
	case noted:
		e.setPending(now)
	case o.Status == restaq.Pending:
		e.setPending(now.Add(max(o.RetryIn, 0)).Truncate(time.Microsecond))
	case o.Status == restaq.Failed && o.Retry:
		e.setRetry(now.Add(max(o.RetryIn, 0)).Truncate(time.Microsecond))
	default:
		e.setFinished(o.Status, now)
	}
	s.settle(e)
	x := e.out()
	return &x, nil
}

// finishedBefore reports whether the lease's own process ended its attempt
// with the outcome o. An uncounted attempt left no row: it is known by its
// token for as long as nobody claims the execution.
func (e *execution) finishedBefore(lease restaq.Lease, o *restaq.Outcome) bool {
	if o.Uncounted {
		return e.token == lease.Token && e.Attempts == lease.Attempt-1
	}
	return slices.ContainsFunc(e.attempts, func(a attempt) bool {
		return a.Number == lease.Attempt && a.token == lease.Token && a.Outcome == o.Attempt &&
			a.Error == o.Error && a.Step == o.Step
	})
}
