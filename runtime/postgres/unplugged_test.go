//go:build linux

package postgres

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	restaq "github.com/restaq/restaq/runtime"
)

// unplug pulls a connection's plug: from now on it hears nothing, not even that
// what it sends arrives, and acknowledges nothing. No side is told.
func unplug(t *testing.T, conn net.Conn) {
	t.Helper()
	drop := []syscall.SockFilter{{Code: syscall.BPF_RET | syscall.BPF_K, K: 0}}
	program := syscall.SockFprog{Len: 1, Filter: &drop[0]}
	withSocket(t, conn, func(fd int) error {
		_, _, errno := syscall.Syscall6(syscall.SYS_SETSOCKOPT, uintptr(fd), syscall.SOL_SOCKET, syscall.SO_ATTACH_FILTER,
			uintptr(unsafe.Pointer(&program)), unsafe.Sizeof(program), 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
}

func withSocket(t *testing.T, conn net.Conn, fn func(fd int) error) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = errors.Join(raw.Control(func(fd uintptr) { err = fn(int(fd)) }), err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long after deadAfter something may take on a busy machine.
const patience = 20 * time.Second

func TestSocketsNoticeSilence(t *testing.T) {
	s, _, _ := many(t, 0)
	for kind, conn := range kinds(t, s) {
		for name, option := range map[string]struct{ level, number, want int }{
			"SO_KEEPALIVE":     {syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1},
			"TCP_KEEPIDLE":     {syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, 4},
			"TCP_KEEPINTVL":    {syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, 2},
			"TCP_KEEPCNT":      {syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, 3},
			"TCP_USER_TIMEOUT": {syscall.IPPROTO_TCP, tcpUserTimeout, 10_000},
		} {
			withSocket(t, conn.PgConn().Conn(), func(fd int) error {
				got, err := syscall.GetsockoptInt(fd, option.level, option.number)
				if got != option.want {
					t.Errorf("%s connection: %s is %d, want %d", kind, name, got, option.want)
				}
				return err
			})
		}
	}
}

// A process is unplugged in the middle of a statement: the server has done it
// and waits for the rest, and its lock keeps the execution from being taken
// over. The lock is gone before a lease of the default length is.
func TestAnUnpluggedProcessHoldsNoLock(t *testing.T) {
	t.Parallel()
	s, admin, leases := many(t, 1)
	lane, err := s.writePool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := lane.Hijack() // it is of no more use to the pool
	defer conn.PgConn().Conn().Close()
	unsynced(t, conn, `SELECT execution FROM restaq.work WHERE execution = '`+leases[0].Execution+`' FOR UPDATE`)
	held := func() bool {
		free, err := one[int](t.Context(), admin, `SELECT count(*) FROM (SELECT FROM restaq.work FOR UPDATE SKIP LOCKED) w`)
		if err != nil {
			t.Fatal(err)
		}
		return free == 0
	}
	if !held() {
		t.Fatal("nothing is locked")
	}
	start := time.Now()
	unplug(t, conn.PgConn().Conn())
	for held() {
		if time.Since(start) > deadAfter+patience {
			t.Fatalf("still locked after %v", time.Since(start))
		}
		if _, err := admin.Exec(t.Context(), `SELECT pg_sleep(0.05)`); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("free after %v", time.Since(start))
}

// A process is stopped in the middle of sending: its kernel answers for it, and
// the server waits for the rest. Whoever looks for work ends that.
func TestAStoppedProcessHoldsNoLock(t *testing.T) {
	t.Parallel()
	s, admin, leases := many(t, 1)
	ctx := t.Context()
	lane, err := s.writePool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn := lane.Hijack()
	defer conn.PgConn().Conn().Close()
	unsynced(t, conn, `SELECT execution FROM restaq.work WHERE execution = '`+leases[0].Execution+`' FOR UPDATE`)
	bystander, err := pgx.ConnectConfig(ctx, s.connConfig().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer bystander.PgConn().Conn().Close()
	unsynced(t, bystander, `SELECT execution FROM restaq.execution`)
	if _, err := admin.Exec(ctx, `SELECT pg_sleep($1)`, (deadAfter + time.Second).Seconds()); err != nil {
		t.Fatal(err)
	}
	s.looked.Store(time.Now().UnixNano())
	claim := restaq.Claim{Owner: "other", Lease: time.Minute, Handlers: []string{"none"}, Limit: 1}
	ended := func(conn *pgx.Conn) bool {
		gone, err := one[bool](ctx, admin, `SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)`, int32(conn.PgConn().PID()))
		if err != nil {
			t.Fatal(err)
		}
		return gone
	}
	if _, err := s.Claim(ctx, claim); err != nil || ended(conn) {
		t.Errorf("ended: %t, %v, though it had just been looked", ended(conn), err)
	}
	s.looked.Store(0)
	if _, err := s.Claim(ctx, claim); err != nil {
		t.Error(err)
	}
	for start := time.Now(); !ended(conn); {
		if time.Since(start) > patience {
			t.Fatal("the stopped session is still there")
		}
	}
	if ended(bystander) {
		t.Error("a session that has only read was ended")
	}
}

// unsynced has the server run a statement and wait for what follows.
func unsynced(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	front := conn.PgConn().Frontend()
	front.SendParse(&pgproto3.Parse{Query: sql})
	front.SendBind(&pgproto3.Bind{})
	front.SendExecute(&pgproto3.Execute{})
	front.Send(&pgproto3.Flush{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		message, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := message.(type) {
		case *pgproto3.CommandComplete:
			return
		case *pgproto3.ErrorResponse:
			t.Fatal(pgconn.ErrorResponseToPgError(m))
		}
	}
}

// A process whose server is out of reach notices, whether it has asked
// something or waits to be told.
func TestAServerOutOfReachIsNoticed(t *testing.T) {
	t.Parallel()
	s, _, _ := many(t, 0)
	for what, wait := range map[string]func(conn *pgx.Conn) error{
		"asking": func(conn *pgx.Conn) error {
			_, err := conn.Exec(context.Background(), `SELECT 1`)
			return err
		},
		"listening": func(conn *pgx.Conn) error {
			_, err := conn.WaitForNotification(context.Background())
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			conn, err := pgx.ConnectConfig(t.Context(), s.connConfig().ConnConfig)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.PgConn().Conn().Close()
			unplug(t, conn.PgConn().Conn())
			ended := make(chan error, 1)
			go func() { ended <- wait(conn) }()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("there was an answer")
				}
			case <-time.After(deadAfter + patience):
				t.Error("it waits for ever")
			}
		})
	}
}
