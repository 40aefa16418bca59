//go:build linux

package chaos

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
)

// diskEnv, if set, has the test binary mount a small disk, in memory, before
// its tests: SIZE:FOLDER.
const diskEnv = "RESTAQ_CHAOS_DISK"

// mountDisk mounts what diskEnv says. Only this process and its children see
// it, and it goes with them.
func mountDisk(text string) error {
	size, dir, _ := strings.Cut(text, ":")
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to oneself: %w", err)
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size+",mode=1777"); err != nil {
		return fmt.Errorf("mount a disk: %w", err)
	}
	return nil
}

// withDisk runs test with the folder of a disk of its own of so many
// megabytes: in a process of this test alone, which has its own view of what
// is mounted. It needs root, or a kernel that lets everybody have such views.
func withDisk(t *testing.T, megabytes int, test func(t *testing.T, disk string)) {
	t.Helper()
	if text := os.Getenv(diskEnv); text != "" {
		_, dir, _ := strings.Cut(text, ":")
		test(t, dir)
		return
	}
	dir, err := os.MkdirTemp("", "restaq-disk-*")
	if err == nil {
		err = os.Chmod(dir, 0o755) // a server runs as another user
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	names := strings.Split(t.Name(), "/")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.Join(names, "$/^")+"$", "-test.v", "-test.count=1", "-test.timeout=0")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%dm:%s", diskEnv, megabytes, dir))
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		const capSysAdmin = 21
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{capSysAdmin},
		}
	}
	if _, err := cmd.StdinPipe(); err != nil { // closed when this process ends
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, said.Bytes())
	} else {
		t.Logf("%s", said.Bytes())
	}
}

// disk is a disk that a test fills up.
type disk struct{ dir string }

func (d disk) filler() string { return filepath.Join(d.dir, "filler") }

// fill takes all that is free.
func (d disk) fill() error {
	file, err := os.OpenFile(d.filler(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	for chunk := make([]byte, 64<<10); len(chunk) > 0; {
		if _, err := file.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			chunk = chunk[:len(chunk)/2]
		} else if err != nil {
			return err
		}
	}
	return nil
}

// free gives it back.
func (d disk) free() error { return os.Remove(d.filler()) }

// fillUp has the disk run full over and over until ctx ends. While it is full
// deliveries are refused, politely; full may do more then, and again when there
// is room. It returns how often deliveries were refused.
func (f *fleet) fillUp(ctx context.Context, s *sendings, d disk, full, again func(ctx context.Context) error) (times int) {
	f.t.Helper()
	for pause(ctx, time.Duration(100+rand.N(700))*time.Millisecond) == nil {
		before := s.refused.Load()
		var err error
		for err == nil && s.refused.Load() == before {
			// What writers give back to the disk is taken too.
			if err = errors.Join(d.fill(), full(ctx)); pause(ctx, 20*time.Millisecond) != nil {
				break
			}
		}
		_ = pause(ctx, time.Duration(rand.N(1500))*time.Millisecond)
		if s.refused.Load() > before {
			times++
		}
		if err = errors.Join(err, d.free()); err == nil {
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			err = again(limited)
			cancel()
		}
		if err != nil {
			f.t.Error(err)
			return times
		}
	}
	if times == 0 {
		f.t.Error("the disk was never full for anybody")
	}
	return times
}

// growth is how many megabytes a load on a padded fleet needs for what it sends
// in a scenario's time, with room to spare.
func growth(t *testing.T, short time.Duration) int {
	t.Helper()
	return 3 * int(span(t, short).Seconds())
}

// polite checks that whatever was refused was refused for now.
func (s *sendings) polite(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rude) > 0 {
		t.Errorf("deliveries were answered %v", s.rude)
	}
}

func nothing(context.Context) error { return nil }

// The disk of an SQLite file is full, over and over. Nothing that was
// acknowledged is lost, no completed step runs again, and all work goes on by
// itself when there is room.
func TestDiskIsFullSQLite(t *testing.T) {
	t.Parallel()
	const short = 4 * time.Second
	withDisk(t, 64+growth(t, short), func(t *testing.T, dir string) {
		f := newFleetOn(t, "sqlite", filepath.Join(dir, "restaq.db"))
		f.pad = 8 << 10
		times := 0
		f.underLoadOf(short, crashes, nil, func(ctx context.Context, s *sendings) {
			times = f.fillUp(ctx, s, disk{dir}, nothing, nothing)
			s.polite(t)
		})
		t.Logf("full %d times", times)
		f.onDatabase(func(db *sql.DB, _ *pgx.Conn) error {
			var said string
			err := db.QueryRow(`PRAGMA integrity_check`).Scan(&said)
			if said != "ok" {
				t.Errorf("the file's integrity: %s", said)
			}
			return err
		})
	})
}

// The disk of a PostgreSQL server is full, over and over. The server refuses
// statements or ends, as it finds; whoever runs it starts it again when there is
// room. Nothing else needs anybody.
func TestDiskIsFullPostgres(t *testing.T) {
	t.Parallel()
	const short = 6 * time.Second
	withDisk(t, 256+growth(t, short), func(t *testing.T, dir string) {
		server := newServerWith(t, pgtest.Config{Dir: dir, Settings: []string{"max_wal_size=64MB", "min_wal_size=32MB"}})
		f := newFleetOn(t, "postgres", server.url)
		f.pad = 8 << 10
		times := 0
		var ended atomic.Int64
		f.underLoadOf(short, crashes, nil, func(ctx context.Context, s *sendings) {
			times = f.fillUp(ctx, s, disk{dir}, server.nextWAL, func(ctx context.Context) error {
				started, err := server.revive(ctx)
				if started {
					ended.Add(1)
				}
				return err
			})
			s.polite(t)
		})
		t.Logf("full %d times, of which the server ended %d times", times, ended.Load())
		f.onDatabase(func(_ *sql.DB, conn *pgx.Conn) error {
			return checkIndexes(t.Context(), conn)
		})
	})
}

// nextWAL has the server begin a new file of its log, which takes room. That
// may fail, and end the server.
func (s *server) nextWAL(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return nil
	}
	defer conn.Close(ctx)
	_, _ = conn.Exec(ctx, `SELECT pg_switch_wal()`)
	return nil
}

// revive returns when the server takes connections, and starts it if it has
// ended.
func (s *server) revive(ctx context.Context) (started bool, err error) {
	for {
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := pgx.Connect(limited, s.url)
		if err == nil {
			err = conn.Close(limited)
			cancel()
			return started, err
		}
		cancel()
		pid, pidErr := s.pid()
		_, lives := parentOf(fmt.Sprint(pid))
		if pidErr != nil || !lives {
			started = true
			if err := s.start(ctx); err != nil {
				return started, err
			}
		}
		if pause(ctx, 50*time.Millisecond) != nil {
			return started, fmt.Errorf("the server takes no connection: %w", err)
		}
	}
}

// checkIndexes compares all indexes of the store with their tables.
func checkIndexes(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `CREATE EXTENSION amcheck`)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `
SELECT bt_index_check(i.indexrelid, true)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.amname = 'btree' AND n.nspname = 'restaq'`)
	return err
}
