package sqlite

import (
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel32.NewProc("LockFileEx")
	unlockFileEx = kernel32.NewProc("UnlockFileEx")
)

const lockExclusiveAtOnce = 1 | 2 // LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK

const errLockViolation = syscall.Errno(33)

// local is true: a lock on a share is the server's, and is seen by all.
func local(*os.File) bool { return true }

func lockByte(f *os.File, at int64) error {
	where := syscall.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	ok, _, err := lockFileEx.Call(f.Fd(), lockExclusiveAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&where)))
	if ok == 0 {
		return err
	}
	return nil
}

// byteIsFree locks the byte for a moment. Who else tries at that moment takes
// its process for alive, and tries again.
func byteIsFree(f *os.File, at int64) (bool, error) {
	switch err := lockByte(f, at); err {
	case nil:
	case errLockViolation:
		return false, nil
	default:
		return false, err
	}
	where := syscall.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	ok, _, err := unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&where)))
	if ok == 0 {
		return false, err
	}
	return true, nil
}

// inode is not known: what stands in the file tells it from others.
func inode(os.FileInfo) uint64 { return 0 }
