package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	restaq "github.com/restaq/restaq/runtime"
)

// batch commits jobs in one transaction and returns their errors. The writer's
// goroutine must have nothing to do meanwhile.
func batch(w *writer, runs ...func(tx *tx) error) []error {
	var jobs []*job
	for _, run := range runs {
		jobs = append(jobs, &job{run: run, done: make(chan struct{}, 1)})
	}
	w.commit(jobs)
	var errs []error
	for _, j := range jobs {
		<-j.done
		errs = append(errs, j.err)
	}
	return errs
}

// write returns a job that stores an event.
func write(id string) func(tx *tx) error {
	return func(tx *tx) error {
		_, _, err := tx.insert(&restaq.Insertion{
			Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: id, Type: "acme.order", Payload: []byte(id)},
			Executions: []restaq.NewExecution{{ID: "execution-" + id, Handler: "shop.Paid"}},
		})
		return err
	}
}

func mustMiss(t *testing.T, s *Store, id string) {
	t.Helper()
	if _, err := s.Lookup(t.Context(), "acme", id, false); !errors.Is(err, restaq.ErrNotFound) {
		t.Errorf("Lookup(%s) = %v, want that it is not found", id, err)
	}
}

func TestWhatQueuedUpSharesACommit(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	db := plain(t, path)
	version := func() (v int) {
		// Grows with each commit of another connection.
		if err := db.QueryRow(`PRAGMA data_version`).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := version()
	var now []time.Time
	var runs []func(tx *tx) error
	for i := range 10 {
		runs = append(runs, func(tx *tx) error {
			now = append(now, tx.now)
			if version() != before {
				t.Error("another connection sees a commit")
			}
			return write(fmt.Sprint("evt_", i))(tx)
		})
	}
	for _, err := range batch(s.writer, runs...) {
		if err != nil {
			t.Error(err)
		}
	}
	if version() == before {
		t.Error("another connection sees no commit")
	}
	for i, at := range now {
		mustFind(t, s, fmt.Sprint("evt_", i))
		if at != now[0] {
			t.Error("a transaction has two times")
		}
	}
}

func TestAFailingWriteFailsItsOwnCallerAlone(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	oops := errors.New("oops")
	errs := batch(s.writer,
		write("evt_1"),
		func(tx *tx) error { return errors.Join(write("evt_2")(tx), oops) },
		write("evt_3"),
		func(tx *tx) error {
			if err := write("evt_4")(tx); err != nil {
				return err
			}
			_, err := tx.exec(`INSERT INTO restaq_meta (key, value) VALUES (NULL, NULL)`)
			return err
		},
		write("evt_5"),
	)
	if errs[0] != nil || errs[2] != nil || errs[4] != nil {
		t.Errorf("good writes failed: %v", errs)
	}
	if !errors.Is(errs[1], oops) || primaryCode(errs[3]) != lib.SQLITE_CONSTRAINT {
		t.Errorf("bad writes got %v and %v", errs[1], errs[3])
	}
	for _, id := range []string{"evt_1", "evt_3", "evt_5"} {
		mustFind(t, s, id)
	}
	mustMiss(t, s, "evt_2")
	mustMiss(t, s, "evt_4")
}

func TestAWriteThatLosesTheTransactionFailsItsOwnCallerAlone(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	runs := map[string]int{}
	count := func(id string, run func(tx *tx) error) func(tx *tx) error {
		return func(tx *tx) error {
			runs[id]++
			return run(tx)
		}
	}
	errs := batch(s.writer,
		count("evt_1", write("evt_1")),
		func(tx *tx) error {
			// As SQLite does by itself when the disk fails.
			if _, err := tx.exec(`ROLLBACK`); err != nil {
				return err
			}
			return errors.New("disk failed")
		},
		count("evt_2", write("evt_2")),
	)
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("errors = %v, want the second's alone", errs)
	}
	mustFind(t, s, "evt_1")
	mustFind(t, s, "evt_2")
	if runs["evt_1"] != 2 {
		t.Errorf("the write before the failing one ran %d times, want again", runs["evt_1"])
	}
}

func TestAWriteThatItsCallerGaveUpIsNotRun(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	kept := &job{run: write("evt_1"), done: make(chan struct{}, 1)}
	gone := &job{run: write("evt_2"), done: make(chan struct{}, 1)}
	gone.state.Store(givenUp)
	s.writer.commit([]*job{gone, kept})
	if kept.err != nil {
		t.Error(kept.err)
	}
	alone := &job{run: write("evt_3"), done: make(chan struct{}, 1)}
	alone.state.Store(givenUp)
	s.writer.commit([]*job{alone})
	mustFind(t, s, "evt_1")
	mustMiss(t, s, "evt_2")
	mustMiss(t, s, "evt_3")
}

// setPageLimit makes the disk full beyond the size that the file has, or wide
// again.
func setPageLimit(t *testing.T, s *Store, full bool) {
	t.Helper()
	err := s.writer.do(context.WithoutCancel(t.Context()), func(tx *tx) error {
		pages := 1 << 30
		if full {
			if err := scanOne(tx.query, []any{&pages}, `PRAGMA page_count`); err != nil {
				return err
			}
		}
		var limit int
		return scanOne(tx.query, []any{&limit}, fmt.Sprint(`PRAGMA max_page_count = `, pages))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFullDiskFailsWritesAndTheStoreGoesOn(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	mustInsert(t, s, "evt_before")
	setPageLimit(t, s, true)
	big := func(tx *tx) error {
		_, _, err := tx.insert(&restaq.Insertion{
			Event: &restaq.Event{Source: "acme", Provider: "acme", ID: "evt_big", Type: "acme.order", Payload: make([]byte, 1<<20)},
		})
		return err
	}
	if err := s.writer.do(t.Context(), big); primaryCode(err) != lib.SQLITE_FULL {
		t.Fatalf("a large write = %v, want that the disk is full", err)
	}
	// In one batch with others the large one fails for itself.
	errs := batch(s.writer, write("evt_1"), big, write("evt_2"))
	if errs[0] != nil || primaryCode(errs[1]) != lib.SQLITE_FULL || errs[2] != nil {
		t.Errorf("errors = %v, want the second's alone", errs)
	}
	mustMiss(t, s, "evt_big")
	mustFind(t, s, "evt_before")
	setPageLimit(t, s, false)
	if err := s.writer.do(t.Context(), big); err != nil {
		t.Errorf("with room again: %v", err)
	}
	mustInsert(t, s, "evt_after")
	mustFind(t, s, "evt_after")
}

func TestAReadOnlyDiskFailsWritesAndTheStoreGoesOn(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	readOnly := func(on bool) { // the writer's goroutine has nothing to do meanwhile
		t.Helper()
		if _, err := s.writer.conn.exec(fmt.Sprintf(`PRAGMA query_only = %v`, on)); err != nil {
			t.Fatal(err)
		}
	}
	readOnly(true)
	if err := insert(t.Context(), s, "evt_1"); primaryCode(err) != lib.SQLITE_READONLY {
		t.Errorf("Insert = %v, want that it cannot write", err)
	}
	mustMiss(t, s, "evt_1")
	readOnly(false)
	mustInsert(t, s, "evt_1")
}

// lock takes the lock of the file, as another process would, until the
// returned function is called.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db := plain(t, path)
	execAll(t, db, `BEGIN IMMEDIATE`)
	return func() {
		t.Helper()
		execAll(t, db, `ROLLBACK`)
	}
}

func TestACallerWaitsForAnotherProcessAsLongAsItsContextLetsIt(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	unlock := lock(t, path)

	ctx, cancel := context.WithCancel(t.Context())
	var impatient error
	var wg sync.WaitGroup
	wg.Go(func() { impatient = insert(ctx, s, "evt_impatient") })
	patient := make(chan error, 1)
	go func() { patient <- insert(context.WithoutCancel(ctx), s, "evt_patient") }()
	cancel()
	wg.Wait() // while the lock is held
	if !errors.Is(impatient, context.Canceled) {
		t.Errorf("Insert = %v, want that it was cancelled", impatient)
	}
	// Reading waits for nobody.
	mustMiss(t, s, "evt_patient")

	unlock()
	if err := <-patient; err != nil {
		t.Errorf("Insert = %v", err)
	}
	mustFind(t, s, "evt_patient")
	mustMiss(t, s, "evt_impatient")
}

func TestAProcessThatNeverLetsGoIsAnErrorInTheEnd(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	s.writer.patience.Store(int64(5 * time.Millisecond))
	unlock := lock(t, path)
	err := insert(t.Context(), s, "evt_1")
	if err == nil || !strings.Contains(err.Error(), "another process has held the file for 5ms") {
		t.Errorf("Insert = %v", err)
	}
	unlock()
	mustInsert(t, s, "evt_1")
}

func TestCloseStoresWhatIsQueuedUp(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	unlock := lock(t, path)
	const n = 8
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- insert(context.Background(), s, fmt.Sprint("evt_", i)) }()
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	unlock()
	stored := 0
	for range n {
		switch err := <-errs; {
		case err == nil:
			stored++
		case !errors.Is(err, errClosed):
			t.Errorf("Insert = %v", err)
		}
	}
	if err := <-closed; err != nil {
		t.Errorf("Close = %v", err)
	}
	page, err := mustOpen(t, Config{Path: path}).List(t.Context(), restaq.Filter{})
	if err != nil || len(page.Executions) != stored {
		t.Errorf("%d executions are stored, %v; want the %d that were acknowledged", len(page.Executions), err, stored)
	}
}
