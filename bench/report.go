package main

import (
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"time"
)

// print writes what was measured, and then what it comes to.
func (c *contest) print(out io.Writer) {
	fmt.Fprintf(out, "four steps, %d rounds of %v\tat once\tper second\tp50\tp99\tof this process\n", c.plan.rounds, c.plan.window)
	for _, n := range concurrencies {
		for i, k := range kinds {
			l := c.loads[n][i]
			fmt.Fprintf(out, "%s\t%d\t%.0f\t%.2f ms\t%.2f ms\t%.0f µs\n", k.name, n,
				medianOf(l, load.rate), medianOf(l, p50), medianOf(l, p99), medianOf(l, load.each))
		}
	}
	fmt.Fprintf(out, "\nduplicates\tat once\tper second\n")
	for i, k := range kinds {
		fmt.Fprintf(out, "%s\t64\t%.0f\n", k.name, medianOf(c.duplicates[i], load.rate))
	}
	fmt.Fprintf(out, "\nof one execution\tat once\tstatements\tcommits\tlog bytes\tallocations\tbytes\n")
	for _, n := range []int{1, 64} {
		for i, k := range kinds {
			cost := c.costs[n][i]
			if k.sql {
				fmt.Fprintf(out, "%s\t%d\t%.1f\t%.2f\t%.0f\t%.0f\t%.0f\n", k.name, n, cost.statements, cost.commits, cost.wal, cost.allocs, cost.bytes)
			} else {
				fmt.Fprintf(out, "%s\t%d\t\t\t\t%.0f\t%.0f\n", k.name, n, cost.allocs, cost.bytes)
			}
		}
	}
	fmt.Fprintf(out, "\nfigure of %s\tof\tis\tto reach\t\n", onPostgres)
	for _, t := range targets {
		is := math.Round(t.is(c)*100) / 100
		fmt.Fprintf(out, "%s\t%s\t%.2f\t%s\t%s\n", t.figure, t.of, is, t.bound(), t.verdict(is))
	}
}

// target is a figure to reach: at least, or at most, bar.
type target struct {
	figure, of string
	atMost     bool
	bar        float64
	is         func(c *contest) float64
}

var targets = []target{
	{"executions/s, 64 at once", byDBOS, false, 10, rateTo(64, onPostgres, byDBOS)},
	{"executions/s, 64 at once", byLoop, false, 2.3, rateTo(64, onPostgres, byLoop)},
	{"executions/s, 64 at once", byGroup, false, 0.75, rateTo(64, onPostgres, byGroup)},
	{"executions/s, 256 at once", byGroup, false, 0.75, rateTo(256, onPostgres, byGroup)},
	{"executions/s, 16 at once", byDBOS, false, 4, rateTo(16, onPostgres, byDBOS)},
	{"executions/s, 16 at once", byGroup, false, 0.8, rateTo(16, onPostgres, byGroup)},
	{"p50, one at a time", byLoop, true, 1.2, latencyTo(1, p50, byLoop)},
	{"p99, 64 at once", byDBOS, true, 0.25, latencyTo(64, p99, byDBOS)},
	{"duplicates/s, 64 at once", byDBOS, false, 5, func(c *contest) float64 {
		return medianRatio(c.duplicates[position(onPostgres)], c.duplicates[position(byDBOS)], load.rate)
	}},
	{"statements, one at a time", "", true, 7, func(c *contest) float64 {
		return math.Round(c.costs[1][position(onPostgres)].statements*10) / 10 // polls and renewals come to less
	}},
	{"log bytes, one at a time", byLoop, true, 1.5, func(c *contest) float64 {
		return c.costs[1][position(onPostgres)].wal / c.costs[1][position(byLoop)].wal
	}},
	{"commits, 64 at once", "", true, 1, func(c *contest) float64 { return c.costs[64][position(onPostgres)].commits }},
	{"executions/s of " + onSQLite + ", 64 at once", onPostgres, false, 1, rateTo(64, onSQLite, onPostgres)},
}

func (t target) bound() string {
	if t.atMost {
		return fmt.Sprintf("≤ %g", t.bar)
	}
	return fmt.Sprintf("≥ %g", t.bar)
}

func (t target) verdict(is float64) string {
	if t.atMost && is <= t.bar || !t.atMost && is >= t.bar {
		return "reached"
	}
	return "MISSED"
}

func rateTo(atOnce int, of, to string) func(c *contest) float64 {
	return func(c *contest) float64 {
		return medianRatio(c.loads[atOnce][position(of)], c.loads[atOnce][position(to)], load.rate)
	}
}

func latencyTo(atOnce int, latency func(load) float64, to string) func(c *contest) float64 {
	return func(c *contest) float64 {
		return medianRatio(c.loads[atOnce][position(onPostgres)], c.loads[atOnce][position(to)], latency)
	}
}

func p50(l load) float64 { return milliseconds(l.quantile(0.5)) }

func p99(l load) float64 { return milliseconds(l.quantile(0.99)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// position finds a kind by its name.
func position(name string) int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
}

func medianOf(loads []load, figure func(load) float64) float64 {
	values := make([]float64, len(loads))
	for i, l := range loads {
		values[i] = figure(l)
	}
	return median(values)
}

// medianRatio compares round by round, so that a busy moment counts on both
// sides.
func medianRatio(loads, base []load, figure func(load) float64) float64 {
	values := make([]float64, len(loads))
	for i := range loads {
		values[i] = figure(loads[i]) / figure(base[i])
	}
	return median(values)
}

// withDatabase is a server's address with another database.
func withDatabase(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("read address of server: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}
