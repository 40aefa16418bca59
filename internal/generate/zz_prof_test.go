package generate

import (
	"context"
	"testing"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/load"
)

func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		Packages(context.Background(), load.Config{Dir: "testdata/golden/library/billing", Patterns: []string{"."}})
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load.Load(context.Background(), load.Config{Dir: "testdata/golden/library/billing", Patterns: []string{"."}})
	}
}

func BenchmarkCheckEmit(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		l, _ := load.Load(context.Background(), load.Config{Dir: "testdata/golden/library/billing", Patterns: []string{"."}})
		b.StartTimer()
		ps, _ := check.Packages(l.Packages, l.Dependencies)
		var r Result
		for _, p := range ps {
			r.add(p)
		}
	}
}
