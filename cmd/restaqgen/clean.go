package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/restaq/restaq/internal/load"
)

// clean remembers, as the go command does for vet, that check had nothing to say.
// It is an empty file in the user's cache, named by a digest of all that check
// read: the packages, the module's commit, and this program itself.
type clean struct{ file string }

// keep is how long such a file is kept.
const keep = 30 * 24 * time.Hour

// cleanBefore returns where it is remembered that check has nothing to say, and
// whether it had nothing the last time. Without a cache, or if the digest cannot
// be made, nothing is remembered.
func (p *process) cleanBefore(cfg load.Config) (memory clean, known bool) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return clean{}, false
	}
	program, err := os.Executable()
	if err != nil {
		return clean{}, false
	}
	info, err := os.Stat(program)
	if err != nil {
		return clean{}, false
	}
	git := exec.Command("git", "rev-parse", "HEAD")
	git.Dir = p.dir
	head, _ := git.Output() // "" where there is no commit
	digest, err := load.Digest(context.Background(), cfg, "1", program, info.ModTime().String(), fmt.Sprint(info.Size()), string(head))
	if err != nil || digest == "" {
		return clean{}, false
	}
	memory = clean{filepath.Join(cache, "restaq", "check", digest)}
	_, err = os.Stat(memory.file)
	return memory, err == nil
}

// remember notes that check had nothing to say, and forgets what is old.
func (c clean) remember() {
	if c.file == "" {
		return
	}
	// What fails here is only work that is done again the next time.
	dir := filepath.Dir(c.file)
	if os.MkdirAll(dir, 0o755) != nil || os.WriteFile(c.file, nil, 0o644) != nil {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > keep {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// counter counts what is written.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += len(b)
	return c.Writer.Write(b)
}
