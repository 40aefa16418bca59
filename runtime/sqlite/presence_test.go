//go:build linux || darwin

package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func init() {
	// hold begins executions under long leases, by their deliveries and by a
	// claim, and keeps them until it is killed.
	roles["hold"] = func(ctx context.Context, path string) error {
		s, err := Open(path)
		if err != nil {
			return err
		}
		for i := range 2 {
			if err := begin(ctx, s, fmt.Sprint("evt_", i)); err != nil {
				return err
			}
		}
		if err := insert(ctx, s, "evt_2"); err != nil {
			return err
		}
		claimed, err := s.Claim(ctx, restaq.Claim{Owner: "claimer", Lease: time.Hour, Handlers: []string{"shop.Paid"}, Limit: 1})
		if err != nil || len(claimed) != 1 {
			return fmt.Errorf("claimed %v: %w", claimed, err)
		}
		fmt.Println("holding")
		select {}
	}
}

// claim claims all that it can, having looked for other processes.
func claim(t *testing.T, s *Store) []restaq.Claimed {
	t.Helper()
	s.writer.presence.looked.Store(0)
	claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "heir", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

// hold starts a process that holds three executions.
func hold(t *testing.T, path string) *process {
	t.Helper()
	p := start(t, "hold", path)
	if !p.lines.Scan() {
		t.Fatalf("the process holds nothing: %s", p.errs.String())
	}
	return p
}

func TestWhatAKilledProcessHeldIsTakenAtOnce(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	p := hold(t, path)
	if got := claim(t, s); len(got) != 0 {
		t.Errorf("%d executions were taken from a process that lives", len(got))
	}
	p.kill(t)
	claimed := claim(t, s)
	if len(claimed) != 3 {
		t.Fatalf("%d executions were taken, want 3", len(claimed))
	}
	for _, c := range claimed {
		h, err := s.History(t.Context(), c.Execution.ID)
		if err != nil {
			t.Fatal(err)
		}
		if c.Lease.Attempt != 2 || len(h.Attempts) != 1 || h.Attempts[0].Outcome != restaq.AttemptLost {
			t.Errorf("attempt %d after %+v, want the second after a lost one", c.Lease.Attempt, h.Attempts)
		}
	}
	if got := claim(t, s); len(got) != 0 {
		t.Errorf("%d executions were taken from their heir", len(got))
	}
}

func TestAStoppedProcessKeepsItsLeases(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	p := hold(t, path)
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, s); len(got) != 0 {
		t.Errorf("%d executions were taken", len(got))
	}
	var ahead time.Duration
	now := s.now
	s.now = func() time.Time { return now().Add(ahead) }
	ahead = 2 * time.Hour
	if got := claim(t, s); len(got) != 3 {
		t.Errorf("%d executions were taken after the leases had run out, want 3", len(got))
	}
	p.kill(t)
}

// If the file is gone, who looks and who was looked for mean different ones.
func TestWithoutTheFileLeasesRunOut(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, file string){
		"removed": func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
		"replaced by a copy": func(t *testing.T, file string) {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file+".copy", text, 0o600)
			}
			if err == nil {
				err = os.Rename(file+".copy", file)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			p := hold(t, path)
			spoil(t, path+presenceSuffix)
			s := mustOpen(t, Config{Path: path})
			if got := claim(t, s); len(got) != 0 {
				t.Errorf("%d executions were taken from a process that lives", len(got))
			}
			p.kill(t)
			if got := claim(t, s); len(got) != 0 {
				t.Errorf("%d executions were taken although nothing proves that their process ended", len(got))
			}
		})
	}
}

func TestAFileThatTellsNothingIsNotReliedOn(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path+presenceSuffix, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, Config{Path: path})
	if s.writer.presence != nil {
		t.Error("an empty file shows presence")
	}
	if err := begin(t.Context(), s, "evt_1"); err != nil {
		t.Error(err)
	}
}

func TestTwoStoresOfOneProcessSeeEachOther(t *testing.T) {
	path := newPath(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	first, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, Config{Path: link})
	if err := begin(t.Context(), first, "evt_1"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second open of the file must not have ended the lock
		if got := claim(t, second); len(got) != 0 {
			t.Errorf("%d executions were taken", len(got))
		}
	}
	// A process that closed its Store may still run what it did not wait for.
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, second); len(got) != 0 {
		t.Errorf("%d executions were taken after Close", len(got))
	}
	owners := 0
	err = second.reader.read(t.Context(), func(query queryFunc) error {
		return scanOne(query, []any{&owners}, `SELECT count(*) FROM restaq_owner`)
	})
	if err != nil || owners != 0 {
		t.Errorf("%d owners are left, %v", owners, err)
	}
}

// What a transaction wrote of an owner goes with it, and is written again.
func TestARolledBackOwnerIsIntroducedAgain(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	errs := batch(s.writer, func(tx *tx) error {
		if err := tx.introduce("owner-of-evt_1"); err != nil {
			return err
		}
		return fmt.Errorf("oops")
	})
	if errs[0] == nil {
		t.Fatal("the transaction was not rolled back")
	}
	if err := begin(t.Context(), s, "evt_1"); err != nil {
		t.Fatal(err)
	}
	s.writer.presence.file.Close() // as if the process had ended
	if got := claim(t, mustOpen(t, Config{Path: path})); len(got) != 1 {
		t.Errorf("%d executions were taken, want 1", len(got))
	}
}
