package codec

import (
	"math"
	"strconv"
	"testing"
)

func TestDigitsAreThoseOfStrconv(t *testing.T) {
	numbers := []uint64{0, math.MaxUint64, math.MaxInt64, 1 << 63}
	for _, p := range powers {
		numbers = append(numbers, p-1, p, p+1, p/2*3)
	}
	for bits := range 64 {
		numbers = append(numbers, 1<<bits-1, 1<<bits)
	}
	var b [maxDigits]byte
	for _, v := range numbers {
		if got, want := string(b[:putDigits(b[:], v)]), strconv.FormatUint(v, 10); got != want {
			t.Errorf("have %s, want %s", got, want)
		}
	}
	for _, v := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		var e Encoder
		e.Int("k:", v)
		if want := "k:" + strconv.FormatInt(v, 10); string(e.buf) != want {
			t.Errorf("have %s, want %s", e.buf, want)
		}
	}
}
