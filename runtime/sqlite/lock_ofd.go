//go:build linux || darwin

package sqlite

import (
	"io"
	"os"
	"syscall"
)

// These locks belong to the open file, not to the process: two Stores of one
// process see each other's, and closing another file of the name ends none.

func lockByte(f *os.File, at int64) error {
	return fcntl(f, setLock, &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1})
}

// byteIsFree reports whether nobody but f itself has the byte locked.
func byteIsFree(f *os.File, at int64) (bool, error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	err := fcntl(f, getLock, &lock)
	return lock.Type == syscall.F_UNLCK, err
}

func fcntl(f *os.File, cmd int, lock *syscall.Flock_t) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = syscall.FcntlFlock(fd, cmd, lock) })
	if err == nil {
		err = failed
	}
	return err
}

// inode is the file's number in its file system.
func inode(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
