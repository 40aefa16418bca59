package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Record appends progress to the attempt that holds the lease.
func (s *Store) Record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) error {
	err := s.writer.do(ctx, func(tx *tx) error {
		e, err := tx.held(lease)
		if err != nil {
			return err
		}
		return tx.progress(e, lease.Attempt, p)
	})
	if err != nil {
		return fmt.Errorf("record step: %w", err)
	}
	return nil
}

// held returns the execution whose attempt lease gives the right to run, or
// ErrLeaseLost. It holds until the transaction commits: nobody can take the
// execution over between the check and the rows that follow it. What it
// returns may be the writer's memory, and changes with what is stored.
func (t *tx) held(lease restaq.Lease) (*execution, error) {
	e, err := t.stored(lease.Execution)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (e.Status != restaq.Running || e.token != lease.Token) {
		return nil, restaq.ErrLeaseLost
	}
	return e, err
}

// progress appends the rows and notes the step under way, if it is another.
func (t *tx) progress(e *execution, attempt int, p *restaq.Progress) error {
	if err := t.addSteps(e.seq, attempt, p.Steps); err != nil || e.Step == p.Current {
		return err
	}
	_, err := t.exec(`UPDATE restaq_execution SET step = ? WHERE seq = ?`, p.Current, e.seq)
	e.Step = p.Current
	return err
}

// addSteps adds the rows that are not there yet; the others are this same
// attempt's, from a call whose answer was lost.
func (t *tx) addSteps(seq int64, attempt int, rows []restaq.StepRow) error {
	for i := range rows {
		r := &rows[i]
		_, err := t.exec(`INSERT INTO restaq_step (execution, attempt, seq, started_at, ended_at, status, name, func, shape, error, inputs, detail, output)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`,
			seq, attempt, r.Seq, r.StartedAt.UnixMicro(), r.EndedAt.UnixMicro(), r.Status, r.Name, r.Func, r.Shape, r.Error,
			r.Inputs, r.Detail, r.Output)
		if err != nil {
			return err
		}
	}
	return nil
}

// Renew extends leases and returns the executions that lost theirs.
func (s *Store) Renew(ctx context.Context, renewals []restaq.Renewal, d time.Duration) (lost []string, err error) {
	if len(renewals) == 0 {
		return nil, ctx.Err()
	}
	err = s.writer.do(ctx, func(tx *tx) error {
		lost, err = tx.renew(renewals, d)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	return lost, nil
}

func (t *tx) renew(renewals []restaq.Renewal, d time.Duration) (lost []string, err error) {
	until := t.now.Add(d).Truncate(time.Microsecond)
	for i := range renewals {
		r := &renewals[i]
		e, err := t.held(r.Lease)
		if errors.Is(err, restaq.ErrLeaseLost) {
			lost = append(lost, r.Lease.Execution)
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := t.addSteps(e.seq, r.Lease.Attempt, r.Progress.Steps); err != nil {
			return nil, err
		}
		if _, err := t.exec(`UPDATE restaq_execution SET due_at = ?, step = ? WHERE seq = ?`, until.UnixMicro(), r.Progress.Current, e.seq); err != nil {
			return nil, err
		}
		e.due, e.Step = until, r.Progress.Current
	}
	return lost, nil
}

// Finish closes the attempt that holds the lease.
func (s *Store) Finish(ctx context.Context, lease restaq.Lease, o *restaq.Outcome) (*restaq.Execution, error) {
	var after restaq.Execution
	err := s.writer.do(ctx, func(tx *tx) error {
		e, err := tx.load(lease.Execution)
		if errors.Is(err, sql.ErrNoRows) {
			return restaq.ErrLeaseLost
		}
		if err == nil && (e.Status != restaq.Running || e.token != lease.Token) {
			err = tx.finishedBefore(e, lease, o)
		} else if err == nil {
			err = tx.finish(e, lease, o)
		}
		after = e.out()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("finish attempt: %w", err)
	}
	return &after, nil
}

// finish ends the attempt under way of e, which lease holds.
func (t *tx) finish(e *execution, lease restaq.Lease, o *restaq.Outcome) error {
	noted := e.wish != restaq.Automatic
	if o.Uncounted {
		// The attempt never was: what it was to be, the next one is.
		e.Attempts--
		e.wish = max(e.wish, e.kind)
	} else {
		if err := t.addSteps(e.seq, lease.Attempt, o.Steps); err != nil {
			return err
		}
		if err := t.addAttempt(e, lease.Attempt, lease.Token, o.Attempt, o.Step, o.Error, o.Detail); err != nil {
			return err
		}
	}
	e.Step = o.Step
	if o.Attempt == restaq.AttemptFailed || o.Attempt == restaq.AttemptReleased {
		e.Error = o.Error
	}
	e.StoppedBy = o.StoppedBy
	switch {
	case noted:
		e.setPending(t.now)
	case o.Status == restaq.Pending:
		e.setPending(t.now.Add(max(o.RetryIn, 0)).Truncate(time.Microsecond))
	case o.Status == restaq.Failed && o.Retry:
		e.setRetry(t.now.Add(max(o.RetryIn, 0)).Truncate(time.Microsecond))
	default:
		e.setFinished(o.Status, t.now)
	}
	return t.save(e)
}

// finishedBefore returns nil if the lease's own process ended its attempt of e
// with the outcome o, else ErrLeaseLost. An uncounted attempt left no row: it
// is known by its token for as long as nobody claims the execution.
func (t *tx) finishedBefore(e *execution, lease restaq.Lease, o *restaq.Outcome) error {
	if o.Uncounted {
		if e.token == lease.Token && e.Attempts == lease.Attempt-1 {
			return nil
		}
		return restaq.ErrLeaseLost
	}
	var n int
	err := scanOne(t.query, []any{&n}, `SELECT count(*) FROM restaq_attempt
		WHERE execution = ? AND number = ? AND token = ? AND outcome = ? AND error = ? AND step = ?`,
		e.seq, lease.Attempt, lease.Token, o.Attempt, o.Error, o.Step)
	if err == nil && n == 0 {
		err = restaq.ErrLeaseLost
	}
	return err
}

// closeAttempt ends the attempt under way of e on behalf of someone other than
// the process that runs it.
func (t *tx) closeAttempt(e *execution, outcome restaq.AttemptOutcome) error {
	return t.addAttempt(e, e.Attempts, 0, outcome, "", "", nil)
}

func (t *tx) addAttempt(e *execution, number int, token int64, outcome restaq.AttemptOutcome, step, failure string, detail []byte) error {
	_, err := t.exec(`INSERT INTO restaq_attempt (execution, number, kind, token, started_at, ended_at, outcome, step, error, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.seq, number, e.kind, token, e.startedAt.UnixMicro(), t.now.UnixMicro(), outcome, step, failure, detail)
	return err
}
