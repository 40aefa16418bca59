package codec

import (
	"bytes"
	"sync"
)

// scratchSize is what most encodings fit in, in bytes.
const scratchSize = 4 << 10

// scratch holds buffers, so that an encoding takes no memory while it grows.
var scratch = sync.Pool{New: func() any { return new([scratchSize]byte) }}

// Encode returns the encoding of *v, which appendTo appends to dst and must
// not keep: in memory of its own and, unless it is large, of just its size.
func Encode[T any](v *T, appendTo func(dst []byte, v *T) ([]byte, error)) ([]byte, error) {
	buf := scratch.Get().(*[scratchSize]byte)
	defer scratch.Put(buf)
	data, err := appendTo(buf[:0], v)
	if err != nil {
		return nil, err
	}
	if cap(data) > scratchSize { // it has grown out of buf
		return data, nil
	}
	return bytes.Clone(data), nil
}
