package sqlite

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	// overdueAfter is how long something may be due before it looks as if
	// nobody took it.
	overdueAfter = 5 * time.Minute

	// largeLog is the size of a write-ahead log that somebody keeps from being
	// taken into the file.
	largeLog = 256 << 20
)

// Examine looks at the file and at what is overdue in it. It reads the whole
// file once.
func (s *Store) Examine(ctx context.Context) (found []restaq.Finding, err error) {
	add := func(check string, level restaq.Level, text, advice string) {
		f := restaq.Finding{Check: check, Level: level, Text: text}
		if level != restaq.LevelOK {
			f.Advice = advice
		}
		found = append(found, f)
	}
	err = s.reader.readOnce(ctx, func(query queryFunc) error {
		var version, mode, complaint string
		var pages, unused, size int64
		for text, target := range map[string]any{
			`SELECT sqlite_version()`: &version, `PRAGMA journal_mode`: &mode,
			`PRAGMA page_count`: &pages, `PRAGMA freelist_count`: &unused, `PRAGMA page_size`: &size,
		} {
			if err := scanOne(query, []any{target}, text); err != nil {
				return err
			}
		}
		add("connection", restaq.LevelOK, fmt.Sprintf("SQLite %s, %d MiB", version, pages*size>>20), "")

		lacks, err := missing(query)
		if err != nil {
			return err
		}
		if len(lacks) > 0 {
			add("schema", restaq.LevelFail, "it lacks "+lacks[0].name, "run restaq migrate")
		} else {
			add("schema", restaq.LevelOK, "up to date", "")
		}

		lost, err := lostIndexes(query)
		if err != nil {
			return err
		}
		add("indexes", level(len(lost) > 0, restaq.LevelFail), orNone(strings.Join(lost, ", "), "missing: ", "all there"),
			"make them anew, by the statements in the migrations; without them guarantees do not hold")

		if err := scanOne(query, []any{&complaint}, `PRAGMA quick_check(1)`); err != nil {
			return err
		}
		add("integrity", level(complaint != "ok", restaq.LevelFail), complaint,
			"the file is damaged: stop all processes, restore a backup or dump what can be read by sqlite3 FILE .recover")

		add("journal", level(mode != "wal", restaq.LevelFail), mode, "something changed the journal mode: stop it, and open the store again")
		if info, err := os.Stat(s.path + "-wal"); err == nil {
			add("write-ahead log", level(info.Size() > largeLog, restaq.LevelWarn), fmt.Sprintf("%d MiB", info.Size()>>20),
				"some process reads for a very long time, and keeps the log from being taken into the file: find and end it")
		}
		wasted := unused > 10_000 && unused > pages/2
		add("free space", level(wasted, restaq.LevelWarn), fmt.Sprintf("%d of %d MiB", unused*size>>20, pages*size>>20),
			"the file does not shrink by itself: VACUUM it while no process runs")

		now, patience := s.now().UnixMicro(), overdueAfter.Microseconds()
		var leases, due int64
		err = scanOne(query, []any{&leases, &due}, `
			SELECT count(*) FILTER (WHERE status = 'running'), count(*) FILTER (WHERE status <> 'running')
			FROM restaq_execution WHERE due_at < ? AND behind = 0`, now-patience)
		if err != nil {
			return err
		}
		add("stuck leases", level(leases > 0, restaq.LevelWarn), orNone(count(leases), "", "none"),
			"their processes ended, and none that has their handlers takes them over: start one")
		add("overdue executions", level(due > 0, restaq.LevelWarn), orNone(count(due), "", "none"),
			fmt.Sprintf("they have been due for more than %v: start a process that has their handlers, or raise Config.Concurrency", overdueAfter))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("examine store: %w", err)
	}
	return found, nil
}

// level is ok unless something is wrong.
func level(wrong bool, bad restaq.Level) restaq.Level {
	if wrong {
		return bad
	}
	return restaq.LevelOK
}

// orNone is text after prefix, or none if there is no text.
func orNone(text, prefix, none string) string {
	if text == "" {
		return none
	}
	return prefix + text
}

// count writes a number, and nothing for 0.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

var createIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (\w+)`)

// lostIndexes returns the indexes that the migrations made and that are not
// there.
func lostIndexes(query queryFunc) (lost []string, err error) {
	all, err := migrations()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		for _, made := range createIndex.FindAllStringSubmatch(m.sql, -1) {
			lost = append(lost, made[1])
		}
		for _, dropped := range dropIndex.FindAllStringSubmatch(m.sql, -1) {
			lost = slices.DeleteFunc(lost, func(name string) bool { return name == dropped[1] })
		}
	}
	rows, err := query(`SELECT name FROM sqlite_schema WHERE type = 'index'`)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var there string
		if err := rows.Scan(&there); err != nil {
			return err
		}
		lost = slices.DeleteFunc(lost, func(name string) bool { return name == there })
		return nil
	})
	return lost, err
}

var dropIndex = regexp.MustCompile(`DROP INDEX (?:IF EXISTS )?(\w+)`)
