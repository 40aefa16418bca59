package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	restaq "github.com/restaq/restaq/runtime"
)

// Config says how a Store reaches its database. It needs URL or Pool.
type Config struct {
	// URL is a connection URL, postgres://user:password@host:port/database, or
	// a string of keywords and values, with the options of pgx and pgxpool.
	URL string

	// Pool is used instead of connections of the Store's own; Close leaves it
	// open. The Store's own connections, beside the pool, have its settings. A
	// step that keeps a connection of the pool keeps claims and all that is
	// rare waiting while the pool is exhausted: prefer URL.
	Pool *pgxpool.Pool

	// Schema is the schema that holds the Store's tables. Default: restaq.
	// Several Stores share a database under different names.
	Schema string

	// MaxConns bounds the connections that claims, steps with transactions and
	// all that is rare share. Default: the URL's pool_max_conns, or else 16.
	// Three more do the rest: one writes what attempts and deliveries have to
	// write, one renews leases, one listens.
	MaxConns int

	// NoMigrate leaves the schema alone: opening fails if it is older than
	// this build needs. By default opening brings it up to date.
	NoMigrate bool
}

const (
	defaultSchema   = "restaq"
	defaultMaxConns = 16
)

// Store is a restaq.Store on PostgreSQL. All its methods are safe for
// concurrent use.
type Store struct {
	pool   *pgxpool.Pool // for all that has no connection of its own
	own    bool          // the pool is the Store's own
	schema string

	writePool, renewPool *pgxpool.Pool // always the Store's own

	writes *group // of attempts and deliveries, and the lookups before these
	terms  terms
	tails  tails

	// readCommitted says that a statement outside a transaction runs at READ
	// COMMITTED, as the database's defaults have it.
	readCommitted bool

	// session says that connections keep what is set in them.
	session bool

	looked atomic.Int64 // when it was looked for sessions of stopped processes, by Unix nanoseconds

	// limits are the settings that bound transactions.
	limits []string

	sql sync.Map // statements for a schema of another name, by their text

	migrating sync.Mutex
	applied   []string // migrations, under migrating

	keyMu sync.Mutex
	key   []byte // fingerprint key, under keyMu; nil until read
}

var (
	_ restaq.Store     = (*Store)(nil)
	_ restaq.Lister    = (*Store)(nil)
	_ restaq.Pruner    = (*Store)(nil)
	_ restaq.Directory = (*Store)(nil)
	_ restaq.Keyed     = (*Store)(nil)
	_ restaq.Counter   = (*Store)(nil)
	_ restaq.Meter     = (*Store)(nil)
	_ restaq.Auditor   = (*Store)(nil)
	_ restaq.Forgetter = (*Store)(nil)
	_ restaq.Turns     = (*Store)(nil)
	_ restaq.Secrets   = (*Store)(nil)
	_ restaq.Committer = (*Store)(nil)
)

// Open connects to the database at url and brings the schema restaq up to
// date. The caller closes the Store.
func Open(ctx context.Context, url string) (*Store, error) {
	return OpenConfig(ctx, Config{URL: url})
}

// OpenConfig is Open with a Config.
func OpenConfig(ctx context.Context, cfg Config) (*Store, error) {
	s, err := newStore(ctx, cfg)
	if err == nil {
		if err = s.openConns(ctx); err == nil {
			err = aboutPooler(s.setUp(ctx, cfg.NoMigrate))
		}
		if err == nil {
			return s, nil
		}
		s.Close()
	}
	return nil, fmt.Errorf("open postgres store: %w", err)
}

func newStore(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Schema == "" {
		cfg.Schema = defaultSchema
	}
	if err := checkSchemaName(cfg.Schema); err != nil {
		return nil, fmt.Errorf("config: Schema: %w", err)
	}
	if cfg.MaxConns < 0 {
		return nil, errors.New("config: MaxConns: must not be negative")
	}
	if (cfg.URL == "") == (cfg.Pool == nil) {
		return nil, errors.New("config: needs a URL or a Pool, and not both")
	}
	s := &Store{pool: cfg.Pool, schema: cfg.Schema, terms: terms{asking: make(chan struct{}, 1)}}
	s.looked.Store(time.Now().UnixNano())
	if s.pool != nil {
		s.know(s.pool.Config().ConnConfig)
		return s, nil
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case cfg.MaxConns > 0:
		pc.MaxConns = int32(cfg.MaxConns)
	case !strings.Contains(cfg.URL, "pool_max_conns"):
		pc.MaxConns = defaultMaxConns
	}
	if pc.ConnConfig.RuntimeParams["application_name"] == "" {
		pc.ConnConfig.RuntimeParams["application_name"] = "restaq"
	}
	setReach(pc.ConnConfig, cfg.URL)
	s.know(pc.ConnConfig)
	s.own = true
	s.pool, err = pgxpool.NewWithConfig(ctx, pc)
	return s, err
}

// know notes what a configuration says of sessions and transactions.
func (s *Store) know(config *pgx.ConnConfig) {
	s.session, s.limits = keepsSession(config), transactionLimits(config)
}

// setUp looks at the way to the database, at its defaults and at the schema.
func (s *Store) setUp(ctx context.Context, noMigrate bool) error {
	if err := checkPooler(ctx, s.pool.Config().ConnConfig); err != nil {
		return err
	}
	err := s.statement(ctx, func(q querier) error {
		level, err := one[string](ctx, q, `SELECT current_setting('default_transaction_isolation')`)
		s.readCommitted = err == nil && level == "read committed"
		return err
	})
	if err != nil {
		return err
	}
	if noMigrate {
		return s.check(ctx)
	}
	_, err = s.Migrate(ctx)
	return err
}

// Close closes the Store's own connections, after the calls under way.
func (s *Store) Close() error {
	for _, pool := range s.pools() {
		pool.Close()
	}
	return nil
}

// q returns a statement with the Store's schema in place of the default one.
func (s *Store) q(text string) string {
	if s.schema == defaultSchema {
		return text
	}
	if known, ok := s.sql.Load(text); ok {
		return known.(string)
	}
	own := strings.ReplaceAll(text, defaultSchema+".", quote(s.schema)+".")
	s.sql.Store(text, own)
	return own
}

// querier runs one statement: a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// one returns the only column of the only row.
func one[T any](ctx context.Context, q querier, sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return *new(T), err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
}
