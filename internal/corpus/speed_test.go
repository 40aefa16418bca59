//go:build linux

// Linux says what memory a process held, in kilobytes.

package corpus

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/restaq/restaq/internal/fetch"
)

// What the command may take of processor time, which is on two cores at least
// half of the time that one waits, and of memory.
func TestWholeSpecificationsAreFast(t *testing.T) {
	dir := t.TempDir()
	restaqgen := filepath.Join(dir, "restaqgen")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", restaqgen, "../../cmd/restaqgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		provider string
		from     fetch.Package
		in       string
		most     time.Duration
	}{
		{"github", fetch.GitHubSchemas, "schema.json", 2 * time.Second},
		{"github", fetch.GitHubOpenAPI, "generated/api.github.com.json", 2 * time.Second},
		{"stripe", fetch.StripeMock, "embedded/openapi/spec3.beta.sdk.json", 5 * time.Second},
	} {
		in := filepath.Join(get(t, c.from), c.in)
		var outputs []map[string][]byte
		for _, name := range []string{"first", "second"} {
			out := filepath.Join(dir, filepath.Base(c.in), name)
			cmd := exec.CommandContext(t.Context(), restaqgen, "events", "-provider", c.provider, "-in", in, "-out", out)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", c.in, err, text)
			}
			took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			t.Logf("%s: %v, %d MB", c.in, took, peak(cmd.ProcessState)>>20)
			if took > c.most {
				t.Errorf("%s took %v of processor time, want %v at most", c.in, took, c.most)
			}
			if most := int64(1 << 30); peak(cmd.ProcessState) > most {
				t.Errorf("%s took %d bytes of memory, want %d at most", c.in, peak(cmd.ProcessState), most)
			}
			outputs = append(outputs, readFolder(t, out))
		}
		for name, content := range outputs[0] {
			if name != "restaq.events.json" && !bytes.Equal(content, outputs[1][name]) {
				t.Errorf("%s: a second run wrote another %s", c.in, name)
			}
		}
		if len(outputs[0]) != len(outputs[1]) || len(outputs[0]) < 4 {
			t.Errorf("%s: %d files, then %d", c.in, len(outputs[0]), len(outputs[1]))
		}
	}
}

func readFolder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// peak is the most memory that a process held.
func peak(state *os.ProcessState) int64 {
	return state.SysUsage().(*syscall.Rusage).Maxrss << 10
}
