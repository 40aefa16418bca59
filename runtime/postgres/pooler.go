package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errPooled is what a person reads who has not told the Store of a pooler.
var errPooled = errors.New("the connections of a session go to several of the server's: " +
	"behind PgBouncer in transaction mode add default_query_exec_mode=exec to the URL")

// poolerAsks is how often a connection asks who serves it: somebody else's
// transaction may hide from one question that it is somebody else each time.
const poolerAsks = 3

// checkPooler returns errPooled if connections do not keep their sessions
// though the configuration supposes so. A server tells each connection the
// number of the process that serves it, a pooler makes one up. Behind a pooler,
// a second connection takes the server's process that the first has no need of
// at the moment; in session mode it gets one of its own.
func checkPooler(ctx context.Context, config *pgx.ConnConfig) error {
	if !keepsSession(config) {
		return nil
	}
	config = config.Copy()
	config.AfterConnect = nil // nothing is set in a session that others may get
	conn, first, err := askProcess(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if first == conn.PgConn().PID() {
		return nil
	}
	other, _, err := askProcess(ctx, config)
	if err != nil {
		return err
	}
	defer other.Close(ctx)
	tx, err := other.Begin(ctx)
	if err != nil {
		return err
	}
	taken, err := process(ctx, tx)
	if err != nil {
		return err
	}
	shared := taken == first
	for range poolerAsks {
		now, err := process(ctx, conn)
		if err != nil {
			return err
		}
		shared = shared || now != first
	}
	if shared {
		return errPooled
	}
	return nil
}

// askProcess returns a connection and what serves it.
func askProcess(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, uint32, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, 0, err
	}
	pid, err := process(ctx, conn)
	if err != nil {
		conn.Close(ctx)
		return nil, 0, err
	}
	return conn, pid, nil
}

// process returns the server's process that runs a statement, without
// preparing it.
func process(ctx context.Context, q querier) (uint32, error) {
	pid, err := one[int32](ctx, q, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec)
	return uint32(pid), err
}

// aboutPooler adds to the error of an opening what a pooler has to do with it.
func aboutPooler(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch {
	case pg.Code == "42P05", pg.Code == "26000": // a prepared statement is there already, or is not
		return fmt.Errorf("%w: %w", errPooled, err)
	case strings.Contains(pg.Message, "unsupported startup parameter"):
		return fmt.Errorf("PgBouncer refuses a setting that the URL has: "+
			"leave it out, or add it to ignore_startup_parameters: %w", err)
	}
	return err
}
