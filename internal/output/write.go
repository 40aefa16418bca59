package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
)

// Commit makes the change. A new content is written to a temporary file beside
// the old one, which is then renamed.
func (c Change) Commit() error {
	if c.New == nil {
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := replace(c.Path, c.New); err != nil {
		return fmt.Errorf("write %s: %w", c.Path, err)
	}
	return nil
}

// replace puts content in the place of the file at path, keeping its mode, and
// following it if it is a link.
func replace(path string, content []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// The go command ignores files whose names begin with a dot.
	tmp, err := os.CreateTemp(filepath.Dir(path), ".restaqgen-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err := tmp.Write(content); err != nil {
		return err
	}
	if err := tmp.Chmod(mode); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Verb says in a word what the change does: "create", "update" or "remove".
func (c Change) Verb() string {
	switch {
	case c.New == nil:
		return "remove"
	case c.Old == nil:
		return "create"
	}
	return "update"
}

// Diff returns the change as a unified diff in which the file is called name.
func (c Change) Diff(name string) []byte {
	from, to := "a/"+name, "b/"+name
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	return diff.Diff(from, plainLines(c.Old), to, c.New)
}
