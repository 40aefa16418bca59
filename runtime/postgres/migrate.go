package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// schemaMajor is the major number of the schema that this build works with. A
// migration after which older builds cannot work begins a new one.
const schemaMajor = 1

// migrationFiles are the migrations, named MAJOR.NUMBER_words.sql. Their order
// is that of their names; one that was ever released is not changed.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the schema.
type migration struct {
	name  string // the file's name without .sql
	major int
	sql   string
}

func migrations() ([]migration, error) {
	entries, err := migrationFiles.ReadDir("migrations") // sorted by name
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, entry := range entries {
		text, err := migrationFiles.ReadFile("migrations/" + entry.Name())
		if err != nil {
			return nil, err
		}
		m := migration{name: strings.TrimSuffix(entry.Name(), ".sql"), sql: string(text)}
		if _, err := fmt.Sscanf(m.name, "%d.", &m.major); err != nil {
			return nil, fmt.Errorf("migration %s: no major number: %w", m.name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// Migrate brings the schema up to date. It returns the names of all the
// migrations that this Store has applied, those of Open included; none if the
// schema was up to date. Any number of processes may do it at once.
func (s *Store) Migrate(ctx context.Context) (applied []string, err error) {
	s.migrating.Lock()
	defer s.migrating.Unlock()
	missing, err := s.missing(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate schema %q: %w", s.schema, err)
	}
	if len(missing) > 0 {
		names, err := s.migrate(ctx)
		if err != nil {
			return nil, fmt.Errorf("migrate schema %q: %w", s.schema, err)
		}
		s.applied = append(s.applied, names...)
	}
	return slices.Clone(s.applied), nil
}

// migrate applies what is missing, in one transaction. The lock belongs to the
// transaction, so it works through a connection pooler, and whoever waited for
// it reads what its winner left.
func (s *Store) migrate(ctx context.Context) (applied []string, err error) {
	err = s.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		applied = nil
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1::bigint)`, lockKey(s.schema)); err != nil {
			return err
		}
		missing, err := s.missingBy(ctx, tx)
		if err != nil || len(missing) == 0 {
			return err
		}
		if err := s.prepareSchema(ctx, tx); err != nil {
			return err
		}
		for _, m := range missing {
			// Without arguments several statements go as one script.
			if _, err := tx.Conn().PgConn().Exec(ctx, s.q(m.sql)).ReadAll(); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			if _, err := tx.Exec(ctx, s.q(`INSERT INTO restaq.migration (name, major) VALUES ($1::text, $2::integer)`), m.name, m.major); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			applied = append(applied, m.name)
		}
		return nil
	})
	return applied, err
}

// prepareSchema makes the schema and its list of migrations, each only if it
// is not there: with IF NOT EXISTS a role would need the right to make what
// exists already.
func (s *Store) prepareSchema(ctx context.Context, tx pgx.Tx) error {
	schema, err := one[bool](ctx, tx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1::text)`, s.schema)
	if err != nil {
		return err
	}
	list, err := s.listed(ctx, tx)
	if err != nil {
		return err
	}
	if !schema {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA `+quote(s.schema)); err != nil {
			return err
		}
	}
	if !list {
		_, err = tx.Exec(ctx, s.q(`CREATE TABLE restaq.migration (
			name       text COLLATE "C" PRIMARY KEY,
			major      integer NOT NULL,
			applied_at timestamptz NOT NULL DEFAULT now()
		)`))
	}
	return err
}

// check reports why this build cannot work with the schema as it is.
func (s *Store) check(ctx context.Context) error {
	missing, err := s.missing(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("schema %q is older than this build (it lacks %s): run restaq migrate", s.schema, missing[0].name)
	}
	return nil
}

// missing returns the migrations that the schema lacks, in order.
func (s *Store) missing(ctx context.Context) (missing []migration, err error) {
	err = s.statement(ctx, func(q querier) error {
		missing, err = s.missingBy(ctx, q)
		return err
	})
	return missing, err
}

func (s *Store) missingBy(ctx context.Context, q querier) ([]migration, error) {
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	there, err := s.listed(ctx, q)
	if err != nil {
		return nil, err
	}
	if !there {
		return all, nil
	}
	type row struct {
		Name  string
		Major int
	}
	rows, err := q.Query(ctx, s.q(`SELECT name, major FROM restaq.migration`))
	if err != nil {
		return nil, err
	}
	applied, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil {
		return nil, err
	}
	for _, r := range applied {
		if r.Major > schemaMajor {
			return nil, fmt.Errorf("schema %q has version %d (%s), this build works with version %d: update the program", s.schema, r.Major, r.Name, schemaMajor)
		}
	}
	return slices.DeleteFunc(all, func(m migration) bool {
		return slices.ContainsFunc(applied, func(r row) bool { return r.Name == m.name })
	}), nil
}

// listed reports whether there is a list of migrations. It reads the catalog's
// tables: to_regclass may answer from a cache that is older than the lock.
func (s *Store) listed(ctx context.Context, q querier) (bool, error) {
	return one[bool](ctx, q, `
SELECT EXISTS (
	SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname = $1::text AND c.relname = 'migration')`, s.schema)
}

// lockKey is the advisory lock of a schema's migrations.
func lockKey(schema string) int64 {
	h := fnv.New64a()
	h.Write([]byte("restaq migrate " + schema))
	return int64(h.Sum64())
}

// quote returns name as an SQL identifier.
func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// checkSchemaName reports why name cannot be a schema's.
func checkSchemaName(name string) error {
	switch {
	case len(name) > 63:
		return errors.New("is longer than 63 bytes")
	case strings.ContainsRune(name, 0):
		return errors.New("holds NUL")
	case strings.HasPrefix(name, "pg_"):
		return errors.New(`names that begin with "pg_" belong to PostgreSQL`)
	}
	return nil
}
