package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// span is a time that the overview can show.
type span struct {
	Name  string // as in the address
	Label string
	step  time.Duration
	n     int // of steps
}

// spans are the times to choose from; the first is shown if none is chosen.
var spans = []span{
	{"1h", "1 hour", time.Minute, 60},
	{"24h", "24 hours", 15 * time.Minute, 96},
	{"7d", "7 days", 2 * time.Hour, 84},
	{"30d", "30 days", 8 * time.Hour, 90},
}

// stuckAfter is how long an execution goes on without an end until it is listed
// as stuck.
const stuckAfter = 15 * time.Minute

// tile is a number that somebody may have to act on.
type tile struct {
	Label, Class string
	Tally        Tally
	Query        string // of the list
	Hint         string
}

// handlerRow is a handler's work in a time.
type handlerRow struct {
	Name               string
	Events             []string
	Attempts, Failures int64
	Rate               string // of failures
	P50, P95           string
	Throughput         bars
	Latency            lines
	Dead               Tally
}

// refusalRow is why requests were refused.
type refusalRow struct {
	Source, Reason string
	N              int64
}

// overviewBody is what the overview shows.
type overviewBody struct {
	Spans      []span
	Span       string
	From, To   time.Time
	Tiles      []tile
	NoCounts   bool
	Deliveries bars
	Attempts   bars
	Handlers   []handlerRow
	Refusals   []refusalRow
	Dead       []restaq.Execution
	Retrying   []restaq.Execution
}

func (s *server) overview(r *http.Request) (string, any, bool, error) {
	chosen := spans[0]
	if name := r.URL.Query().Get("span"); name != "" {
		i := slices.IndexFunc(spans, func(o span) bool { return o.Name == name })
		if i < 0 {
			return "", nil, false, bad("There is no such time to show.")
		}
		chosen = spans[i]
	}
	body, err := shared(&s.facts, "overview "+chosen.Name, func() (*overviewBody, error) { return s.readOverview(r.Context(), chosen) })
	return "Overview", body, true, err
}

// readOverview reads what the overview shows, with the tallies at the same time.
func (s *server) readOverview(ctx context.Context, chosen span) (*overviewBody, error) {
	now := time.Now().UTC()
	last := now.Truncate(chosen.step)
	b := &overviewBody{
		Spans: spans, Span: chosen.Name,
		From: last.Add(-time.Duration(chosen.n-1) * chosen.step), To: last.Add(chosen.step),
	}
	infos, err := s.handlers(ctx)
	if err != nil {
		return nil, err
	}
	b.Tiles = []tile{
		{Label: "Dead", Class: "dead", Query: "status=dead", Hint: "failed for good: they wait for you"},
		{Label: "Retrying", Class: "retrying", Query: "status=retrying", Hint: "failed, and wait for their next attempt"},
		{Label: "Stuck", Class: "stuck", Query: "status=pending&status=running&until=15m", Hint: "neither ended nor waiting for a retry after 15 min"},
		{Label: "Running", Class: "running", Query: "status=running", Hint: "an attempt is under way"},
		{Label: "Pending", Class: "pending", Query: "status=pending", Hint: "wait to be begun"},
	}
	filters := []restaq.Filter{
		{Statuses: []string{"dead"}}, {Statuses: []string{"retrying"}},
		{Statuses: []string{"pending", "running"}, Until: now.Add(-stuckAfter)},
		{Statuses: []string{"running"}}, {Statuses: []string{"pending"}},
	}
	var reads sync.WaitGroup
	for i := range b.Tiles {
		reads.Go(func() { b.Tiles[i].Tally = s.tally(ctx, filters[i]) })
	}
	lists := make([]error, 2)
	reads.Go(func() { b.Dead, lists[0] = s.newest(ctx, infos, filters[0]) })
	reads.Go(func() { b.Retrying, lists[1] = s.newest(ctx, infos, filters[1]) })
	counts, err := s.rt.Counts(ctx, b.From, b.To, chosen.step)
	reads.Wait()
	if unsupported(err) {
		b.NoCounts, err = true, nil
	}
	if err := cmp.Or(err, lists[0], lists[1]); err != nil {
		return nil, err
	}
	b.count(counts, infos, chosen)
	for i := range b.Handlers {
		reads.Go(func() {
			b.Handlers[i].Dead = s.tally(ctx, restaq.Filter{Handler: b.Handlers[i].Name, Statuses: []string{"dead"}})
		})
	}
	reads.Wait()
	return b, nil
}

// newest returns the newest executions that a filter finds, with their errors as
// they are shown.
func (s *server) newest(ctx context.Context, infos []restaq.HandlerInfo, f restaq.Filter) ([]restaq.Execution, error) {
	f.Limit = 5
	page, err := s.rt.List(ctx, f)
	if err != nil {
		return nil, err
	}
	rules := s.rules(infos)
	for i := range page.Executions {
		page.Executions[i].Error = s.errorOf(ctx, rules, &page.Executions[i])
	}
	return page.Executions, nil
}

// The results of deliveries and attempts, as charts stack them from below, with
// the classes of their colours.
var (
	deliverySeries = []series{
		{"accepted", "ok"}, {"duplicate", "quiet"}, {"unhandled", "muted"}, {"failed", "bad"}, {"refused", "warn"},
	}
	attemptSeries = []series{{"completed", "ok"}, {"interrupted", "quiet"}, {"retrying", "warn"}, {"dead", "bad"}}
)

// count makes charts of counts.
func (b *overviewBody) count(counts []restaq.Count, infos []restaq.HandlerInfo, chosen span) {
	grid := newGrid(b.From, chosen)
	deliveries, attempts := grid.table(), grid.table()
	handlers := make(map[string]*handlerCounts)
	for _, info := range infos {
		handlers[info.Name] = &handlerCounts{info: info, results: grid.table(), buckets: make([]map[int]int64, chosen.n)}
	}
	refusals := make(map[refusalRow]int64)
	for _, c := range counts {
		at, ok := grid.at(c.Minute)
		if !ok {
			continue
		}
		switch c.Kind {
		case restaq.CountDelivery:
			deliveries.add(c.Result, at, c.N)
		case restaq.CountRefusal:
			deliveries.add("refused", at, c.N)
			refusals[refusalRow{Source: c.Name, Reason: c.Result}] += c.N
		case restaq.CountAttempt:
			attempts.add(c.Result, at, c.N)
			h := handlers[c.Name]
			if h == nil {
				h = &handlerCounts{info: restaq.HandlerInfo{Name: c.Name}, results: grid.table(), buckets: make([]map[int]int64, chosen.n)}
				handlers[c.Name] = h
			}
			h.add(at, &c)
		}
	}
	b.Deliveries = deliveries.bars("Deliveries", deliverySeries, grid)
	b.Attempts = attempts.bars("Attempts", attemptSeries, grid)
	for _, name := range slices.Sorted(maps.Keys(handlers)) {
		b.Handlers = append(b.Handlers, handlers[name].row(grid))
	}
	for row, n := range refusals {
		row.N = n
		b.Refusals = append(b.Refusals, row)
	}
	slices.SortFunc(b.Refusals, func(a, b refusalRow) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason, b.Reason))
	})
}

// handlerCounts are the counts of one handler.
type handlerCounts struct {
	info    restaq.HandlerInfo
	results table
	buckets []map[int]int64 // by step of time: attempts by latency bucket
	all     map[int]int64
}

func (h *handlerCounts) add(at int, c *restaq.Count) {
	h.results.add(c.Result, at, c.N)
	if c.Bucket == 0 {
		return
	}
	if h.buckets[at] == nil {
		h.buckets[at] = make(map[int]int64)
	}
	if h.all == nil {
		h.all = make(map[int]int64)
	}
	h.buckets[at][c.Bucket] += c.N
	h.all[c.Bucket] += c.N
}

func (h *handlerCounts) row(g grid) handlerRow {
	row := handlerRow{Name: h.info.Name, Events: h.info.Events}
	for result := range h.results {
		row.Attempts += h.results.sum(result)
	}
	row.Failures = h.results.sum("retrying") + h.results.sum("dead")
	if row.Failures > 0 {
		row.Rate = fmt.Sprintf("%.1f%%", 100*float64(row.Failures)/float64(row.Attempts))
	}
	if len(h.all) > 0 {
		row.P50, row.P95 = below(quantile(h.all, 0.5)), below(quantile(h.all, 0.95))
	}
	row.Throughput = h.results.bars("Attempts of "+h.info.Name, attemptSeries, g)
	row.Latency = latency("Duration of attempts of "+h.info.Name, h.buckets, g)
	return row
}

// quantile returns the duration that the share q took less than.
func quantile(buckets map[int]int64, q float64) time.Duration {
	total := int64(0)
	for _, n := range buckets {
		total += n
	}
	seen := int64(0)
	for _, bucket := range slices.Sorted(maps.Keys(buckets)) {
		if seen += buckets[bucket]; float64(seen) >= q*float64(total) {
			return restaq.LatencyBound(bucket)
		}
	}
	return 0
}

// below is a bound of a quantile for people.
func below(d time.Duration) string {
	if top := restaq.LatencyBound(lastBound); d > top {
		return "> " + took(top)
	}
	return "< " + took(d)
}

// lastBound is the last latency bucket that has a bound.
const lastBound = 47
