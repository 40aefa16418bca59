//go:build !race

package corpus

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/restaq/restaq/runtime/codec"
)

// Under the race detector sync.Pool forgets at random, so that allocations are
// counted without it.

// One string that is kept keeps little of what it came with.
func TestDecodedStringsShareSmallPieces(t *testing.T) {
	long := strings.Repeat("x", 100)
	text, err := json.Marshal(slices.Repeat([]string{long}, 1000))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	allocs := testing.AllocsPerRun(10, func() {
		list = nil
		if err := codec.Reader(func(d *codec.Decoder, v *[]string) { codec.DecodeSlice(d, v, codec.DecodeString) })(text, &list); err != nil {
			t.Fatal(err)
		}
	})
	if most := 1000.0*100/4000 + 30; allocs > most || len(list) != 1000 || list[999] != long {
		t.Errorf("%v allocations for %d strings, want at most %v", allocs, len(list), most)
	}
}

// Encoding allocates its result and nothing else.
func TestEncodingAllocatesOnce(t *testing.T) {
	v := Leaf{ID: "a", Score: 1.5}
	appendTo := codec.Appender(encodeLeaf)
	if allocs := testing.AllocsPerRun(100, func() { _, _ = appendTo(nil, &v) }); allocs > 1 {
		t.Errorf("%v allocations", allocs)
	}
	dst := make([]byte, 0, 100)
	if allocs := testing.AllocsPerRun(100, func() { _, _ = appendTo(dst, &v) }); allocs > 0 {
		t.Errorf("%v allocations where there is room", allocs)
	}
}
