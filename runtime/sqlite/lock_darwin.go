package sqlite

import (
	"os"
	"syscall"
)

// F_OFD_SETLK and F_OFD_GETLK, which package syscall does not name.
const setLock, getLock = 90, 92

const mountLocal = 0x1000 // MNT_LOCAL

// local reports whether the file system is this machine's own.
func local(f *os.File) bool {
	var stat syscall.Statfs_t
	err := syscall.Fstatfs(int(f.Fd()), &stat)
	return err == nil && stat.Flags&mountLocal != 0
}
