//go:build linux || darwin || freebsd

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// keeper is a folder, and a small process that ends whatever runs on it and
// removes it when this process ends, however it ends.
type keeper struct {
	dir  string
	as   *syscall.SysProcAttr // whose the folder is
	cmd  *exec.Cmd
	hold *os.File // the process acts when this is closed
}

// startKeeper gives the folder dir to whom programs run as and starts its
// keeper, before there is anything to keep, so that there is no moment at
// which a crash leaks. The script reads standard input to its end, ends what
// runs on the folder, $1, and removes it; more arguments follow. What it writes
// to standard output goes to out, which may be nil.
func startKeeper(dir, script string, out *os.File, args ...string) (*keeper, error) {
	k, err := newKeeper(dir, script, out, args)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return k, nil
}

func newKeeper(dir, script string, out *os.File, args []string) (*keeper, error) {
	as, err := serverUser()
	if err != nil {
		return nil, err
	}
	k := &keeper{dir: dir, as: as}
	if err := give(as, dir); err != nil {
		return nil, err
	}
	watched, hold, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start keeper: %w", err)
	}
	defer watched.Close()
	k.hold = hold
	k.cmd = k.command(context.Background(), "/bin/sh", append([]string{"-c", script, "restaq-pg-keeper", dir}, args...)...)
	k.cmd.Dir = "/" // the folder goes away
	k.cmd.Stdin = watched
	if out != nil {
		k.cmd.Stdout = out
	}
	if err := k.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start keeper: %w", err), hold.Close())
	}
	return k, nil
}

// give gives a file to whom programs run as.
func give(as *syscall.SysProcAttr, name string) error {
	if as.Credential == nil {
		return nil
	}
	if err := os.Chown(name, int(as.Credential.Uid), int(as.Credential.Gid)); err != nil {
		return fmt.Errorf("give file away: %w", err)
	}
	return nil
}

// stop ends what runs on the folder and returns when that and the folder are
// gone.
func (k *keeper) stop() error {
	if err := k.hold.Close(); err != nil {
		return err
	}
	return k.cmd.Wait()
}

// command returns a command that runs as whom the folder belongs to, in the
// folder, out of reach of the terminal's signals, and unmoved by whatever the
// environment says to PostgreSQL's programs.
func (k *keeper) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = k.dir
	cmd.SysProcAttr = k.as
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PG") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	return cmd
}
