package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	// overdueAfter is how long something may be due before it looks as if
	// nobody took it.
	overdueAfter = 5 * time.Minute

	// oldTransaction is how long a transaction may keep vacuum from its work.
	oldTransaction = 15 * time.Minute

	// clockOff is how far the clocks of this machine and of the server may be
	// apart. Leases and due times are the server's alone; timestamps of
	// signatures are not.
	clockOff = 5 * time.Second
)

// Examine looks at the way to the database, at its settings, at the Store's
// tables and at what is overdue in them. What the role may not see is left out.
func (s *Store) Examine(ctx context.Context) (found []restaq.Finding, err error) {
	for _, look := range []func(context.Context, querier) ([]restaq.Finding, error){
		s.examineServer, s.examineSchema, s.examineTables, s.examineVacuum, s.examineWork,
	} {
		var some []restaq.Finding
		if err := s.statement(ctx, func(q querier) (err error) {
			some, err = look(ctx, q)
			return err
		}); err != nil {
			return nil, fmt.Errorf("examine store: %w", err)
		}
		found = append(found, some...)
	}
	return found, nil
}

// finding is one that is ok unless something is wrong; then there is advice.
func finding(check string, wrong bool, bad restaq.Level, text, advice string) restaq.Finding {
	if !wrong {
		return restaq.Finding{Check: check, Level: restaq.LevelOK, Text: text}
	}
	return restaq.Finding{Check: check, Level: bad, Text: text, Advice: advice}
}

// examineServer looks at the connection, the clocks and the settings that
// promises rest on.
func (s *Store) examineServer(ctx context.Context, q querier) ([]restaq.Finding, error) {
	type server struct {
		Version, Fsync, Commit, Autovacuum string
		Now                                time.Time
	}
	before := time.Now()
	rows, err := q.Query(ctx, `
SELECT current_setting('server_version'), current_setting('fsync'), current_setting('synchronous_commit'),
	current_setting('autovacuum'), clock_timestamp()`)
	if err != nil {
		return nil, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[server])
	if err != nil {
		return nil, err
	}
	took := time.Since(before)
	off := v.Now.Sub(before.Add(took / 2)).Round(time.Millisecond)
	pooler := "connections keep their sessions: other processes are told of work at once"
	if !s.session {
		pooler = "connections are shared, as behind PgBouncer in transaction mode: processes find work by polling"
	}
	return []restaq.Finding{
		finding("connection", took > time.Second, restaq.LevelWarn, fmt.Sprintf("PostgreSQL %s, %v for a round trip", v.Version, took.Round(10*time.Microsecond)),
			"the database is far away or busy: each step waits as long for its record"),
		finding("pooler", false, "", pooler, ""),
		finding("clock", off.Abs() > clockOff+took, restaq.LevelWarn, fmt.Sprintf("%v apart from the server's", off.Abs()),
			"set the clocks by NTP: providers' signatures have timestamps, which are compared with the clock of the process"),
		finding("durability", v.Fsync != "on" || v.Commit == "off", restaq.LevelFail, fmt.Sprintf("fsync %s, synchronous_commit %s", v.Fsync, v.Commit),
			"turn both on: without them what was acknowledged may be lost"),
		finding("autovacuum", v.Autovacuum != "on", restaq.LevelWarn, v.Autovacuum, "turn it on: claims get slower as dead rows pile up"),
	}, nil
}

var (
	createIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (\w+)`)
	dropIndex   = regexp.MustCompile(`DROP INDEX (?:IF EXISTS )?restaq\.(\w+)`)
)

// examineSchema looks at the migrations and at the indexes that they made.
func (s *Store) examineSchema(ctx context.Context, q querier) ([]restaq.Finding, error) {
	lacks, err := s.missingBy(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(lacks) > 0 {
		return []restaq.Finding{finding("schema", true, restaq.LevelFail, fmt.Sprintf("%q lacks %s", s.schema, lacks[0].name), "run restaq migrate")}, nil
	}
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, m := range all {
		for _, made := range createIndex.FindAllStringSubmatch(m.sql, -1) {
			lost = append(lost, made[1])
		}
		for _, dropped := range dropIndex.FindAllStringSubmatch(m.sql, -1) {
			lost = slices.DeleteFunc(lost, func(name string) bool { return name == dropped[1] })
		}
	}
	type index struct {
		Name  string
		Valid bool
	}
	rows, err := q.Query(ctx, `
SELECT c.relname::text, i.indisvalid AND i.indisready FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1::text ORDER BY 1`, s.schema)
	if err != nil {
		return nil, err
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[index])
	if err != nil {
		return nil, err
	}
	var invalid []string
	for _, i := range indexes {
		lost = slices.DeleteFunc(lost, func(name string) bool { return name == i.Name })
		if !i.Valid {
			invalid = append(invalid, i.Name)
		}
	}
	text, advice := "all there, and valid", ""
	switch {
	case len(lost) > 0:
		text, advice = "missing: "+strings.Join(lost, ", "), "make them anew, by the statements in the migrations, CONCURRENTLY"
	case len(invalid) > 0:
		text, advice = "invalid: "+strings.Join(invalid, ", "), "REINDEX INDEX CONCURRENTLY "+quote(s.schema)+"."+quote(invalid[0])
	}
	return []restaq.Finding{
		finding("schema", false, "", fmt.Sprintf("%q is up to date", s.schema), ""),
		finding("indexes", advice != "", restaq.LevelFail, text, advice),
	}, nil
}

// manyDead is from when on dead rows are worth a word, if they are a part of
// the table.
const manyDead = 50_000

// examineTables looks for dead rows that vacuum has not removed.
func (s *Store) examineTables(ctx context.Context, q querier) ([]restaq.Finding, error) {
	type table struct {
		Name       string
		Live, Dead int64
		Off        bool
	}
	rows, err := q.Query(ctx, `
SELECT t.relname::text, t.n_live_tup, t.n_dead_tup, 'autovacuum_enabled=false' = ANY (coalesce(c.reloptions, '{}'))
FROM pg_catalog.pg_stat_all_tables t JOIN pg_catalog.pg_class c ON c.oid = t.relid
WHERE t.schemaname = $1::text ORDER BY 1`, s.schema)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		return nil, err
	}
	var dead, off []string
	for _, t := range tables {
		if t.Dead > manyDead && t.Dead > t.Live/5 {
			dead = append(dead, fmt.Sprintf("%s: %d dead rows to %d live ones", t.Name, t.Dead, t.Live))
		}
		if t.Off {
			off = append(off, t.Name)
		}
	}
	text := "few"
	if len(dead) > 0 {
		text = strings.Join(dead, "; ")
	}
	found := []restaq.Finding{finding("dead rows", len(dead) > 0, restaq.LevelWarn, text,
		"VACUUM (ANALYZE) these tables of schema "+s.schema+", and see that nothing keeps autovacuum from it (old transactions)")}
	if len(off) > 0 {
		found = append(found, finding("autovacuum of tables", true, restaq.LevelWarn, "off for "+strings.Join(off, ", "),
			"ALTER TABLE … RESET (autovacuum_enabled)"))
	}
	return found, nil
}

// examineVacuum looks for what keeps vacuum from removing rows.
func (s *Store) examineVacuum(ctx context.Context, q querier) ([]restaq.Finding, error) {
	old, err := column[string](ctx, q, `
SELECT coalesce(nullif(application_name, ''), 'process') || ' (pid ' || pid || '), ' || justify_interval(date_trunc('second', now() - xact_start))
FROM pg_catalog.pg_stat_activity
WHERE datname = current_database() AND backend_xmin IS NOT NULL AND xact_start < now() - $1::bigint * interval '1 microsecond'
	AND backend_type <> 'autovacuum worker'
UNION ALL
SELECT 'prepared transaction ' || gid FROM pg_catalog.pg_prepared_xacts
WHERE database = current_database() AND prepared < now() - $1::bigint * interval '1 microsecond'`, oldTransaction.Microseconds())
	if err != nil {
		return nil, err
	}
	age, err := one[int64](ctx, q, `SELECT age(datfrozenxid)::bigint FROM pg_catalog.pg_database WHERE datname = current_database()`)
	if err != nil {
		return nil, err
	}
	text := "none"
	if len(old) > 0 {
		text = strings.Join(old, "; ")
	}
	return []restaq.Finding{
		finding("old transactions", len(old) > 0, restaq.LevelWarn, text, "end them: vacuum can remove nothing that died since they began"),
		finding("transaction ids", age > 1_000_000_000, restaq.LevelWarn, fmt.Sprintf("%d million of 2,000 are in use", age/1_000_000),
			"vacuum does not keep up: VACUUM (FREEZE) the database's largest tables before it refuses writes"),
	}, nil
}

// examineWork looks for what should have been taken by now.
func (s *Store) examineWork(ctx context.Context, q querier) ([]restaq.Finding, error) {
	type overdue struct{ Leases, Due int64 }
	rows, err := q.Query(ctx, s.q(`
SELECT count(*) FILTER (WHERE status = 'running' AND lease_until < now() - $1::bigint * interval '1 microsecond'),
	count(*) FILTER (WHERE order_key IS NULL AND due_at < now() - $1::bigint * interval '1 microsecond')
FROM restaq.work WHERE finished_at IS NULL`), overdueAfter.Microseconds())
	if err != nil {
		return nil, err
	}
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[overdue])
	if err != nil {
		return nil, err
	}
	return []restaq.Finding{
		finding("stuck leases", n.Leases > 0, restaq.LevelWarn, orNone(n.Leases), "their processes ended, and none that has their handlers takes them over: start one"),
		finding("overdue executions", n.Due > 0, restaq.LevelWarn, orNone(n.Due),
			fmt.Sprintf("they have been due for more than %v: start a process that has their handlers, or raise Config.Concurrency", overdueAfter)),
	}, nil
}

// orNone writes a number.
func orNone(n int64) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}
