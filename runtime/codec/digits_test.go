package codec

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
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

func TestTimesAreThoseOfPackageTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zero := time.FixedZone("somewhere", 0)
	for range 10_000 {
		nanoseconds := r.Uint64N(1e9)
		nanoseconds -= nanoseconds % powers[r.IntN(10)]
		at := time.Unix(r.Int64N(1<<39)-1<<37, int64(nanoseconds))
		for _, at := range []time.Time{at.UTC(), at.In(zero), at.In(time.FixedZone("", 5400)), at.In(time.FixedZone("", -61))} {
			var e Encoder
			e.Time("", &at)
			want, err := at.MarshalJSON()
			if (err == nil) != (e.err == nil) || err == nil && string(e.buf) != string(want) {
				t.Fatalf("%v: have %s, %v; want %s, %v", at, e.buf, e.err, want, err)
			}
		}
	}
}
