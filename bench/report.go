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
		for i, k := range c.kinds {
			l := c.loads[n][i]
			fmt.Fprintf(out, "%s\t%d\t%.0f\t%.2f ms\t%.2f ms\t%.0f µs\n", k.name, n,
				medianOf(l, load.rate), medianOf(l, p50), medianOf(l, p99), medianOf(l, load.each))
		}
	}
	fmt.Fprintf(out, "\nduplicates\tat once\tper second\n")
	for i, k := range c.kinds {
		fmt.Fprintf(out, "%s\t64\t%.0f\n", k.name, medianOf(c.duplicates[i], load.rate))
	}
	fmt.Fprintf(out, "\nof one execution\tat once\tstatements\tcommits\tlog bytes\tallocations\tbytes\n")
	for _, n := range []int{1, 64} {
		for i, k := range c.kinds {
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
		if !c.has(t) {
			continue
		}
		is := math.Round(t.is(c)*100) / 100
		fmt.Fprintf(out, "%s\t%s\t%.2f\t%s\t%s\n", t.figure, t.of, is, t.bound(), t.verdict(is))
	}
}

// target is a figure to reach: at least, or at most, bar. name is whose, of
// whose it is compared with.
type target struct {
	name, figure, of string
	atMost           bool
	bar              float64
	is               func(c *contest) float64
}

var targets = []target{
	{onPostgres, "executions/s, 64 at once", byDBOS, false, 10, rateTo(64, onPostgres, byDBOS)},
	{onPostgres, "executions/s, 64 at once", byLoop, false, 2.3, rateTo(64, onPostgres, byLoop)},
	{onPostgres, "executions/s, 64 at once", byGroup, false, 0.75, rateTo(64, onPostgres, byGroup)},
	{onPostgres, "executions/s, 256 at once", byGroup, false, 0.75, rateTo(256, onPostgres, byGroup)},
	{onPostgres, "executions/s, 16 at once", byDBOS, false, 4, rateTo(16, onPostgres, byDBOS)},
	{onPostgres, "executions/s, 16 at once", byGroup, false, 0.8, rateTo(16, onPostgres, byGroup)},
	{onPostgres, "p50, one at a time", byLoop, true, 1.2, latencyTo(1, p50, byLoop)},
	{onPostgres, "p99, 64 at once", byDBOS, true, 0.25, latencyTo(64, p99, byDBOS)},
	{onPostgres, "duplicates/s, 64 at once", byDBOS, false, 5, func(c *contest) float64 {
		return medianRatio(of(c, c.duplicates, onPostgres), of(c, c.duplicates, byDBOS), load.rate)
	}},
	{onPostgres, "statements, one at a time", "", true, 7, func(c *contest) float64 {
		return math.Round(of(c, c.costs[1], onPostgres).statements*10) / 10 // polls and renewals come to less
	}},
	{onPostgres, "log bytes, one at a time", byLoop, true, 1.5, func(c *contest) float64 {
		return of(c, c.costs[1], onPostgres).wal / of(c, c.costs[1], byLoop).wal
	}},
	{onPostgres, "commits, 64 at once", "", true, 1, func(c *contest) float64 { return of(c, c.costs[64], onPostgres).commits }},
	{onSQLite, "executions/s of " + onSQLite + ", 64 at once", onPostgres, false, 1, rateTo(64, onSQLite, onPostgres)},
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

func rateTo(atOnce int, name, to string) func(c *contest) float64 {
	return func(c *contest) float64 {
		return medianRatio(of(c, c.loads[atOnce], name), of(c, c.loads[atOnce], to), load.rate)
	}
}

func latencyTo(atOnce int, latency func(load) float64, to string) func(c *contest) float64 {
	return func(c *contest) float64 {
		return medianRatio(of(c, c.loads[atOnce], onPostgres), of(c, c.loads[atOnce], to), latency)
	}
}

func p50(l load) float64 { return milliseconds(l.quantile(0.5)) }

func p99(l load) float64 { return milliseconds(l.quantile(0.99)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// of returns the figures of a subject, the zero ones if it was left out.
func of[T any](c *contest, figures []T, name string) (figure T) {
	if i := slices.IndexFunc(c.kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		figure = figures[i]
	}
	return figure
}

// has reports whether the subjects of a target were measured.
func (c *contest) has(t target) bool {
	for _, name := range []string{t.name, t.of} {
		if name != "" && !slices.ContainsFunc(c.kinds, func(k kind) bool { return k.name == name }) {
			return false
		}
	}
	return true
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
