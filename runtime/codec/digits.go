package codec

import "math/bits"

// pairs are the numbers below 100, of two digits each.
const pairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// putPair writes a number below 100 in two digits.
func putPair(b []byte, v uint64) { b[0], b[1] = pairs[2*v], pairs[2*v+1] }

// maxDigits is how many digits an integer of 64 bits can have.
const maxDigits = 20

// powers are those of ten.
var powers = func() (p [maxDigits]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// putDigits writes v to the beginning of b, and returns how many digits it has.
func putDigits(b []byte, v uint64) int {
	n := bits.Len64(v|1) * 1233 >> 12 // times the logarithm of 2
	if v >= powers[n] {
		n++
	}
	n = max(n, 1)
	i := n
	for ; i >= 2; i -= 2 {
		putPair(b[i-2:i], v%100)
		v /= 100
	}
	if i == 1 {
		b[0] = '0' + byte(v)
	}
	return n
}
