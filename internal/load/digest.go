package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what Digest asks the go command for, a line for each package and all
// that it imports.
const listed = `{{.ImportPath}}	{{.Export}}	{{if or (not .DepOnly) (and .Module .Module.Main)}}{{.Dir}}{{end}}	{{if or .Error .DepsErrors}}error{{end}}`

// settingsFile names, in the folder of an event package, the schemas that it is
// made of.
const settingsFile = "restaq.events.json"

// Digest returns a digest of all that [Load] and what is done with its result
// depend on: the files of the packages and of those that they import from the main
// module, what the compiler made of all others, the environment of the go command,
// and salt. It is much quicker than Load. It is "" if a package has errors, or is
// made of files that lie elsewhere.
func Digest(ctx context.Context, cfg Config, salt ...string) (string, error) {
	args := []string{"list", "-e", "-deps", "-export", "-f", listed}
	if cfg.Tags != "" {
		args = append(args, "-tags="+cfg.Tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(append(args, "--"), cfg.Patterns...)...)
	cmd.Dir, cmd.Env = cfg.Dir, cfg.Env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("list packages: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n%q\n%q\n", salt, cfg.Dir, cfg.Tags, cfg.Patterns)
	env := cfg.Env
	if env == nil {
		env = os.Environ()
	}
	for _, setting := range slices.Sorted(slices.Values(env)) {
		if strings.HasPrefix(setting, "GO") || strings.HasPrefix(setting, "CGO") {
			fmt.Fprintf(h, "%q\n", setting)
		}
	}
	h.Write(out)
	for line := range bytes.Lines(out) {
		fields := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
		if len(fields) != 4 || fields[3] != "" {
			return "", nil
		}
		if dir := fields[2]; dir != "" {
			if _, err := os.Stat(filepath.Join(dir, settingsFile)); err == nil {
				return "", nil
			}
			if err := digestFolder(h, dir); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digestFolder adds the files of a package's folder that are read, those that are
// not part of the package among them.
func digestFolder(h io.Writer, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || filepath.Ext(name) != ".go" && !strings.HasPrefix(name, "restaq.") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(content))
		h.Write(content)
	}
	return nil
}
