package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

var (
	_ restaq.Transactor = (*Store)(nil)
	_ restaq.Outbox     = (*Store)(nil)
)

// beginSQL begins a step's transaction. All of it is one round trip, and none
// of it takes a snapshot: the step may still choose another isolation level.
//
// A process that stops in the middle, or whose network does, loses the
// transaction after half a lease, before anybody can take the execution over:
// the locks of the transaction are then gone. A limit that the URL sets stands.
//
// The mark says that it is still this transaction when the step has returned:
// PostgreSQL forgets it with the transaction.
func (s *Store) beginSQL(limit time.Duration, mark string) string {
	return "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL restaq_step.mark = '" + mark + "'" + s.limitsSQL(limit)
}

// recordInSQL is recordSQL at the end of a step's transaction, if it is still
// the one that bears the mark. Its lock keeps the execution from being taken
// over until the commit; a take-over passes it by instead of waiting for it. It
// does not mind renewals, at no isolation level; to note the step under way
// would above READ COMMITTED, so it is not noted there.
//
// Above READ COMMITTED a token that has changed since the snapshot is a
// serialization failure, as whoever changed it locked FOR UPDATE. The snapshot
// may be older than what the attempt has written since: the positions come from
// outside. A step whose position somebody else has taken is left out, for an
// error would end the transaction.
const recordInSQL = `
WITH marked AS MATERIALIZED (
	SELECT coalesce(current_setting('restaq_step.mark', true), '') = $17::text AS ok
), held AS MATERIALIZED (
	SELECT execution, token, step FROM restaq.work
	WHERE execution = $14::uuid AND token = $15::bigint AND status = 'running' AND (SELECT ok FROM marked)
	FOR KEY SHARE
), rows AS (` + appendRowsSQL + `
	ON CONFLICT (execution, token, position) DO NOTHING
	RETURNING position, coalesce(seq, position) AS seq
), current AS (
	UPDATE restaq.work w SET step = nullif($16::text, '')
	FROM held h WHERE w.execution = h.execution AND h.step IS DISTINCT FROM nullif($16::text, '')
		AND current_setting('transaction_isolation') = 'read committed'
)
SELECT ok, EXISTS (SELECT FROM held), position, seq FROM marked LEFT JOIN rows ON true`

// awaitWorkSQL waits for the transaction that may have recorded a step: it
// holds FOR KEY SHARE. recordedSQL, a statement of its own, sees what became
// of it.
const (
	awaitWorkSQL = `SELECT true FROM restaq.work WHERE execution = $1::uuid FOR UPDATE`

	recordedSQL = `SELECT EXISTS (SELECT FROM restaq.entry
		WHERE execution = $1::uuid AND token = $2::bigint AND kind IS NULL AND coalesce(seq, position) = $3::integer)`
)

// TxType says that steps get a pgx.Tx.
func (s *Store) TxType() string { return "pgx.Tx" }

// Transact runs fn in a transaction that its progress is recorded in.
//
// Statements of fn may be as far apart as half of d; then the server ends the
// transaction.
func (s *Store) Transact(ctx context.Context, lease restaq.Lease, d time.Duration, fn func(ctx context.Context, tx any) (*restaq.Progress, error)) error {
	if _, ok := parseLease(lease); !ok {
		return restaq.ErrLeaseLost
	}
	limit := min(max(d/2, time.Millisecond), 24*time.Hour) // as PostgreSQL takes it
	mark := rand.Text()
	// Only the function may take as long as it wants: a server that does not
	// answer must not hold the attempt up for longer than any other write.
	begin, cancelBegin := context.WithTimeout(ctx, d)
	defer cancelBegin()
	conn, err := s.pool.Acquire(begin)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer conn.Release()
	tx, err := conn.BeginTx(begin, pgx.TxOptions{BeginQuery: s.beginSQL(limit, mark)})
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	// Whatever happens, the end is sent: not even the end of ctx keeps it.
	end, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	rollback := func() {
		timer := time.AfterFunc(limit, cancel)
		defer timer.Stop()
		tx.Rollback(end) // closes the connection if it fails, and so rolls back
	}
	defer rollback() // does nothing after a commit

	user := &userTx{Tx: tx}
	progress, err := fn(ctx, user)
	if err := user.failed(ctx, err); err != nil {
		return err
	}
	recording, cancelRecording := context.WithTimeout(ctx, d)
	defer cancelRecording()
	id, _ := parseLease(lease)
	t := s.tails.get(id, lease.Token)
	if err := t.wait(recording); err != nil {
		return lost(ctx, fmt.Errorf("record step: %w", err))
	}
	defer t.release()
	log, err := s.logEnd(recording, t, id, lease.Token)
	if err != nil {
		return lost(ctx, fmt.Errorf("record step: %w", err))
	}
	t.forget()
	err = s.recordIn(recording, tx, lease, progress, mark, log)
	switch {
	case err != nil && conn.Conn().IsClosed():
		return lost(ctx, err)
	case err != nil:
		return err
	}
	timer := time.AfterFunc(limit, cancel)
	defer timer.Stop()
	err = committed(tx.Commit(end))
	if err == nil {
		t.learn(log.next, log.written)
	}
	return err
}

// lost is what a transaction comes to whose connection has been closed before
// its commit was sent. err is what the step returned, or what came of its
// record. If ctx has ended, or the server did not want to wait for the step any
// longer, that is the step's own doing.
func lost(ctx context.Context, err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return restaq.ErrConnectionLost
	case ctx.Err() != nil, errors.As(err, &pg) && pg.Code == idleInTransaction:
		return err
	}
	return fmt.Errorf("%w: %w", restaq.ErrConnectionLost, err)
}

// idleInTransaction is idle_in_transaction_session_timeout.
const idleInTransaction = "25P03"

// logEnd is where a log ends: as its tail says, or else as it is read outside
// the transaction.
type logEnd struct {
	next    int32
	written seqs
}

func (s *Store) logEnd(ctx context.Context, t *tail, id pgtype.UUID, token int64) (*logEnd, error) {
	if t != nil && t.next > 0 {
		return &logEnd{t.next, slices.Clone(t.written)}, nil
	}
	var end logEnd
	err := s.statementOn(ctx, s.writePool, func(q querier) (err error) {
		end.next, end.written, err = s.readLog(ctx, q, id, token)
		return err
	})
	return &end, err
}

// recordIn appends progress in a step's transaction to a log that ends there,
// and moves the end on.
func (s *Store) recordIn(ctx context.Context, tx pgx.Tx, lease restaq.Lease, p *restaq.Progress, mark string, log *logEnd) error {
	terms, err := s.stepTerms(ctx, p.Steps)
	if err != nil {
		return fmt.Errorf("record step: %w", err)
	}
	id, _ := parseLease(lease)
	for {
		rows, err := s.appendIn(ctx, tx, id, lease.Token, p, terms, mark, log)
		switch {
		case err != nil:
			return fmt.Errorf("record step: %w", err)
		case !readBool(rows[0][0]):
			return restaq.Permanent(restaq.ErrTransactionEnded)
		case !readBool(rows[0][1]):
			s.tails.drop(s.tails.get(id, lease.Token))
			return restaq.ErrLeaseLost
		}
		for _, row := range rows {
			if row[2] != nil {
				log.next = max(log.next, int32(readInt(row[2]))+1)
				log.written.add(readInt(row[3]))
			}
		}
		if !slices.ContainsFunc(p.Steps, func(r restaq.StepRow) bool { return !log.written.has(r.Seq) }) {
			return nil
		}
		// Somebody else writes to the log.
		now, err := s.logEnd(ctx, nil, id, lease.Token)
		if err != nil {
			return fmt.Errorf("record step: %w", err)
		}
		log.next = max(log.next, now.next)
		log.written.addAll(now.written)
	}
}

// appendIn appends the steps that are not written yet.
func (s *Store) appendIn(ctx context.Context, tx pgx.Tx, id pgtype.UUID, token int64, p *restaq.Progress, terms []int32, mark string, log *logEnd) ([][][]byte, error) {
	b := newBatch()
	defer b.free()
	rows := b.entries()
	next, written := log.next, slices.Clone(log.written)
	rows.addNew(id, int32(token), &next, &written, p.Steps, terms)
	params := append(b.parameters(rows.all()), id.Bytes[:], int8Param(token), []byte(p.Current), []byte(mark))
	return rawRows(ctx, tx, s.q(recordInSQL), params)
}

// committed is what the result of a commit means. An error that the server
// sent, and with which it did not end the connection, says that it rolled
// back. Anything else leaves it open.
func committed(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrTxCommitRollback), errors.Is(err, pgx.ErrTxClosed),
		errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR":
		return fmt.Errorf("commit: %w", err)
	}
	return fmt.Errorf("%w: %w", restaq.ErrUncertain, err)
}

// userTx is the transaction as a step sees it: one that it cannot commit.
// Begin, which makes a savepoint, is the embedded one's.
type userTx struct {
	pgx.Tx
	committed  atomic.Bool // the step tried to
	rolledBack atomic.Bool
}

// Commit commits nothing. It makes the step fail.
func (t *userTx) Commit(context.Context) error {
	t.committed.Store(true)
	return restaq.ErrTransactionEnded
}

// Rollback rolls back at once. The step then fails, or has failed.
func (t *userTx) Rollback(ctx context.Context) error {
	t.rolledBack.Store(true)
	return t.Tx.Rollback(ctx)
}

// failed is why a step that returned err may not be recorded, or nil if it may.
func (t *userTx) failed(ctx context.Context, err error) error {
	conn := t.Conn()
	switch status := conn.PgConn().TxStatus(); {
	case t.committed.Load():
		return restaq.Permanent(restaq.ErrTransactionEnded)
	case conn.IsClosed() && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return err // of a context of the step's own
	case conn.IsClosed():
		return lost(ctx, err)
	case t.rolledBack.Load() && err == nil:
		return restaq.Permanent(restaq.ErrTransactionEnded)
	case status == 'I' && !t.rolledBack.Load():
		return restaq.Permanent(restaq.ErrTransactionEnded) // by a statement
	case err != nil:
		return err
	case status == 'E':
		return errors.New("the transaction was rolled back: the step went past an error of one of its statements")
	}
	return nil
}

// Recorded reports whether a row is stored.
func (s *Store) Recorded(ctx context.Context, lease restaq.Lease, seq int) (found bool, err error) {
	id, ok := parseID(lease.Execution)
	if !ok {
		return false, nil
	}
	err = s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.q(awaitWorkSQL), id); err != nil {
			return err
		}
		found, err = one[bool](ctx, tx, s.q(recordedSQL), id, lease.Token, int32(seq))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for step: %w", err)
	}
	return found, nil
}

// InsertTx stores a new event with its executions in a transaction of the
// caller's. The unique index on the event's id makes it wait for another
// transaction that stores the same event.
func (s *Store) InsertTx(ctx context.Context, user any, in *restaq.Insertion) (created bool, executions []restaq.Execution, err error) {
	tx, ok := user.(pgx.Tx)
	if !ok {
		return false, nil, fmt.Errorf("insert event: the transaction is a %T, want a pgx.Tx of this database", user)
	}
	args, err := s.newArguments(ctx, in)
	if err == nil {
		created, executions, err = s.made(ctx, tx, in, in.Event.Ref(), insertSQL, args)
	}
	if err == nil && !created {
		var found *restaq.StoredEvent
		if found, err = s.lookup(ctx, tx, in.Event.Source, in.Event.ID); err == nil {
			executions = found.Executions
		}
	}
	if err == nil && created && in.Notice != nil {
		err = s.notify(ctx, tx, *in.Notice)
	}
	if err != nil {
		return false, nil, fmt.Errorf("insert event: %w", err)
	}
	return created, executions, nil
}
