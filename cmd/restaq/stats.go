package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

func statsCommand(a *app) *cobra.Command {
	var since, until string
	var from, to time.Time
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats [--since T] [--until T] [--json]",
		Short: "Count deliveries, refusals and attempts, with latencies",
		Long: `Count what processes on this store did over a time, an hour unless --since says
otherwise: attempts by handler and outcome, and how long they took (half of them
less than P50, and so on; the bounds are about 41 % apart); deliveries by source
and result; requests that were refused, by reason. And say how many executions
stand where just now; counting stops at 10,000.

Each process writes its counts once a minute, so the last one may be missing.
Counts are kept for 31 days.

Times are RFC 3339, or how long ago, such as 90m or 7d.`,
		Example: `  restaq stats
  restaq stats --since 7d
  restaq stats --since 24h --json | jq '.handlers[] | select(.dead > 0)'`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			now := time.Now()
			if from, err = parseTime(since, now); err != nil {
				return fmt.Errorf("--since %w", err)
			}
			if to, err = parseTime(until, now); err != nil {
				return fmt.Errorf("--until %w", err)
			}
			if to.IsZero() {
				to = now.Add(time.Minute) // the minute under way
			}
			if !from.Before(to) {
				return errors.New("--since must be before --until")
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error {
			s, err := readStats(ctx, rt, from, to)
			if err != nil {
				return err
			}
			if asJSON {
				return a.json(s)
			}
			a.stats(s)
			return nil
		}),
	}
	cmd.Flags().StringVar(&since, "since", "1h", "from this `time` on")
	cmd.Flags().StringVar(&until, "until", "", "before this `time`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// stats is what the verb of that name prints.
type stats struct {
	Since      time.Time      `json:"since"`
	Until      time.Time      `json:"until"`
	Handlers   []handlerStats `json:"handlers"`
	Sources    []sourceStats  `json:"sources"`
	Refusals   []refusalStats `json:"refusals"`
	Executions []statusStats  `json:"executions"` // just now
}

// handlerStats counts a handler's attempts. Quantiles are in milliseconds, and
// null if there is none or it is above all bounds.
type handlerStats struct {
	Handler     string   `json:"handler"`
	Completed   int64    `json:"completed"`
	Retrying    int64    `json:"retrying"`
	Dead        int64    `json:"dead"`
	Interrupted int64    `json:"interrupted"`
	P50         *float64 `json:"p50ms"`
	P95         *float64 `json:"p95ms"`
	P99         *float64 `json:"p99ms"`

	buckets map[int]int64
}

type sourceStats struct {
	Source    string `json:"source"`
	Accepted  int64  `json:"accepted"`
	Duplicate int64  `json:"duplicate"`
	Unhandled int64  `json:"unhandled"`
	Failed    int64  `json:"failed"`
	Refused   int64  `json:"refused"`
}

type refusalStats struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

type statusStats struct {
	Status string `json:"status"`
	Count  int    `json:"count"`
	More   bool   `json:"more"` // than Count
}

// readStats counts.
func readStats(ctx context.Context, rt *restaq.Runtime, from, to time.Time) (*stats, error) {
	from, to = from.UTC().Truncate(time.Minute), to.UTC().Truncate(time.Minute)
	span := max(to.Sub(from), time.Minute) // so that there is one sum, or two
	counts, err := rt.Counts(ctx, from, to, span)
	if err != nil {
		return nil, err
	}
	handlers, sources := map[string]*handlerStats{}, map[string]*sourceStats{}
	refusals := map[[2]string]int64{}
	source := func(name string) *sourceStats {
		if sources[name] == nil {
			sources[name] = &sourceStats{Source: name}
		}
		return sources[name]
	}
	for i := range counts {
		c := &counts[i]
		switch c.Kind {
		case restaq.CountAttempt:
			if handlers[c.Name] == nil {
				handlers[c.Name] = &handlerStats{Handler: c.Name, buckets: map[int]int64{}}
			}
			handlers[c.Name].add(c)
		case restaq.CountDelivery:
			source(c.Name).add(c)
		case restaq.CountRefusal:
			source(c.Name).Refused += c.N
			refusals[[2]string{c.Name, c.Result}] += c.N
		}
	}
	s := &stats{Since: from, Until: to, Handlers: []handlerStats{}, Sources: []sourceStats{}, Refusals: []refusalStats{}}
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		h := handlers[name]
		h.P50, h.P95, h.P99 = h.quantile(0.5), h.quantile(0.95), h.quantile(0.99)
		s.Handlers = append(s.Handlers, *h)
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		s.Sources = append(s.Sources, *sources[name])
	}
	for of, n := range refusals {
		s.Refusals = append(s.Refusals, refusalStats{of[0], of[1], n})
	}
	slices.SortFunc(s.Refusals, func(a, b refusalStats) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), strings.Compare(a.Source, b.Source), strings.Compare(a.Reason, b.Reason))
	})
	for _, status := range []string{"pending", "running", "retrying", "dead"} {
		n, err := rt.Count(ctx, restaq.Filter{Statuses: []string{status}}, mostCounted+1)
		if err != nil {
			return nil, err
		}
		s.Executions = append(s.Executions, statusStats{status, min(n, mostCounted), n > mostCounted})
	}
	return s, nil
}

func (h *handlerStats) add(c *restaq.Count) {
	switch c.Result {
	case "completed":
		h.Completed += c.N
	case "retrying":
		h.Retrying += c.N
	case "dead":
		h.Dead += c.N
	case "interrupted":
		h.Interrupted += c.N
		return // how long it would have taken is not known
	}
	h.buckets[c.Bucket] += c.N
}

func (s *sourceStats) add(c *restaq.Count) {
	switch c.Result {
	case "accepted":
		s.Accepted += c.N
	case "duplicate":
		s.Duplicate += c.N
	case "unhandled":
		s.Unhandled += c.N
	case "failed":
		s.Failed += c.N
	}
}

// quantile returns a bound, in milliseconds, that this part of the attempts
// stayed below.
func (h *handlerStats) quantile(part float64) *float64 {
	var all, below int64
	for _, n := range h.buckets {
		all += n
	}
	for _, bucket := range slices.Sorted(maps.Keys(h.buckets)) {
		below += h.buckets[bucket]
		if float64(below) >= part*float64(all) {
			bound := restaq.LatencyBound(bucket)
			if bound == math.MaxInt64 {
				return nil
			}
			ms := math.Round(float64(bound)/float64(time.Microsecond)) / 1000
			return &ms
		}
	}
	return nil
}

// stats prints tables.
func (a *app) stats(s *stats) {
	handlers := &table{header: []string{"HANDLER", "COMPLETED", "RETRYING", "DEAD", "INTERRUPTED", "P50", "P95", "P99"}, painted: -1, flexible: []int{0}}
	var rows [][]string
	for i := range s.Handlers {
		h := &s.Handlers[i]
		rows = append(rows, []string{clean(h.Handler), number(h.Completed), number(h.Retrying), number(h.Dead), number(h.Interrupted), bound(h.P50), bound(h.P95), bound(h.P99)})
	}
	a.section(handlers, rows)
	rows = nil
	for i := range s.Sources {
		c := &s.Sources[i]
		rows = append(rows, []string{clean(c.Source), number(c.Accepted), number(c.Duplicate), number(c.Unhandled), number(c.Failed), number(c.Refused)})
	}
	a.section(&table{header: []string{"SOURCE", "ACCEPTED", "DUPLICATE", "UNHANDLED", "FAILED", "REFUSED"}, painted: -1, flexible: []int{0}}, rows)
	rows = nil
	for _, r := range s.Refusals {
		rows = append(rows, []string{clean(r.Source), number(r.Count), clean(r.Reason)})
	}
	a.section(&table{header: []string{"SOURCE", "REFUSED", "REASON"}, painted: -1, flexible: []int{0, 2}}, rows)
	rows = nil
	for _, e := range s.Executions {
		n := e.Count
		if e.More {
			n++
		}
		rows = append(rows, []string{e.Status, counted(n)})
	}
	a.page(&table{header: []string{"NOW", "EXECUTIONS"}, painted: 0}, rows)
}

// section prints a table, if it has rows, and an empty line.
func (a *app) section(t *table, rows [][]string) {
	if len(rows) > 0 {
		a.page(t, rows)
		a.print("")
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// bound writes a quantile: "<12ms", or "-" if there is none.
func bound(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return "<" + brief(time.Duration(*ms*float64(time.Millisecond)))
}
