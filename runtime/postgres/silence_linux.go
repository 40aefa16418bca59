package postgres

import (
	"strings"
	"syscall"
)

// tcpUserTimeout is the option TCP_USER_TIMEOUT of tcp(7), in milliseconds.
const tcpUserTimeout = 0x12

// boundSilence has a TCP connection break when what was sent has not been
// acknowledged for so long. Without it the kernel goes on sending for a quarter
// of an hour.
func boundSilence(network, _ string, conn syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	control := conn.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(deadAfter.Milliseconds()))
	})
	if control != nil {
		return control
	}
	return err
}
