//go:build linux || darwin || freebsd

package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// helperEnv, if set, makes the test binary a process that starts a server,
// prints its address and its folder, and waits to be killed.
const helperEnv = "RESTAQ_PGTEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		server, err := Start(context.Background(), Config{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(server.URL(), server.dir)
		select {}
	}
	os.Exit(m.Run())
}

// gone reports whether neither the server nor its folder is there.
func gone(ctx context.Context, address, dir string) bool {
	conn, err := pgx.Connect(ctx, address)
	if err == nil {
		conn.Close(ctx)
		return false
	}
	_, err = os.Stat(dir)
	return errors.Is(err, fs.ErrNotExist)
}

func TestStopLeavesNothing(t *testing.T) {
	server, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, server.URL())
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if err := conn.Ping(t.Context()); err == nil {
		t.Error("a connection outlived the server")
	}
	if !gone(t.Context(), server.URL(), server.dir) {
		t.Error("Stop returned before the server and its folder were gone")
	}
}

func TestFsyncIsAsConfigured(t *testing.T) {
	for want, config := range map[string]Config{"off": {}, "on": {Fsync: true}} {
		server, err := Start(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		var got string
		if err := connect(t, server.URL()).QueryRow(t.Context(), "SHOW fsync").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%+v: fsync is %s, want %s", config, got, want)
		}
	}
}

func TestStrangersNeedThePassword(t *testing.T) {
	server, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	config, err := pgx.ParseConfig(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "guess"
	if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		conn.Close(t.Context())
		t.Error("connected with a wrong password")
	}
}

func TestServerEndsWithAKilledProcess(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	helper := exec.CommandContext(t.Context(), binary)
	helper.Env = append(os.Environ(), helperEnv+"=1")
	helper.Stderr = os.Stderr
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	connect(t, address)
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // killed

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.Tick(10 * time.Millisecond); !gone(ctx, address, dir); {
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatal("the server or its folder is still there")
		}
	}
}
