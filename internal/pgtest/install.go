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

// policy, while it exists, tells Debian's packages not to start services when
// they are installed. Many containers have it always.
const policy = "/usr/sbin/policy-rc.d"

// install installs a package of Debian's if this process may. Test processes
// that need it at the same time take turns, and the later ones find it there.
func install(name string, there func() bool) error {
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
	if there() {
		return nil
	}
	fmt.Fprintf(os.Stderr, "pgtest: installing what is not here: apt-get install %s\n", name)
	remove, err := keepServicesOff()
	if err != nil {
		return fmt.Errorf("install it: %w", err)
	}
	defer remove()
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", name},
	} {
		cmd := exec.Command(apt, append([]string{"-q", "-o", "DPkg::Lock::Timeout=300"}, args...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run apt-get %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// keepServicesOff lays dropIn and policy, and removes what it has laid.
func keepServicesOff() (remove func(), err error) {
	var laid []string
	remove = func() {
		for _, name := range laid {
			os.Remove(name)
		}
	}
	for _, file := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{dropIn, "create_main_cluster = false\n", 0o644},
		{policy, "#!/bin/sh\nexit 101\n", 0o755},
	} {
		if _, err := os.Stat(file.name); err == nil {
			continue
		}
		err := os.MkdirAll(filepath.Dir(file.name), 0o755)
		if err == nil {
			err = os.WriteFile(file.name, []byte(file.text), file.mode)
		}
		if err != nil {
			remove()
			return nil, err
		}
		laid = append(laid, file.name)
	}
	return remove, nil
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
