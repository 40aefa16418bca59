package generate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/problem"
)

// Changes returns what changed in all packages, as problems, of which those that
// stop nothing are notes. What it is compared with is named by against: "" for
// what was committed last, "git:REVISION", a lock file, or a folder that has the
// lock files as dir has them.
func (r *Result) Changes(ctx context.Context, against, dir string) (problem.List, error) {
	bases, err := r.bases(ctx, against, dir)
	if err != nil {
		return nil, fmt.Errorf("compare with %s: %w", against, err)
	}
	var changes problem.List
	for _, e := range r.Evolutions {
		changes = append(changes, e.Changes(bases[e.Dir])...)
	}
	changes.Sort()
	return changes, nil
}

// bases returns the lock files to compare with, by the packages' folders.
func (r *Result) bases(ctx context.Context, against, dir string) (map[string]lock.File, error) {
	bases := map[string]lock.File{}
	var dirs []string
	for _, e := range r.Evolutions {
		bases[e.Dir] = e.Base
		if !e.pkg.Empty() || e.disk != nil {
			dirs = append(dirs, e.Dir)
		}
	}
	if against == "" {
		return bases, nil
	}
	if revision, ok := strings.CutPrefix(against, "git:"); ok {
		return lock.At(ctx, revision, dirs)
	}
	if !filepath.IsAbs(against) {
		against = filepath.Join(dir, against)
	}
	info, err := os.Stat(against)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return mirrored(against, dir, dirs)
	}
	if len(dirs) != 1 {
		return nil, fmt.Errorf("one lock file is compared with one package, and there are %d: name the package, or a folder", len(dirs))
	}
	data, err := os.ReadFile(against)
	if err != nil {
		return nil, err
	}
	f, err := lock.Parse(data)
	return map[string]lock.File{dirs[0]: f}, err
}

// mirrored reads the lock files below a folder for those at the same places below
// dir.
func mirrored(folder, dir string, dirs []string) (map[string]lock.File, error) {
	bases := map[string]lock.File{}
	found := false
	for _, d := range dirs {
		rel, err := filepath.Rel(dir, d)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, fmt.Errorf("%s is not below %s", d, dir)
		}
		f, data, err := lock.Read(filepath.Join(folder, rel))
		if err != nil {
			return nil, fmt.Errorf("%s %w", filepath.Join(folder, rel, lock.Name), err)
		}
		found = found || data != nil
		bases[d] = f
	}
	if !found {
		return nil, fmt.Errorf("none of the packages has a %s there", lock.Name)
	}
	return bases, nil
}
