//go:build linux || darwin || freebsd

package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// dropIn, while it exists, tells Debian's package not to make and start a
// server of its own when it is installed.
const dropIn = "/etc/postgresql-common/createcluster.d/restaq-tests.conf"

// install installs Debian's server package if this process may. Test processes
// that need it at the same time take turns, and the later ones find it there.
func install() error {
	if os.Geteuid() != 0 {
		return errors.New("install it: not root")
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return fmt.Errorf("install it: %w", err)
	}
	unlock, err := lockFolder("/var/lib/dpkg")
	if err != nil {
		return fmt.Errorf("install it: %w", err)
	}
	defer unlock()
	if _, ok := find(os.Getenv("PATH"), debianFolders); ok {
		return nil
	}
	fmt.Fprintln(os.Stderr, "pgtest: no PostgreSQL server here: apt-get install postgresql")
	if err := os.MkdirAll(filepath.Dir(dropIn), 0o755); err != nil {
		return fmt.Errorf("install it: %w", err)
	}
	if err := os.WriteFile(dropIn, []byte("create_main_cluster = false\n"), 0o644); err != nil {
		return fmt.Errorf("install it: %w", err)
	}
	defer os.Remove(dropIn)
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "postgresql"},
	} {
		cmd := exec.Command(apt, append([]string{"-q", "-o", "DPkg::Lock::Timeout=300"}, args...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run apt-get %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// lockFolder takes the lock on a folder that processes of this package agree
// on; it waits for it. The lock goes with the process, if not before.
func lockFolder(dir string) (unlock func() error, err error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock folder: %w", err)
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock folder %s: %w", dir, err), folder.Close())
	}
	return folder.Close, nil
}
