package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
)

// impactFlags are the flags of impact.
type impactFlags struct {
	locks  []string
	dead   bool
	asJSON bool
}

func impactCommand(a *app) *cobra.Command {
	var f impactFlags
	cmd := &cobra.Command{
		Use:   "impact --lock FILE [flags]",
		Short: "Say what a build would do to the executions in flight",
		Long: `Say what a build would do to the executions in flight, before it is deployed.

--lock names the restaq.lock.json of the build; give one for each package that
has handlers or steps. Executions in flight are pending, running or waiting for
a retry; with --dead, those that wait for a person are looked at, too.

For each handler there is a line for each step that differs from what the
processes on this store run now, or of which there are records that the build
would not read:

  CHANGE   "new" or "shape": the step or its output's shape is new; "removed":
           the build has no such step; "": nothing changed
  AHEAD    executions that stand before the step: it runs as the build has it
  BEHIND   executions that have a record of the step, which the build reads
  STOPS    executions whose record the build does not read: they stop until a
           converter is deployed, or they are restarted
  UNUSED   executions whose record nobody would ask for, as the step is gone

Every execution in flight is read once, a page of the list at a time; those that
begin or end meanwhile may be counted or not.`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			if len(f.locks) == 0 {
				return errors.New("--lock FILE is missing: the restaq.lock.json of the build")
			}
			return nil
		},
		RunE: a.verb(func(ctx context.Context, rt *restaq.Runtime, _ []string) error { return a.impact(ctx, rt, &f) }),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.locks, "lock", nil, "the restaq.lock.json `file` of the build; may be repeated")
	flags.BoolVar(&f.dead, "dead", false, "count dead executions, too")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// impact counts what the executions in flight would meet.
func (a *app) impact(ctx context.Context, rt *restaq.Runtime, f *impactFlags) error {
	next := &lockedBuild{}
	for _, name := range f.locks {
		data, err := os.ReadFile(name)
		if err == nil {
			err = next.add(data)
		}
		if err != nil {
			return fmt.Errorf("lock file %s: %w", name, err)
		}
	}
	infos, err := rt.Handlers(ctx)
	if err != nil {
		return err
	}
	report := newImpact(next, infos)
	if err := report.count(ctx, rt, f.dead); err != nil {
		return err
	}
	lines := report.lines()
	if f.asJSON {
		return a.json(struct {
			Executions int          `json:"executions"`
			Stops      int          `json:"stops"`
			Steps      []impactLine `json:"steps"`
		}{report.executions, report.stops, lines})
	}
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{
			clean(l.Handler), clean(l.Step), l.Change, strconv.Itoa(l.Ahead), strconv.Itoa(l.Behind), strconv.Itoa(l.Stops), strconv.Itoa(l.Unused),
		})
	}
	if len(rows) > 0 {
		a.page(&table{header: []string{"HANDLER", "STEP", "CHANGE", "AHEAD", "BEHIND", "STOPS", "UNUSED"}, painted: -1, flexible: []int{0, 1}}, rows)
	}
	a.print(fmt.Sprintf("%d executions in flight, %d would stop", report.executions, report.stops))
	return nil
}

// impactLine is what a handler's executions in flight have of a step.
type impactLine struct {
	Handler string `json:"handler"`
	Step    string `json:"step"`
	Change  string `json:"change,omitempty"` // "new", "shape" or "removed"
	Ahead   int    `json:"ahead"`
	Behind  int    `json:"behind"`
	Stops   int    `json:"stops"`
	Unused  int    `json:"unused"`
}

// impact is the count in the making.
type impact struct {
	next *lockedBuild
	now  map[string]restaq.HandlerInfo // by the handler's name, and by those that it had

	mu         sync.Mutex
	executions int
	stops      int
	steps      map[[2]string]*impactLine // by handler and step
}

func newImpact(next *lockedBuild, infos []restaq.HandlerInfo) *impact {
	i := &impact{next: next, now: map[string]restaq.HandlerInfo{}, steps: map[[2]string]*impactLine{}}
	for _, info := range infos {
		for _, old := range info.Was {
			i.now[old] = info
		}
	}
	for _, info := range infos {
		i.now[info.Name] = info
	}
	for handler, h := range next.Handlers {
		now := i.now[handler]
		for _, old := range h.Was {
			if now.Name == "" {
				now = i.now[old]
			}
		}
		for _, step := range next.steps(handler) {
			i.line(handler, step).Change = changeOf(next.Steps[step], step, now.Steps)
		}
	}
	return i
}

// changeOf says what is new of a step, given those that run now.
func changeOf(next *lockedStep, name string, now []restaq.StepInfo) string {
	for _, s := range now {
		if s.Name == name || slices.Contains(next.Was, s.Name) {
			if s.Shape == next.shape() {
				return ""
			}
			return "shape"
		}
	}
	if len(now) == 0 {
		return "" // a build put the handler that told nothing of its steps
	}
	return "new"
}

// line returns the line of a handler's step. The caller holds mu, if there may
// be others.
func (i *impact) line(handler, step string) *impactLine {
	l := i.steps[[2]string{handler, step}]
	if l == nil {
		l = &impactLine{Handler: handler, Step: step}
		i.steps[[2]string{handler, step}] = l
	}
	return l
}

// readers is how many histories are read at once: as many as the command has
// connections.
const readers = 2

// count reads the executions in flight, a page at a time.
func (i *impact) count(ctx context.Context, rt *restaq.Runtime, dead bool) error {
	filter := restaq.Filter{
		Statuses: []string{string(restaq.Pending), string(restaq.Running), string(restaq.Sleeping), "retrying"}, Limit: 500,
	}
	if dead {
		filter.Statuses = append(filter.Statuses, "dead")
	}
	for {
		page, err := rt.List(ctx, filter)
		if err != nil {
			return err
		}
		if err := i.add(ctx, rt, page.Executions); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
		filter.Cursor = page.Next
	}
}

// add counts a page of executions.
func (i *impact) add(ctx context.Context, rt *restaq.Runtime, page []restaq.Execution) error {
	var wg sync.WaitGroup
	errs := make([]error, readers)
	for r := range readers {
		wg.Go(func() {
			for n := r; n < len(page) && errs[r] == nil; n += readers {
				errs[r] = i.addOne(ctx, rt, &page[n])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// addOne counts an execution. One whose first attempt has not begun has no
// records.
func (i *impact) addOne(ctx context.Context, rt *restaq.Runtime, e *restaq.Execution) error {
	var records []restaq.Record
	if e.Attempts > 0 {
		var err error
		records, err = rt.Records(ctx, e.ID)
		switch {
		case errors.Is(err, restaq.ErrNotFound):
			return nil // it ended, and was pruned
		case err != nil:
			return err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.executions++
	handler := i.next.handlerOf(e.Handler)
	if handler == "" {
		return nil // of another package, or of no handler any more
	}
	found := map[*impactLine]string{} // the worst of a step's records
	for n := range records {
		step, fate := i.fate(e.Handler, &records[n])
		if step == "" {
			continue
		}
		l := i.line(handler, step)
		if fate == "unused" && l.Change == "" {
			l.Change = "removed"
		}
		if found[l] != "stops" {
			found[l] = fate
		}
	}
	stops := false
	for l, fate := range found {
		switch fate {
		case "stops":
			l.Stops++
			stops = true
		case "unused":
			l.Unused++
		default:
			l.Behind++
		}
	}
	if stops {
		i.stops++
	}
	for _, step := range i.next.steps(handler) {
		if l := i.line(handler, step); found[l] == "" {
			l.Ahead++
		}
	}
	return nil
}

// fate says of which step of the next build a record is, and what becomes of it.
// "" says that nothing is known of it.
func (i *impact) fate(handler string, r *restaq.Record) (step, fate string) {
	step = i.next.stepOf(r)
	if step == "" {
		registered := func(s restaq.StepInfo) bool { return s.Name == r.Step() && s.Func == r.Func }
		if slices.ContainsFunc(i.now[handler].Steps, registered) {
			return r.Step(), "unused"
		}
		return "", ""
	}
	if r.Permanent || i.next.Steps[step].reads(r) {
		return step, "behind"
	}
	return step, "stops"
}

// lines are the steps worth a line, by handler and step.
func (i *impact) lines() []impactLine {
	lines := []impactLine{}
	for _, l := range i.steps {
		if l.Change != "" || l.Stops+l.Unused > 0 {
			lines = append(lines, *l)
		}
	}
	slices.SortFunc(lines, func(a, b impactLine) int {
		return cmp.Or(strings.Compare(a.Handler, b.Handler), strings.Compare(a.Step, b.Step))
	})
	return lines
}
