package codec

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func TestTimesAreWrittenAsByPackageTime(t *testing.T) {
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

func TestTimesAreReadAsByPackageTime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{`"2024-02-29T23:59:59Z"`, `"2023-02-29T00:00:00Z"`, `"2024-04-31T00:00:00Z"`, `"0000-01-01T00:00:00Z"`, `"2024-01-01T00:00:00.Z"`,
		`"2024-01-01T00:00:00.123456789Z"`, `"2024-01-01T00:00:00.1234567891Z"`, `"2024-01-01T00:00:60Z"`, `"2024-01-01T24:00:00Z"`, `"2024-01-01T00:00:00+01:30"`}
	const letters = `0123456789-:.TZ+ "`
	for _, text := range texts {
		checkTime(t, text)
		for range 20_000 {
			damaged := []byte(text)
			for range 1 + r.IntN(2) {
				damaged[r.IntN(len(damaged))] = letters[r.IntN(len(letters))]
			}
			checkTime(t, string(damaged[:len(damaged)-r.IntN(2)*r.IntN(5)]))
		}
	}
}

func checkTime(t *testing.T, text string) {
	t.Helper()
	var got, want time.Time
	err := Reader(DecodeTime)([]byte(text), &got)
	wantErr := want.UnmarshalJSON([]byte(text))
	if wantErr != nil {
		want = time.Time{}
	}
	if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: have %v, %v; want %v, %v", text, got, err, want, wantErr)
	}
}
