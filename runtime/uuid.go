package restaq

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// idSource makes UUIDs of version 7 (RFC 9562) that grow: within one process
// no later id sorts before an earlier one.
type idSource struct {
	mu   sync.Mutex
	last uint64 // 48 bits of milliseconds, 12 bits of counter
}

// next returns a new id.
func (s *idSource) next(now time.Time) string {
	var u [16]byte
	rand.Read(u[:]) // never fails
	// The counter begins at a random value below 2¹¹, so that it has room to
	// grow within a millisecond; overflowing, it borrows from the next one.
	stamp := uint64(now.UnixMilli())<<12 | uint64(binary.BigEndian.Uint16(u[6:])&0x7ff)
	s.mu.Lock()
	if stamp <= s.last {
		stamp = s.last + 1
	}
	s.last = stamp
	s.mu.Unlock()

	binary.BigEndian.PutUint64(u[:8], stamp<<4) // the top 60 bits: time, counter
	u[6], u[7] = 0x70|byte(stamp>>8)&0x0f, byte(stamp)
	u[8] = 0x80 | u[8]&0x3f

	var text [36]byte
	hex.Encode(text[0:8], u[0:4])
	hex.Encode(text[9:13], u[4:6])
	hex.Encode(text[14:18], u[6:8])
	hex.Encode(text[19:23], u[8:10])
	hex.Encode(text[24:36], u[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
