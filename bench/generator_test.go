package main

import (
	"slices"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		times []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{7}, 7},
		{[]time.Duration{9, 1, 5}, 5},
		{[]time.Duration{1, 1, 100, 1, 1}, 1},
	} {
		if got := median(test.times); got != test.want {
			t.Errorf("median(%v) = %v, want %v", test.times, got, test.want)
		}
	}
}

func TestRatiosCompareRunByRun(t *testing.T) {
	got := ratios([]time.Duration{2, 20, 3}, []time.Duration{1, 10, 2})
	if want := []float64{2, 2, 1.5}; !slices.Equal(got, want) {
		t.Errorf("ratios = %v, want %v", got, want)
	}
}

func TestVerdictIsTheGeneratorsAlone(t *testing.T) {
	for _, test := range []struct {
		name  string
		ratio float64
		want  string
	}{
		{"restaqgen", 1.5, "≤ 1.5: kept"},
		{"restaqgen", 1.51, "≤ 1.5: MISSED"},
		{"moq", 2, ""},
	} {
		if got := verdict(test.name, test.ratio); got != test.want {
			t.Errorf("verdict(%s, %g) = %q, want %q", test.name, test.ratio, got, test.want)
		}
	}
}
