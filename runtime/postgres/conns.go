package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Connections that users' work cannot use up: one for each shared commit that
// is under way, and the one that renews leases.
//
// With one commit at a time more calls share it than with two, and what a
// commit costs, in both processes, is so much of all that the work of 16 calls
// at once or of 64 costs a fifth less. Lookups and deliveries go with the
// writes of attempts for the same reason.
const (
	writeLanes = 1
	renewConns = 1
)

// spareConns are for when one of these has fallen silent: pgx takes up to 15 s
// to close it, in which it counts as one of its pool. They are not opened
// before.
const spareConns = 3

// lockPatience is how long a shared commit waits for a lock before its calls
// go the careful way.
const lockPatience = "200ms"

// keepConn is how long an unused connection of these is kept.
const keepConn = 24 * time.Hour

// openConns opens the pools beside the one that everybody shares, with the same
// settings. They connect when they are first used.
func (s *Store) openConns(ctx context.Context) error {
	s.session = s.keepsSession()
	session := `SELECT set_config('plan_cache_mode', 'force_generic_plan', false),
	set_config('enable_seqscan', 'off', false), set_config('lock_timeout', '` + lockPatience + `', false)`
	for _, p := range []struct {
		pool    **pgxpool.Pool
		conns   int32
		session string
	}{
		{&s.writePool, writeLanes, session},
		{&s.renewPool, renewConns, ""},
	} {
		pool, err := pgxpool.NewWithConfig(ctx, s.connConfig(p.conns+spareConns, p.session))
		if err != nil {
			return err
		}
		*p.pool = pool
	}
	s.writes = &group{lanes: writeLanes, commit: s.commitOn(s.writePool)}
	return nil
}

// connConfig is the configuration of the shared pool for so many connections.
// Each connection begins with the statement session, where connections keep
// what it sets.
func (s *Store) connConfig(conns int32, session string) *pgxpool.Config {
	config := s.pool.Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = conns, 0, 0
	config.MaxConnIdleTime = keepConn
	if session != "" && s.session {
		after := config.AfterConnect
		config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			if after != nil {
				if err := after(ctx, conn); err != nil {
					return err
				}
			}
			return conn.PgConn().Exec(ctx, session).Close()
		}
	}
	return config
}

// keepsSession reports whether connections keep the state of a session. Behind
// a pooler in transaction mode they do not; the URL says so by its mode of
// executing queries.
func (s *Store) keepsSession() bool {
	switch s.pool.Config().ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return false
	}
	return true
}

// pools are those that are the Store's own.
func (s *Store) pools() []*pgxpool.Pool {
	var pools []*pgxpool.Pool
	for _, pool := range []*pgxpool.Pool{s.writePool, s.renewPool} {
		if pool != nil {
			pools = append(pools, pool)
		}
	}
	if s.own && s.pool != nil {
		pools = append(pools, s.pool)
	}
	return pools
}

// reset lets go of all idle connections.
func (s *Store) reset() {
	for _, pool := range s.pools() {
		pool.Reset()
	}
}
