package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "restaq.db")
}

func mustOpen(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := OpenConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, s)
	return s
}

// plain opens the file as any other program would.
func plain(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, "busy_timeout(10000)"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func execAll(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// insert stores an event with one execution, id and all.
func insert(ctx context.Context, s *Store, id string) error {
	created, _, err := s.Insert(ctx, &restaq.Insertion{
		Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: id, Type: "acme.order", Payload: []byte(id)},
		Executions: []restaq.NewExecution{{ID: "execution-" + id, Handler: "shop.Paid"}},
	})
	if err == nil && !created {
		err = errors.New("not created")
	}
	return err
}

func mustInsert(t *testing.T, s *Store, id string) {
	t.Helper()
	if err := insert(t.Context(), s, id); err != nil {
		t.Fatal(err)
	}
}

func mustFind(t *testing.T, s *Store, id string) {
	t.Helper()
	found, err := s.Lookup(t.Context(), "acme", id, true)
	if err != nil || string(found.Event.Payload) != id || len(found.Executions) != 1 {
		t.Fatalf("Lookup(%s) = %+v, %v", id, found, err)
	}
}

func TestEveryConnectionIsDurable(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	settings := func(query queryFunc) map[string]string {
		got := map[string]string{}
		for _, name := range []string{"journal_mode", "synchronous", "query_only", "fullfsync"} {
			var value string
			if err := scanOne(query, []any{&value}, `PRAGMA `+name); err != nil {
				t.Error(err)
			}
			got[name] = value
		}
		return got
	}
	err := s.writer.do(t.Context(), func(tx *tx) error {
		// 2 is FULL: a commit is on the disk when it returns.
		if got := settings(tx.query); got["journal_mode"] != "wal" || got["synchronous"] != "2" || got["query_only"] != "0" {
			t.Errorf("the writer's settings are %v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	err = s.reader.read(t.Context(), func(query queryFunc) error {
		if got := settings(query); got["journal_mode"] != "wal" || got["query_only"] != "1" {
			t.Errorf("a reader's settings are %v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestANewFileIsItsOwnersAlone(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	mustInsert(t, s, "evt_1")
	for _, suffix := range []string{"", "-wal", "-shm", presenceSuffix} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", info.Name(), mode)
		}
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 4 {
		t.Errorf("the folder holds %v, %v; want the four files", names, err)
	}
}

func TestAFileThatIsThereKeepsItsPermissions(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil { // whatever the umask
		t.Fatal(err)
	}
	mustInsert(t, mustOpen(t, Config{Path: path}), "evt_1")
	for _, suffix := range []string{"", "-wal", presenceSuffix} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %v, %v; want mode 640", suffix, info, err)
		}
	}
}

func TestAnyFileNameWorks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "what?mode=memory", "50%25 #1.db", "ü&x=y.db", "plain", "'quoted'.db", ":memory"} {
		path := filepath.Join(dir, name)
		s := mustOpen(t, Config{Path: path})
		mustInsert(t, s, "evt_1")
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestARelativePathIsFixedWhenOpened(t *testing.T) {
	t.Chdir(t.TempDir())
	s := mustOpen(t, Config{Path: "restaq.db"})
	t.Chdir(t.TempDir())
	mustInsert(t, s, "evt_1")
	mustFind(t, s, "evt_1")
}

func TestWhatIsNoFileNameIsRefused(t *testing.T) {
	for _, path := range []string{"", ":memory:", "file::memory:?cache=shared", "file:x.db"} {
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), "config: Path: ") {
			t.Errorf("Open(%q) = %v, want a refusal", path, err)
		}
	}
	if _, err := OpenConfig(Config{Path: newPath(t), Readers: -1}); err == nil || !strings.Contains(err.Error(), "Readers") {
		t.Errorf("Readers -1: %v", err)
	}
	_, err := Open(filepath.Join(t.TempDir(), "no", "folder", "x.db"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}

func TestAFileThatIsNoDatabaseIsRefusedAndLeftAlone(t *testing.T) {
	path := newPath(t)
	text := bytes.Repeat([]byte("a diary, not a database\n"), 500)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, noMigrate := range []bool{false, true} {
		_, err := OpenConfig(Config{Path: path, NoMigrate: noMigrate})
		if err == nil || !strings.Contains(err.Error(), "the file is not an SQLite database") || !strings.Contains(err.Error(), path) {
			t.Errorf("NoMigrate %v: %v", noMigrate, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestAUsersOwnTablesStayBesideOurs(t *testing.T) {
	path := newPath(t)
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	db := plain(t, path)
	execAll(t, db, `CREATE TABLE event (id INTEGER PRIMARY KEY, name TEXT)`, `INSERT INTO event (name) VALUES ('mine')`)
	mustInsert(t, mustOpen(t, Config{Path: path}), "evt_1")
	var name string
	if err := db.QueryRow(`SELECT name FROM event`).Scan(&name); err != nil || name != "mine" {
		t.Errorf("the user's row is %q, %v", name, err)
	}
	rows, err := db.Query(`SELECT name FROM sqlite_schema WHERE name NOT LIKE 'restaq\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		t.Fatal(err)
	}
	err = each(rows, func() error {
		if err := rows.Scan(&name); err != nil {
			return err
		}
		if name != "event" {
			t.Errorf("%s lacks the prefix restaq_", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNoMigrate(t *testing.T) {
	t.Run("makes no file", func(t *testing.T) {
		path := newPath(t)
		_, err := OpenConfig(Config{Path: path, NoMigrate: true})
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("OpenConfig = %v, want that there is no file", err)
		}
		if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 0 {
			t.Errorf("the folder holds %v", names)
		}
	})
	t.Run("refuses an older schema and changes nothing", func(t *testing.T) {
		path := newPath(t)
		if err := create(path); err != nil {
			t.Fatal(err)
		}
		db := plain(t, path)
		execAll(t, db, `CREATE TABLE mine (x)`)
		_, err := OpenConfig(Config{Path: path, NoMigrate: true})
		if err == nil || !strings.Contains(err.Error(), "restaq migrate") || !strings.Contains(err.Error(), "1.001_tables") {
			t.Errorf("OpenConfig = %v, want advice to migrate", err)
		}
		var mode string
		if err := db.QueryRow(`PRAGMA journal_mode`).Scan(&mode); err != nil || mode == "wal" {
			t.Errorf("the file's mode is %s, %v; want it left alone", mode, err)
		}
		var tables int
		if err := db.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil || tables != 1 {
			t.Errorf("the file has %d tables, %v; want 1", tables, err)
		}
	})
	t.Run("works with the schema of this build", func(t *testing.T) {
		path := newPath(t)
		mustInsert(t, mustOpen(t, Config{Path: path}), "evt_1")
		mustFind(t, mustOpen(t, Config{Path: path, NoMigrate: true}), "evt_1")
	})
}

func TestSchemaVersions(t *testing.T) {
	for _, test := range []struct {
		name, major string
		works       bool
	}{
		{"1.999_newer", "1", true},
		{"2.001_next", "2", false},
	} {
		for _, noMigrate := range []bool{false, true} {
			path := newPath(t)
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execAll(t, plain(t, path), `INSERT INTO restaq_migration VALUES ('`+test.name+`', `+test.major+`, 0)`)
			s, err = OpenConfig(Config{Path: path, NoMigrate: noMigrate})
			if (err == nil) != test.works {
				t.Errorf("%s, NoMigrate %v: %v", test.name, noMigrate, err)
			}
			if err == nil {
				mustInsert(t, s, "evt_1")
				s.Close()
			} else if !strings.Contains(err.Error(), test.name) || !strings.Contains(err.Error(), "update the program") {
				t.Errorf("%s: %v; want advice to update", test.name, err)
			}
		}
	}
}

func TestMigrateNamesWhatItApplied(t *testing.T) {
	path := newPath(t)
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range all {
		names = append(names, m.name)
	}
	first := mustOpen(t, Config{Path: path})
	for range 2 {
		if applied, err := first.Migrate(t.Context()); err != nil || !slices.Equal(applied, names) {
			t.Errorf("Migrate = %v, %v; want %v", applied, err, names)
		}
	}
	if applied, err := mustOpen(t, Config{Path: path}).Migrate(t.Context()); err != nil || len(applied) != 0 {
		t.Errorf("a second Store's Migrate = %v, %v; want nothing", applied, err)
	}
}

func TestAFailedMigrationLeavesNothing(t *testing.T) {
	path := newPath(t)
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	db := plain(t, path)
	execAll(t, db, `CREATE TABLE restaq_step (mine TEXT)`) // the last table of the migration
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), "1.001_tables") || !strings.Contains(err.Error(), "restaq_step") {
		t.Fatalf("Open = %v, want the migration and the table named", err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE name LIKE 'restaq%'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d tables and indexes are left, %v; want the foreign one", n, err)
	}
}

func TestReopenedAFileHasEverything(t *testing.T) {
	path := newPath(t)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mustInsert(t, s, "evt_1")
	key, err := s.FingerprintKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close the log is left: %v", err)
	}
	s = mustOpen(t, Config{Path: path})
	mustFind(t, s, "evt_1")
	if again, err := s.FingerprintKey(t.Context()); err != nil || !bytes.Equal(again, key) {
		t.Errorf("the fingerprint key changed (%v)", err)
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	for range 2 { // and closing twice does no harm
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := insert(t.Context(), s, "evt_1"); !errors.Is(err, errClosed) {
		t.Errorf("Insert = %v", err)
	}
	if _, err := s.Lookup(t.Context(), "acme", "evt_1", true); !errors.Is(err, errClosed) {
		t.Errorf("Lookup = %v", err)
	}
	if _, err := s.List(t.Context(), restaq.Filter{}); !errors.Is(err, errClosed) {
		t.Errorf("List = %v", err)
	}
}
