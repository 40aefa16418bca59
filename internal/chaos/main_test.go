//go:build linux

package chaos

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

// workerEnv, if set, makes the test binary a worker process; it holds a
// workerConfig as JSON.
const workerEnv = "RESTAQ_CHAOS_WORKER"

// soakEnv is about how long all scenarios that go on at random take together.
const soakEnv = "RESTAQ_SOAK"

// shares is in how many parts that time is cut: fourteen scenarios, of
// which four run at the same time.
const shares = 4

func TestMain(m *testing.M) {
	text := os.Getenv(workerEnv)
	if disk := os.Getenv(diskEnv); disk != "" && text == "" {
		go endWithParent()
		if err := mountDisk(disk); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if text == "" {
		// The scenarios wait more than they work.
		if err := flag.Set("test.parallel", "4"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	go endWithParent()
	var cfg workerConfig
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = runWorker(cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// endWithParent ends this process when the one that started it ends, however
// it ends: its end of the pipe is then closed.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3)
}

// span is how long a scenario makes trouble at random: short, or its share of
// a soak.
func span(t *testing.T, short time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(soakEnv)
	if text == "" {
		return short
	}
	total, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", soakEnv, err)
	}
	return max(short, total/shares)
}

// patience bounds every wait for something that must happen. It is never
// reached unless it does not.
const patience = 90 * time.Second

// until waits until done, and fails t if it never is.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	untilWithin(t, patience, what, done)
}

func untilWithin(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(limit)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain: %s", limit, what)
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		}
	}
}
