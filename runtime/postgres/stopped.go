package postgres

import (
	"context"
	"time"
)

// A process that is stopped in the middle of sending, by SIGSTOP or with its
// container, leaves a session that has run a statement and waits for the rest.
// Its kernel goes on acknowledging for it, so it looks alive, and before
// PostgreSQL 17 no limit of the server's applies to a transaction that is
// neither idle nor running a statement. So the processes look for such sessions
// in turn with their claims: sessions of the same role that have been waiting
// for their client for deadAfter, in the middle of something, and have written
// to the Store's tables. COPY, which somebody's transaction may do in between, waits
// for its client all the time.
const (
	stoppedSQL = `
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
	AND state = 'active' AND wait_event = 'ClientRead' AND query !~* '\mcopy\M'
	AND state_change < clock_timestamp() - $1::bigint * interval '1 millisecond'`

	// It asks again: a session that has gone on since is left alone.
	endStoppedSQL = `
SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
WHERE a.pid = ANY ($2::integer[]) AND a.state = 'active' AND a.wait_event = 'ClientRead'
	AND a.state_change < clock_timestamp() - $1::bigint * interval '1 millisecond'
	AND EXISTS (
		SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
		WHERE l.pid = a.pid AND l.mode <> 'AccessShareLock' AND c.relnamespace = $3::text::regnamespace)`
)

// endStopped ends the sessions of processes that have stopped half-way, if it
// has not been looked for them in a while. Its own errors are no matter: what
// is wrong with the database, a claim says, and what is not found now is found
// later.
func (s *Store) endStopped(ctx context.Context) {
	now, last := time.Now().UnixNano(), s.looked.Load()
	if now-last < int64(deadAfter) || !s.looked.CompareAndSwap(last, now) {
		return
	}
	limit := deadAfter.Milliseconds()
	_ = s.statement(ctx, func(q querier) error {
		pids, err := column[int32](ctx, q, stoppedSQL, limit)
		if err != nil || len(pids) == 0 {
			return err
		}
		_, err = one[int64](ctx, q, endStoppedSQL, limit, pids, quote(s.schema))
		return err
	})
}
