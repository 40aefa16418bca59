package codecs

import (
	"encoding/json"
	"testing"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"

	"github.com/restaq/restaq/bench/codecs/twin"
	"github.com/restaq/restaq/runtime/codec"
)

// library is a JSON library as it is measured.
type library struct {
	name      string
	marshal   func(v any) ([]byte, error)
	unmarshal func(data []byte, v any) error
}

var libraries = []library{
	{"encoding-json", json.Marshal, json.Unmarshal},
	{"goccy", goccy.Marshal, goccy.Unmarshal},
	{"sonic", sonic.ConfigFastest.Marshal, sonic.ConfigFastest.Unmarshal},
	{"sonic-std", sonic.ConfigStd.Marshal, sonic.ConfigStd.Unmarshal},
}

func BenchmarkPullRequest(b *testing.B) {
	data := Shuffled(Encoded(Sample[twin.PullRequestOpened]()))
	ours(b, "restaq", data, encodeTwinPullRequestOpened, decodeTwinPullRequestOpened)
	ours(b, "restaq-event", data, encodeGithubPullRequestOpened, decodeGithubPullRequestOpened)
	others(b, data, func() any { return new(twin.PullRequestOpened) })
}

func BenchmarkCharge(b *testing.B) {
	data := Shuffled(Encoded(Sample[twin.StripeChargeSucceeded]()))
	ours(b, "restaq", data, encodeTwinStripeChargeSucceeded, decodeTwinStripeChargeSucceeded)
	ours(b, "restaq-event", data, encodeStripeChargeSucceeded, decodeStripeChargeSucceeded)
	others(b, data, func() any { return new(twin.StripeChargeSucceeded) })
}

func BenchmarkReceipt(b *testing.B) {
	data := Encoded(SampleReceipt())
	ours(b, "restaq", data, encodeReceipt, decodeReceipt)
	others(b, data, func() any { return new(Receipt) })
}

// ours measures generated codecs: "restaq" for the twin that all libraries get,
// "restaq-event" for the type of an event package.
func ours[T any](b *testing.B, name string, data []byte, encode func(*codec.Encoder, string, *T), decode func(*codec.Decoder, *T)) {
	appendTo, read := codec.Appender(encode), codec.Reader(decode)
	b.Run("decode/"+name, func(b *testing.B) {
		Measure(b, data, func() error { return read(data, new(T)) })
	})
	var v T
	if err := read(data, &v); err != nil {
		b.Fatal(err)
	}
	b.Run("encode/"+name, func(b *testing.B) {
		Measure(b, data, func() error { _, err := appendTo(nil, &v); return err })
	})
}

// others measures the libraries.
func others(b *testing.B, data []byte, twin func() any) {
	v := twin()
	if err := json.Unmarshal(data, v); err != nil {
		b.Fatal(err)
	}
	for _, lib := range libraries {
		b.Run("decode/"+lib.name, func(b *testing.B) {
			Measure(b, data, func() error { return lib.unmarshal(data, twin()) })
		})
		b.Run("encode/"+lib.name, func(b *testing.B) {
			Measure(b, data, func() error { _, err := lib.marshal(v); return err })
		})
	}
}
