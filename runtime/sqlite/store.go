package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Config says how a Store uses its file. It needs Path.
type Config struct {
	// Path is the file's name, in a folder that exists. A file that is not
	// there is made, readable by its owner alone; one that is there keeps its
	// permissions. Names that mean a database in memory to SQLite are refused:
	// use package memory.
	Path string

	// NoMigrate leaves the schema alone: opening fails if the file does not
	// exist or its schema is older than this build needs. By default opening
	// makes the file and brings the schema up to date.
	NoMigrate bool

	// Readers bounds the connections that read. Default: 4. Raise it where
	// many requests read histories or lists at once.
	Readers int

	// TxTimeout bounds the transaction of a step that takes a *sql.Tx. All
	// other writes wait for it, the renewals of leases among them, so it
	// should stay far below restaq.Config.Lease. Default: 1s.
	TxTimeout time.Duration
}

const (
	defaultReaders   = 4
	defaultTxTimeout = time.Second

	// checkpointAfter is how many pages of the log a connection that commits
	// brings back into the file. The more, the more often a page is in the log
	// again by then, and is written back once.
	checkpointAfter = 4000

	// busyLimit is how long to wait for a lock that another process has.
	busyLimit = 30 * time.Second
)

// Store is a restaq.Store in an SQLite file. All its methods are safe for
// concurrent use.
type Store struct {
	path   string
	now    func() time.Time // the clock; tests move it
	writer *writer
	reader *reader
	txs    *transactions

	migrating sync.Mutex
	applied   []string // migrations, under migrating
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

	_ restaq.Transactor = (*Store)(nil)
	_ restaq.Outbox     = (*Store)(nil)
)

// Open opens the file at path, which it makes if it is not there, and brings
// its schema up to date. The caller closes the Store.
func Open(path string) (*Store, error) {
	return OpenConfig(Config{Path: path})
}

// OpenConfig is Open with a Config.
func OpenConfig(cfg Config) (*Store, error) {
	s, err := open(context.Background(), cfg)
	if err != nil {
		return nil, fmt.Errorf("open sqlite store %s: %w", cfg.Path, err)
	}
	return s, nil
}

func open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Readers < 0 {
		return nil, errors.New("config: Readers: must not be negative")
	}
	if cfg.Readers == 0 {
		cfg.Readers = defaultReaders
	}
	if cfg.TxTimeout < 0 {
		return nil, errors.New("config: TxTimeout: must not be negative")
	}
	if cfg.TxTimeout == 0 {
		cfg.TxTimeout = defaultTxTimeout
	}
	if err := checkPath(cfg.Path); err != nil {
		return nil, fmt.Errorf("config: Path: %w", err)
	}
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, err
	}
	if !cfg.NoMigrate {
		err = create(path)
	} else {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, now: time.Now}
	if err := s.setUp(ctx, cfg); err != nil {
		s.Close()
		return nil, explain(err)
	}
	return s, nil
}

func (s *Store) setUp(ctx context.Context, cfg Config) (err error) {
	var check func(queryFunc) error
	if cfg.NoMigrate {
		check = checkSchema
	}
	s.writer, err = openWriter(ctx, s.path, func() time.Time { return s.now() }, check)
	if err != nil {
		return err
	}
	if !cfg.NoMigrate {
		if _, err := s.Migrate(ctx); err != nil {
			return err
		}
	}
	s.writer.presence = show(s.path)
	s.reader = openReader(s.path, cfg.Readers)
	s.txs, err = openTransactions(s.path, cfg.TxTimeout)
	return err
}

// Close ends the Store after the writes that are queued up. Later calls fail.
func (s *Store) Close() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.txs != nil {
		errs = append(errs, s.txs.close())
	}
	if s.reader != nil {
		errs = append(errs, s.reader.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close sqlite store: %w", err)
	}
	return nil
}

// checkPath refuses what is no name of a file.
func checkPath(path string) error {
	switch {
	case path == "":
		return errors.New("is empty")
	case path == ":memory:":
		return errors.New("a database in memory is not supported: use package memory")
	case strings.HasPrefix(path, "file:"):
		return errors.New("want the name of a file, not a URI")
	}
	return nil
}

// create makes an empty file that only its owner can read; it leaves one that
// is there alone. SQLite gives the files beside it the same permissions.
//
// The file gets its name when it has been closed. To close a file that some
// connection of this process has open would end that connection's locks.
func create(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		// No hard links here. Two processes may both rename: then the file
		// that one of them opened would be gone, so a file is made in place.
		return createInPlace(path)
	}
	return nil
}

func createInPlace(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn is the name of the file for database/sql, with settings for each
// connection.
func dsn(path string, pragmas ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive's letter
	}
	pragmas = append([]string{
		"synchronous(FULL)",
		"trusted_schema(OFF)",
	}, pragmas...)
	query := url.Values{"mode": {"rw"}, "_pragma": pragmas}
	return "file://" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}
