package postgres

import (
	"context"
	"time"

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
	for _, p := range []struct {
		pool     **pgxpool.Pool
		conns    int32
		settings []setting
	}{
		{&s.writePool, writeLanes, []setting{
			{"plan_cache_mode", "force_generic_plan"}, {"enable_seqscan", "off"}, {"lock_timeout", lockPatience},
		}},
		{&s.renewPool, renewConns, nil},
	} {
		config := s.connConfig()
		config.MaxConns, config.MinConns, config.MinIdleConns = p.conns+spareConns, 0, 0
		config.MaxConnIdleTime = keepConn
		setSession(config.ConnConfig, append(unset(config.ConnConfig, laneSettings), p.settings...))
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			return err
		}
		*p.pool = pool
	}
	s.writes = &group{lanes: writeLanes}
	s.writes.commit = s.commitOn(s.writes, s.writePool)
	return nil
}

// connConfig is the configuration of the shared pool for a connection of the
// Store's own.
func (s *Store) connConfig() *pgxpool.Config {
	config := s.pool.Config()
	if !s.own { // how it is dialled is the caller's affair
		setSession(config.ConnConfig, unset(config.ConnConfig, sessionSettings))
	}
	return config
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
