package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// recordSQL appends to the log of the attempt that holds the lease. FOR KEY SHARE
// keeps the row of work from being taken over, cancelled or finished until the
// write has committed; if somebody got there first, the statement waits for that
// commit and tests the token of what it left. A renewal meanwhile is not held up.
//
// A statement of the same attempt that comes late, because an answer was lost,
// may take the positions away: then this one fails, looks again and finds its
// steps there.
//
// The step under way is written only if it is another one than before.
const recordSQL = `
WITH held AS MATERIALIZED (
	SELECT execution, token, step FROM restaq.work
	WHERE execution = $14::uuid AND token = $15::bigint AND status = 'running'
	FOR KEY SHARE
), ` + appendSQL + `, current AS (
	UPDATE restaq.work w SET step = nullif($16::text, '')
	FROM held h WHERE w.execution = h.execution AND h.step IS DISTINCT FROM nullif($16::text, '')
)
SELECT true FROM held`

// Record appends progress to the attempt that holds the lease.
func (s *Store) Record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) error {
	err := s.record(ctx, lease, p)
	if err != nil && !errors.Is(err, restaq.ErrLeaseLost) {
		return fmt.Errorf("record step: %w", err)
	}
	return err
}

func (s *Store) record(ctx context.Context, lease restaq.Lease, p *restaq.Progress) error {
	id, ok := parseLease(lease)
	if !ok {
		return restaq.ErrLeaseLost
	}
	t := s.tails.get(id, lease.Token)
	terms, err := s.stepTerms(ctx, p.Steps)
	if err != nil {
		return err
	}
	done, err := s.recordShared(ctx, t, p, terms)
	if err != nil || done {
		return err
	}
	return s.recordAlone(ctx, t, id, lease.Token, p, terms)
}

// recordAlone records by itself. It waits for whoever holds the row of work, or
// writes to the same log.
func (s *Store) recordAlone(ctx context.Context, t *tail, id pgtype.UUID, token int64, p *restaq.Progress, terms []int32) error {
	if err := t.wait(ctx); err != nil {
		return err
	}
	defer t.release()
	t.forget()
	var held bool
	err := s.statement(ctx, func(q querier) error {
		next, written, err := s.readLog(ctx, q, id, token)
		if err != nil {
			return err
		}
		b := newBatch()
		defer b.free()
		rows := b.entries()
		rows.addNew(id, int32(token), &next, &written, p.Steps, terms)
		params := append(b.parameters(rows.all()), id.Bytes[:], int8Param(token), []byte(p.Current))
		found, err := rawRow(ctx, q, s.q(recordSQL), params)
		if held = found != nil; held {
			t.learn(next, written)
			t.note(p.Current)
		}
		return err
	})
	if err == nil && !held {
		s.tails.drop(t)
		err = restaq.ErrLeaseLost
	}
	return err
}

// renewSQL extends leases and notes the steps under way. The rows are locked in
// the order of their ids, so that two statements over the same rows cannot wait
// for each other; the token is tested on the locked row. The lock does not
// conflict with FOR KEY SHARE: a renewal waits for no write of the attempt, be
// it a long one. A row that somebody holds for good reason, or is stuck with, is
// left out at first, so that it does not hold up the others.
const (
	renewFreeSQL = renewHeldSQL + ` SKIP LOCKED` + renewRestSQL
	renewSQL     = renewHeldSQL + renewRestSQL
)

const (
	renewHeldSQL = `
WITH held AS MATERIALIZED (
	SELECT w.execution, r.current
	FROM restaq.work w
	JOIN unnest($1::uuid[], $2::bigint[], $3::text[]) AS r (execution, token, current)
		ON r.execution = w.execution AND r.token = w.token
	WHERE w.status = 'running'
	ORDER BY w.execution
	FOR NO KEY UPDATE OF w`

	renewRestSQL = `
), renewed AS (
	UPDATE restaq.work w SET
		lease_until = clock_timestamp() + $4::bigint * interval '1 microsecond', step = nullif(h.current, '')
	FROM held h WHERE w.execution = h.execution
)
SELECT execution::text FROM held`
)

// Renew extends leases and returns the executions that lost theirs.
func (s *Store) Renew(ctx context.Context, renewals []restaq.Renewal, d time.Duration) ([]string, error) {
	left, err := s.renew(ctx, renewFreeSQL, renewals, d)
	if err == nil && len(left) > 0 {
		left, err = s.renew(ctx, renewSQL, left, d)
	}
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	gone := make(map[string]bool, len(left))
	for i := range left {
		gone[left[i].Lease.Execution] = true
	}
	if err := s.recordRenewed(ctx, renewals, gone); err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	var lost []string
	for i := range renewals {
		lease := renewals[i].Lease
		if !gone[lease.Execution] {
			continue
		}
		lost = append(lost, lease.Execution)
		if id, ok := parseLease(lease); ok {
			s.tails.drop(s.tails.get(id, lease.Token))
		}
	}
	return lost, nil
}

// recordRenewed records the steps of renewals whose leases are not gone, and
// notes those that are after all.
func (s *Store) recordRenewed(ctx context.Context, renewals []restaq.Renewal, gone map[string]bool) error {
	var (
		group sync.WaitGroup
		errs  = make([]error, len(renewals))
	)
	for i := range renewals {
		if r := &renewals[i]; len(r.Progress.Steps) > 0 && !gone[r.Lease.Execution] {
			group.Go(func() { errs[i] = s.record(ctx, r.Lease, &r.Progress) })
		}
	}
	group.Wait()
	for i, err := range errs {
		if errors.Is(err, restaq.ErrLeaseLost) {
			gone[renewals[i].Lease.Execution] = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// renew extends leases and returns the renewals that it did not do.
func (s *Store) renew(ctx context.Context, sql string, renewals []restaq.Renewal, d time.Duration) (left []restaq.Renewal, err error) {
	var (
		ids     []pgtype.UUID
		tokens  []int64
		current []string
	)
	for i := range renewals {
		r := &renewals[i]
		if id, ok := parseLease(r.Lease); ok {
			ids, tokens, current = append(ids, id), append(tokens, r.Lease.Token), append(current, r.Progress.Current)
		}
	}
	var held []string
	err = s.statementOn(ctx, s.renewPool, func(q querier) (err error) {
		held, err = column[string](ctx, q, s.q(sql), ids, tokens, current, d.Microseconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	renewed := make(map[string]bool, len(held))
	for _, id := range held {
		renewed[id] = true
	}
	for i := range renewals {
		r := &renewals[i]
		if !renewed[r.Lease.Execution] {
			left = append(left, *r)
		} else if id, ok := parseLease(r.Lease); ok {
			s.tails.get(id, r.Lease.Token).note(r.Progress.Current)
		}
	}
	return left, nil
}
