package evolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/lock"
)

// handlers compares the handlers.
func (c *comparer) handlers() {
	claimed := map[string]bool{} // names in base that belong to a handler
	var added []string
	for _, name := range slices.Sorted(maps.Keys(c.now.File.Handlers)) {
		now := c.now.File.Handlers[name]
		bases := before(c.base.Handlers, name, now.Was)
		for _, b := range bases {
			claimed[b] = true
			c.handler(name, b, c.base.Handlers[b], now)
		}
		if len(bases) == 0 {
			added = append(added, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.base.Handlers)) {
		if !claimed[name] {
			added = c.removedHandler(name, added)
		}
	}
	for _, name := range added {
		c.add(Change{Rule: HandlerAdded, Handler: name, Reason: "is new; events that came before have no execution of it"})
	}
}

// handler compares a handler with what base says of it, under this name or
// another.
func (c *comparer) handler(name, baseName string, base, now lock.Handler) {
	if name != baseName {
		c.add(Change{Rule: HandlerRenamed, Handler: name, Reason: "was " + baseName + "; its executions go on"})
	}
	for _, event := range base.Events {
		if slices.ContainsFunc(now.Events, func(pattern string) bool { return covers(pattern, event) }) {
			continue
		}
		c.add(Change{
			Rule: EventDropped, Verdict: Breaks, Handler: name,
			Reason: fmt.Sprintf("%s is no event type of it any more: executions in flight of such events would go on in code that is not made for them", event),
			Remedy: fmt.Sprintf("keep it until no execution of such an event is in flight,\nor take the break: restaqgen lock -accept %s", name),
			accept: []string{eventID(name, event)}, hold: "handler " + baseName,
		})
	}
	for _, event := range now.Events {
		if !slices.ContainsFunc(base.Events, func(pattern string) bool { return covers(pattern, event) }) {
			c.add(Change{Rule: EventAdded, Handler: name, Reason: event + " is a new event type of it"})
		}
	}
	if !sameOrder(base.Steps, c.formerly(now.Steps, base.Steps)) {
		c.add(Change{Rule: StepOrderChanged, Verdict: Info, Handler: name,
			Reason: fmt.Sprintf("its steps stand in another order: %s; executions in flight run those that they have no record of", strings.Join(now.Steps, ", "))})
	}
	if base.Order != now.Order {
		c.add(Change{Rule: OrderChanged, Verdict: Info, Handler: name,
			Reason: fmt.Sprintf("order= was %s, and is %s; executions in flight keep the key that they have", orNone(base.Order), orNone(now.Order))})
	}
	if base.Options != now.Options {
		c.add(Change{Rule: HandlerOptionsChanged, Verdict: Info, Handler: name,
			Reason: fmt.Sprintf("its options were %s, and are %s; they count from the next attempt on", orNone(base.Options), orNone(now.Options))})
	}
}

// formerly returns steps under the names that they have among others.
func (c *comparer) formerly(steps, others []string) []string {
	names := slices.Clone(steps)
	for i, step := range steps {
		for _, was := range c.now.File.Steps[step].Was {
			if slices.Contains(others, was) {
				names[i] = was
			}
		}
	}
	return names
}

// sameOrder reports whether the names that both lists have stand in the same
// order.
func sameOrder(a, b []string) bool {
	in := func(list []string) func(string) bool {
		return func(name string) bool { return !slices.Contains(list, name) }
	}
	return slices.Equal(slices.DeleteFunc(slices.Clone(a), in(b)), slices.DeleteFunc(slices.Clone(b), in(a)))
}

// removedHandler compares a handler that the source has no more with those that
// are new, and returns the new ones that are not it.
func (c *comparer) removedHandler(name string, added []string) []string {
	base := c.base.Handlers[name]
	change := Change{
		Rule: HandlerRemoved, Verdict: Breaks, Handler: name, Gone: true,
		Reason: "is gone: nothing goes on with its executions in flight",
		Remedy: fmt.Sprintf("keep it until none is in flight,\nor take the break: restaqgen lock -accept %s", name),
		accept: []string{removedID("handler " + name)}, hold: "handler " + name,
	}
	i := slices.IndexFunc(added, func(new string) bool {
		h := c.now.File.Handlers[new]
		return base.Func != "" && base.Func == h.Func ||
			slices.Equal(base.Events, h.Events) && slices.Equal(base.Steps, c.formerly(h.Steps, base.Steps))
	})
	if i >= 0 {
		change.Rule = HandlerRenamed
		change.Reason = fmt.Sprintf("is gone, and %s is like it: nothing would go on with the executions in flight of the one", added[i])
		change.Remedy = fmt.Sprintf("if %s is this handler, give it the old name, name=%s, or say //restaq:was %s,\n"+
			"or take the break: restaqgen lock -accept %s", added[i], name, name, name)
		added = slices.Delete(slices.Clone(added), i, i+1)
	}
	c.add(change)
	return added
}
