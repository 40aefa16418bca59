// Package chromium finds the browser that tests drive.
//
// It is looked for on PATH under the names that it has. Where it is missing, root
// on Debian gets the package chromium installed; everyone else gets an error that
// says what to do. No test is skipped for want of a browser.
package chromium

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// Env is the environment variable that names the browser's program, for one that
// is not found by itself.
const Env = "RESTAQ_TEST_CHROMIUM"

// names are those of the program, the first that is there counts.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Path returns the path of the browser's program. The first call may install it,
// which takes a minute. Calls of several goroutines wait for each other.
var Path = sync.OnceValues(func() (string, error) {
	path, err := find()
	if err == nil {
		return path, nil
	}
	if installErr := install(); installErr != nil {
		return "", fmt.Errorf("%w; %w: install it, or set %s to the path of its program", err, installErr, Env)
	}
	return find()
})

func find() (string, error) {
	if path := os.Getenv(Env); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("find chromium at %s: %w", Env, err)
		}
		return path, nil
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no chromium on PATH")
}

// install installs Debian's package if this process may.
func install() error {
	if os.Geteuid() != 0 {
		return errors.New("not root")
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return fmt.Errorf("install chromium: %w", err)
	}
	fmt.Fprintln(os.Stderr, "chromium: installing what is not here: apt-get install chromium")
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"},
	} {
		cmd := exec.Command(apt, append([]string{"-q", "-o", "DPkg::Lock::Timeout=300"}, args...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run apt-get %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
		}
	}
	return nil
}
