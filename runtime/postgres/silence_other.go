//go:build !linux

package postgres

import "syscall"

// boundSilence does nothing: here only the probes of an idle connection notice
// that the other side is out of reach.
func boundSilence(string, string, syscall.RawConn) error { return nil }
