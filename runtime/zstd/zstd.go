// Package zstd compresses large payloads and outputs in a restaq store by
// Zstandard (RFC 8878):
//
//	restaq.New(store, restaq.Config{Compressor: zstd.New()})
//
// It is a package of its own so that package restaq needs nothing but the
// standard library.
package zstd

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Compressor is a restaq.Compressor. It is safe for concurrent use.
type Compressor struct{ encoder *zstd.Encoder }

// New returns a compressor at the library's default level.
func New() *Compressor {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		panic(fmt.Sprintf("zstd: the default options are refused: %v", err))
	}
	return &Compressor{encoder}
}

// Name returns "zstd".
func (*Compressor) Name() string { return "zstd" }

// Compress appends src, compressed, to dst.
func (c *Compressor) Compress(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst), nil
}

// Decompress appends what src holds to dst. It fails without using much memory
// if that is more than limit bytes.
func (*Compressor) Decompress(dst, src []byte, limit int) ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 1))))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	plain, err := decoder.DecodeAll(src, nil)
	if err == nil && len(plain) > limit {
		err = errors.New("it is larger than allowed")
	}
	if err != nil {
		return nil, err
	}
	return append(dst, plain...), nil
}
