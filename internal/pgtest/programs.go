//go:build linux || darwin || freebsd

package pgtest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// errNoServer is what a person reads who has no PostgreSQL.
var errNoServer = errors.New("no PostgreSQL server: install one (on Debian: apt-get install postgresql), " +
	"or set " + Env + " to the URL of one")

// errNoPooler is what a person reads who has no PgBouncer.
var errNoPooler = errors.New("no PgBouncer: install one (on Debian: apt-get install pgbouncer)")

// poolerFolders is where PgBouncer may be besides PATH: a system's folders for
// services are not on everybody's.
var poolerFolders = []string{"/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"}

// debianFolders is where Debian puts the programs of each major version, off
// PATH.
const debianFolders = "/usr/lib/postgresql/*/bin"

// programs is the folder of PostgreSQL's server programs.
type programs string

func (p programs) path(name string) string { return filepath.Join(string(p), name) }

// findOrInstall returns the programs of this machine, and puts them there if it
// can and must.
func findOrInstall() (programs, error) {
	if found, ok := find(os.Getenv("PATH"), debianFolders); ok {
		return found, nil
	}
	err := install("postgresql", func() bool {
		_, ok := find(os.Getenv("PATH"), debianFolders)
		return ok
	})
	if err != nil {
		return "", fmt.Errorf("%w; tried to: %w", errNoServer, err)
	}
	found, ok := find(os.Getenv("PATH"), debianFolders)
	if !ok {
		return "", errNoServer
	}
	return found, nil
}

// find looks for a folder that holds all the server programs: first along
// path, then in the folders that pattern names, newest version first. A machine
// with only the client's programs has none.
func find(path, pattern string) (programs, bool) {
	versions, err := filepath.Glob(pattern)
	if err != nil {
		panic("pgtest: bad pattern " + pattern)
	}
	slices.SortFunc(versions, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	for _, dir := range append(filepath.SplitList(path), versions...) {
		if filepath.IsAbs(dir) && complete(programs(dir)) {
			return programs(dir), true
		}
	}
	return "", false
}

// major returns the version in a folder's name …/VERSION/bin, 0 if there is
// none. Debian names versions before 10 with a point: 9.6.
func major(dir string) float64 {
	version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
	if err != nil {
		return 0
	}
	return version
}

func complete(p programs) bool {
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		if _, err := exec.LookPath(p.path(name)); err != nil {
			return false
		}
	}
	return true
}

// findOrInstallPooler returns PgBouncer's program, and puts it there if it can
// and must.
func findOrInstallPooler() (string, error) {
	if found, ok := findPooler(); ok {
		return found, nil
	}
	err := install("pgbouncer", func() bool {
		_, ok := findPooler()
		return ok
	})
	if err != nil {
		return "", fmt.Errorf("%w; tried to: %w", errNoPooler, err)
	}
	found, ok := findPooler()
	if !ok {
		return "", errNoPooler
	}
	return found, nil
}

func findPooler() (string, bool) {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), poolerFolders...) {
		if name, err := exec.LookPath(filepath.Join(dir, "pgbouncer")); err == nil && filepath.IsAbs(name) {
			return name, true
		}
	}
	return "", false
}
