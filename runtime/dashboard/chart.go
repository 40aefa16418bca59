package dashboard

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// unsupported reports whether a store just does not have what was asked for.
func unsupported(err error) bool { return errors.Is(err, restaq.ErrUnsupported) }

// grid is a time in equal steps.
type grid struct {
	from time.Time
	step time.Duration
	n    int
}

func newGrid(from time.Time, s span) grid { return grid{from, s.step, s.n} }

// at returns the step that a time is in.
func (g grid) at(t time.Time) (int, bool) {
	i := int(t.Sub(g.from) / g.step)
	return i, i >= 0 && i < g.n && !t.Before(g.from)
}

// label names a step: its beginning.
func (g grid) label(i int) string {
	return g.from.Add(time.Duration(i) * g.step).UTC().Format("2006-01-02 15:04")
}

// table is numbers by series and step.
type table map[string][]int64

func (g grid) table() table { return table{"": make([]int64, g.n)} }

func (t table) add(series string, at int, n int64) {
	if t[series] == nil {
		t[series] = make([]int64, len(t[""]))
	}
	t[series][at] += n
}

func (t table) sum(series string) (sum int64) {
	for _, n := range t[series] {
		sum += n
	}
	return sum
}

// series is a part of stacked bars.
type series struct{ Name, Class string }

// Charts are drawn 1000 wide and stretched to the place they get.
const chartWidth, chartHeight = 1000.0, 100.0

// bars is a chart of stacked bars.
type bars struct {
	Title  string
	Max    int64 // the highest bar
	Label  string
	Parts  []part
	Legend []legend
	Total  int64
}

// part is a rectangle of a chart.
type part struct{ X, Y, W, H, Class, Title string }

// legend says what a colour means.
type legend struct {
	series
	N int64
}

// bars draws the table's series one on top of the other.
func (t table) bars(title string, all []series, g grid) bars {
	b := bars{Title: title}
	sums := make([]int64, g.n)
	for _, s := range all {
		n := t.sum(s.Name)
		b.Total += n
		b.Legend = append(b.Legend, legend{s, n})
		for i, n := range t[s.Name] {
			sums[i] += n
			b.Max = max(b.Max, sums[i])
		}
	}
	b.Label = describe(title, b.Legend)
	width := chartWidth / float64(g.n)
	base := make([]int64, g.n)
	for _, s := range all {
		for i, n := range t[s.Name] {
			if n == 0 {
				continue
			}
			h := chartHeight * float64(n) / float64(b.Max)
			top := chartHeight * (1 - float64(base[i]+n)/float64(b.Max))
			base[i] += n
			b.Parts = append(b.Parts, part{
				num(float64(i)*width + width*0.08), num(top), num(width * 0.84), num(math.Max(h, 1)), s.Class,
				fmt.Sprintf("%s UTC: %s %s", g.label(i), grouped(n), s.Name),
			})
		}
	}
	return b
}

// describe says a chart in words.
func describe(title string, all []legend) string {
	var parts []string
	for _, l := range all {
		if l.N > 0 {
			parts = append(parts, grouped(l.N)+" "+l.Name)
		}
	}
	if len(parts) == 0 {
		return title + ": none"
	}
	return title + ": " + strings.Join(parts, ", ")
}

// num is a coordinate.
func num(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// lines is a chart of two quantiles of durations, on a logarithmic scale: what
// matters is whether something takes ten times as long.
type lines struct {
	Label    string
	P50, P95 string // paths
	Low, Top string // durations at the lower and upper edge
}

func latency(label string, steps []map[int]int64, g grid) lines {
	l := lines{Label: label + ": none"}
	type point struct{ p50, p95 float64 }
	points := make([]point, g.n)
	low, top := math.Inf(1), math.Inf(-1)
	scale := func(d time.Duration) float64 {
		return math.Log(float64(min(d, restaq.LatencyBound(lastBound))) / float64(time.Millisecond))
	}
	for i, buckets := range steps {
		if len(buckets) == 0 {
			continue
		}
		p := point{scale(quantile(buckets, 0.5)), scale(quantile(buckets, 0.95))}
		points[i] = p
		low, top = math.Min(low, p.p50), math.Max(top, p.p95)
	}
	if math.IsInf(low, 1) {
		return l
	}
	low, top = low-math.Ln2, top+math.Ln2
	back := func(v float64) string { return took(time.Duration(math.Exp(v) * float64(time.Millisecond))) }
	l.Low, l.Top = back(low), back(top)
	l.Label = fmt.Sprintf("%s: between %s and %s", label, l.Low, l.Top)
	path := func(value func(point) float64) string {
		var b strings.Builder
		width, down := chartWidth/float64(g.n), false
		for i, buckets := range steps {
			if len(buckets) == 0 {
				down = false
				continue
			}
			y := num(chartHeight * (1 - (value(points[i])-low)/(top-low)))
			if !down {
				fmt.Fprintf(&b, "M%s %s", num(float64(i)*width), y)
			}
			fmt.Fprintf(&b, "L%s %sH%s", num(float64(i)*width), y, num(float64(i+1)*width))
			down = true
		}
		return b.String()
	}
	l.P50, l.P95 = path(func(p point) float64 { return p.p50 }), path(func(p point) float64 { return p.p95 })
	return l
}
