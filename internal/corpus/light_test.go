package corpus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a program pays for handling one of Stripe's events with its type, instead
// of a type of its own: the package of all of Stripe's, from the ground, and the
// codecs of what the handler reaches. It is less than three seconds and a megabyte.
func TestOneEventIsLight(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) time.Duration {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	write("go.mod", "module light\n\ngo 1.26\n\nrequire github.com/restaq/restaq v0.0.0\n\nreplace github.com/restaq/restaq => "+root+"\n")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums))
	sources, err := filepath.Glob(filepath.Join(root, "schemas", "stripe", "*_gen.go"))
	if err != nil || len(sources) == 0 {
		t.Fatal("no package", err)
	}
	copyStripe := func() { // so that no cache has it
		for _, name := range sources {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			write("stripe/"+filepath.Base(name), string(text)+fmt.Sprintf("\n// %d\n", time.Now().UnixNano()))
		}
	}
	copyStripe()
	const own = "type Charge struct{ ID string }\n\ntype ChargeSucceeded struct{ Data struct{ Object Charge } }\n"
	write("plain/main.go", strings.NewReplacer("IMPORT", "", "TYPES", own, "stripe.Charge", "Charge").Replace(handler))
	write("typed/main.go", strings.NewReplacer("IMPORT", `"light/stripe"`, "TYPES", "").Replace(handler))
	restaqgen := filepath.Join(dir, "restaqgen")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", restaqgen, "./cmd/restaqgen")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run(restaqgen, "./plain", "./typed")
	run("go", "build", "-o", "plain.exe", "./plain") // all that both need is compiled now
	write("plain/more.go", "package main\n")
	plain := run("go", "build", "-o", "plain.exe", "./plain")
	typed := run("go", "build", "-o", "typed.exe", "./typed")
	// Processor time, for others are at work too. They still take caches and the
	// other half of a core: who is too slow once may try again.
	const most = 3 * time.Second
	for try := 1; typed-plain > most && try < 4; try++ {
		t.Logf("try %d: %v more", try, typed-plain)
		copyStripe()
		typed = min(typed, run("go", "build", "-o", "typed.exe", "./typed"))
	}
	if typed-plain > most {
		t.Errorf("an event costs %v of processor time to compile, want %v at most", typed-plain, most)
	}
	size := func(name string) int64 {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	more := size("typed.exe") - size("plain.exe")
	t.Logf("%d bytes of binary, %v of processor time to build from the ground against %v", more, typed, plain)
	if more > 1<<20 {
		t.Errorf("an event costs %d bytes of binary, want a megabyte at most", more)
	}
}

const handler = `package main

import (
	"context"
	"log"

	"github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	IMPORT
)

TYPES

//restaq:on stripe.charge.succeeded
func charged(ctx context.Context, event stripe.ChargeSucceeded) error {
	_, err := recordStep(ctx, event.Data.Object.ID)
	return err
}

//restaq:step
func record(ctx context.Context, id string) (string, error) { return id, nil }

func main() {
	rt, err := restaq.New(memory.New(), restaq.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := RegisterHandlers(rt); err != nil {
		log.Fatal(err)
	}
	if err := rt.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
`
