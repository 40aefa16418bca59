package sqlite

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
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
	var names []string
	err = s.writer.do(ctx, func(tx *tx) error {
		// The transaction holds the file's lock: whoever waited for it reads
		// what its winner left.
		names = nil
		missing, err := missing(tx.query)
		if err != nil {
			return err
		}
		for _, m := range missing {
			if err := tx.migrate(m); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			names = append(names, m.name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("migrate schema: %w", err)
	}
	s.applied = append(s.applied, names...)
	return slices.Clone(s.applied), nil
}

func (t *tx) migrate(m migration) error {
	for _, script := range []string{
		`CREATE TABLE IF NOT EXISTS restaq_migration (
			name       TEXT PRIMARY KEY,
			major      INTEGER NOT NULL,
			applied_at INTEGER NOT NULL
		) STRICT, WITHOUT ROWID`,
		m.sql,
	} {
		t.wrote = true
		if err := t.w.conn.script(script); err != nil {
			return err
		}
	}
	_, err := t.exec(`INSERT INTO restaq_migration (name, major, applied_at) VALUES (?, ?, ?)`, m.name, m.major, t.now.UnixMicro())
	return err
}

// checkSchema reports why this build cannot work with the schema as it is.
func checkSchema(query queryFunc) error {
	missing, err := missing(query)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("the schema is older than this build (it lacks %s): run restaq migrate", missing[0].name)
	}
	return err
}

// missing returns the migrations that the schema lacks, in order. One that
// this build does not know is no harm: a newer build of the same major number
// applied it.
func missing(query queryFunc) ([]migration, error) {
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	var there int
	if err := scanOne(query, []any{&there}, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'restaq_migration'`); err != nil || there == 0 {
		return all, err
	}
	rows, err := query(`SELECT name, major FROM restaq_migration`)
	if err != nil {
		return nil, err
	}
	applied := map[string]bool{}
	err = each(rows, func() error {
		var name string
		var major int
		if err := rows.Scan(&name, &major); err != nil {
			return err
		}
		if major > schemaMajor {
			return fmt.Errorf("the schema has version %d (%s), this build works with version %d: update the program", major, name, schemaMajor)
		}
		applied[name] = true
		return nil
	})
	return slices.DeleteFunc(all, func(m migration) bool { return applied[m.name] }), err
}
