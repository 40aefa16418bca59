package evolve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/restaq/restaq/internal/lock"
)

// Change is one change of a package, as executions in flight see it.
type Change struct {
	Rule    Rule
	Verdict Verdict

	// Step or Handler is what it is about: the name that it has in the source,
	// or that it had if Gone.
	Step, Handler string

	// Path is the place in a step's output; see [Difference].
	Path string

	// Gone says that the source has the step or handler no more.
	Gone bool

	// Reason says what changed and what comes of it, Remedy what to do; it is
	// empty if there is nothing to be done.
	Reason, Remedy string

	// Settled says how a change that would be breaking came to be none.
	Settled Settlement

	// accept is what stands in the lock file once it is accepted, hold the
	// entry of the lock file that it holds back until then.
	accept []string
	hold   string
}

// Settlement says how a breaking change came to be none.
type Settlement string

// The settlements.
const (
	Unsettled   Settlement = ""
	ByConverter Settlement = "converter"
	ByAccepting Settlement = "accepted"
)

// Fails reports whether the change may not go out as it is.
func (c *Change) Fails() bool { return c.Verdict >= Converter && c.Settled == Unsettled }

// Subject is what the change is about, as problems name it.
func (c *Change) Subject() string {
	if c.Handler != "" {
		return "handler " + c.Handler
	}
	return "step " + c.Step
}

// Result says in words what comes of the change.
func (c *Change) Result() string {
	switch {
	case c.Verdict < Converter || c.Settled == Unsettled:
		return c.Verdict.String()
	case c.Settled == ByConverter:
		return "safe: converted"
	}
	return "accepted, though it " + c.Verdict.String()
}

// Source is what today's source says of a package.
type Source struct {
	// File is the lock file that one would write who knows of no other.
	File lock.File

	// Converted are the shapes that converters take, by step.
	Converted map[string][]string

	// Accepted are the breaking changes that were taken on purpose.
	Accepted []string
}

// Compare returns what changed from base to the source: first what concerns
// handlers, then steps, each by name.
func Compare(base lock.File, now Source) []Change {
	c := comparer{base: base, now: now}
	c.handlers()
	c.steps()
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Subject(), b.Subject()), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	return c.changes
}

type comparer struct {
	base    lock.File
	now     Source
	changes []Change
}

// add adds a change, and notes whether it was accepted. One that differs from
// another only in what is to be accepted is made one with it.
func (c *comparer) add(change Change) {
	accepted := func(id string) bool { return slices.Contains(c.now.Accepted, id) }
	if change.Settled == Unsettled && len(change.accept) > 0 && !slices.ContainsFunc(change.accept, func(id string) bool { return !accepted(id) }) {
		change.Settled = ByAccepting
	}
	if change.Settled != Unsettled {
		change.Remedy = ""
	}
	for i := range c.changes {
		if other := &c.changes[i]; other.Subject() == change.Subject() && other.Reason == change.Reason && other.Rule == change.Rule && other.Settled == change.Settled {
			other.accept = append(other.accept, change.accept...)
			return
		}
	}
	c.changes = append(c.changes, change)
}

// before returns the entries of base that belong to something of the source: the
// one of its name, and those of names that it had. Names are theirs.
func before[T any](base map[string]T, name string, was []string) (names []string) {
	for _, n := range append([]string{name}, was...) {
		if _, ok := base[n]; ok && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// How a change that was accepted stands in the lock file.
func removedID(subject string) string      { return subject + ": removed" }
func outputID(step, print string) string   { return "step " + step + ": output " + print }
func keyID(step, key string) string        { return "step " + step + ": key " + cmp.Or(key, lock.None) }
func eventID(handler, event string) string { return "handler " + handler + ": event " + event }
func movedID(step, from, to string) string {
	return fmt.Sprintf("step %s: moved from %s to %s", step, from, to)
}
