//go:build !(linux || darwin || windows)

package sqlite

import (
	"errors"
	"os"
)

// Locks that end with the process and are seen by all others, those of the
// same process among them, are not known here: leases run out.

func local(*os.File) bool { return false }

func lockByte(*os.File, int64) error { return errors.ErrUnsupported }

func byteIsFree(*os.File, int64) (bool, error) { return false, errors.ErrUnsupported }

func inode(os.FileInfo) uint64 { return 0 }
