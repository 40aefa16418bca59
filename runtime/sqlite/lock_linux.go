package sqlite

import (
	"os"
	"syscall"
)

// F_OFD_SETLK and F_OFD_GETLK, which package syscall does not name.
const setLock, getLock = 37, 36

// remote are file systems whose files others may use from elsewhere, by the
// numbers in statfs(2): what one machine locks, another need not see.
var remote = map[int64]bool{
	0x6969:     true, // NFS
	0x517b:     true, // SMB
	0xfe534d42: true, // SMB 2
	0xff534d42: true, // CIFS
	0x01021997: true, // 9P
	0x65735546: true, // FUSE
	0x5346414f: true, // AFS
	0x00c36400: true, // Ceph
	0x0bd00bd0: true, // Lustre
	0x47504653: true, // GPFS
	0x01161970: true, // GFS2
	0x7461636f: true, // OCFS2
}

// local reports whether all users of the file are on this machine.
func local(f *os.File) bool {
	var stat syscall.Statfs_t
	err := syscall.Fstatfs(int(f.Fd()), &stat)
	return err == nil && !remote[int64(uint32(stat.Type))]
}
