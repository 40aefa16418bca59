package zstd_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/restaq/restaq/runtime/zstd"
)

func TestWhatIsCompressedComesBack(t *testing.T) {
	c := zstd.New()
	text := []byte(strings.Repeat(`{"id":"evt_1","amount":1999}`, 10_000))
	packed, err := c.Compress([]byte("before"), text)
	if err != nil || len(packed) > len(text)/10 || !bytes.HasPrefix(packed, []byte("before")) {
		t.Fatalf("%d bytes became %d, %v", len(text), len(packed), err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			plain, err := c.Decompress([]byte("head"), packed[len("before"):], len(text))
			if err != nil || string(plain) != "head"+string(text) {
				t.Errorf("%d bytes came back, %v", len(plain), err)
			}
		})
	}
	all.Wait()
}

func TestABombIsRefused(t *testing.T) {
	c := zstd.New()
	bomb, err := c.Compress(nil, make([]byte, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Decompress(nil, bomb, 1<<20); err == nil {
				b.Fatal("64 MiB are taken where 1 MiB is allowed")
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 32<<20 {
		t.Errorf("refusing it allocates %d bytes", allocated)
	}
	for _, broken := range [][]byte{nil, []byte("no such thing"), bomb[:len(bomb)/2]} {
		if plain, err := c.Decompress(nil, broken, 1<<20); err == nil && len(plain) > 0 {
			t.Errorf("%q holds %d bytes", broken[:min(8, len(broken))], len(plain))
		}
	}
}
