package codecs

import (
	"syscall"
	"testing"
	"time"
)

// Measure measures do, which reads or writes data, by the processor's time that
// it takes, which the rest of the machine does not add to. The first call, in
// which some libraries compile, is not measured.
func Measure(b *testing.B, data []byte, do func() error) {
	if err := do(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	began := processorTime(b)
	for b.Loop() {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(data)), "size")
	b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
}

// processorTime is the processor's time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
