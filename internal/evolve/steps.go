package evolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/lock"
)

// steps compares the steps.
func (c *comparer) steps() {
	claimed := map[string]bool{} // names in base that belong to a step
	var added []string
	for _, name := range slices.Sorted(maps.Keys(c.now.File.Steps)) {
		now := c.now.File.Steps[name]
		bases := before(c.base.Steps, name, now.Was)
		for _, b := range bases {
			claimed[b] = true
			c.step(name, b, c.base.Steps[b], now)
		}
		if len(bases) == 0 {
			added = append(added, name)
		} else {
			c.moved(name, bases)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.base.Steps)) {
		if !claimed[name] {
			added = c.removedStep(name, added)
		}
	}
	for _, name := range added {
		c.add(Change{Rule: StepAdded, Step: name, Reason: "is new; executions in flight that come to it run it"})
	}
}

// step compares a step with what base says of it, under this name or another.
func (c *comparer) step(name, baseName string, base, now lock.Step) {
	if name != baseName {
		c.add(Change{Rule: StepRenamed, Step: name, Reason: "was " + baseName + "; its records are found"})
	}
	c.outputs(name, baseName, base, now)
	if base.Key != now.Key {
		c.add(Change{
			Rule: KeyChanged, Verdict: Breaks, Step: name,
			Reason: fmt.Sprintf("key= was %s, and is %s: records are found under their keys, and it would run again", orNone(base.Key), orNone(now.Key)),
			Remedy: fmt.Sprintf("leave key= as it was,\nor take the break, if keys come out the same or it may run again: restaqgen lock -accept %s", name),
			accept: []string{keyID(name, base.Key)}, hold: "step " + baseName,
		})
	}
	if base.Inputs != now.Inputs {
		c.add(Change{Rule: InputsChanged, Verdict: Info, Step: name,
			Reason: "its inputs have another form; records count all the same, and history says that the input changed (an error with Config.StrictInputs)"})
	}
	if base.Options != now.Options {
		c.add(Change{Rule: StepOptionsChanged, Verdict: Info, Step: name,
			Reason: fmt.Sprintf("its options were %s, and are %s; they count from the next try on", orNone(base.Options), orNone(now.Options))})
	}
}

func orNone(text string) string {
	if text == "" {
		return lock.None
	}
	return text
}

// removedStep compares a step that the source has no more with those that are
// new, and returns the new ones that are not it.
func (c *comparer) removedStep(name string, added []string) []string {
	base := c.base.Steps[name]
	change := Change{Rule: StepRemoved, Verdict: Info, Step: name, Gone: true,
		Reason: "is gone; executions in flight that have run it keep its record, and go on without it"}
	remedy := func(to string) string {
		return fmt.Sprintf("if %s is this step, give it the old name, //restaq:step %s, or say //restaq:was %s,\n"+
			"or take the break: restaqgen lock -accept %s", to, name, name, name)
	}
	breaks := func(rule Rule, reason, remedy string) {
		change.Rule, change.Verdict, change.Reason, change.Remedy = rule, Breaks, reason, remedy
		change.accept, change.hold = []string{removedID("step " + name)}, "step "+name
	}
	i := slices.IndexFunc(added, func(new string) bool { return c.alike(base, c.now.File.Steps[new]) })
	others := c.inPlaceOf(name, added)
	switch {
	case i >= 0:
		breaks(StepRenamed, fmt.Sprintf("is gone, and %s is like it: executions in flight that have run the one would run the other too", added[i]), remedy(added[i]))
		added = slices.Delete(slices.Clone(added), i, i+1)
	case len(others) > 0:
		list := strings.Join(others, ", ")
		breaks(StepRemoved, fmt.Sprintf("is gone, and its handlers have new steps: should one of them be it (%s), it would run again", list), remedy(others[0]))
	}
	c.add(change)
	return added
}

// alike reports whether a new step is likely to be one that is gone.
func (c *comparer) alike(gone, new lock.Step) bool {
	return gone.Func != "" && gone.Func == new.Func ||
		gone.Inputs == new.Inputs && gone.Output == new.Output && gone.Key == new.Key
}

// inPlaceOf returns those of the new steps that a handler has which had step.
func (c *comparer) inPlaceOf(step string, added []string) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(c.now.File.Handlers)) {
		h := c.now.File.Handlers[name]
		for _, b := range before(c.base.Handlers, name, h.Was) {
			if !slices.Contains(c.base.Handlers[b].Steps, step) {
				continue
			}
			for _, new := range h.Steps {
				if slices.Contains(added, new) && !slices.Contains(found, new) {
					found = append(found, new)
				}
			}
		}
	}
	return found
}

// moved compares the handlers that lead to a step, by today's names.
func (c *comparer) moved(name string, was []string) {
	var lost, gained []string
	for _, h := range slices.Sorted(maps.Keys(c.now.File.Handlers)) {
		has := slices.Contains(c.now.File.Handlers[h].Steps, name)
		bases := before(c.base.Handlers, h, c.now.File.Handlers[h].Was)
		had := slices.ContainsFunc(bases, func(b string) bool {
			return slices.ContainsFunc(was, func(step string) bool { return slices.Contains(c.base.Handlers[b].Steps, step) })
		})
		switch {
		case had && !has:
			lost = append(lost, h)
		case has && !had && len(bases) > 0:
			gained = append(gained, h)
		}
	}
	for _, from := range lost {
		if len(gained) == 0 {
			c.add(Change{Rule: StepRemoved, Verdict: Info, Step: name, Reason: from + " leads to it no more; executions in flight go on without it"})
		}
		for _, to := range gained {
			c.move(name, from, to)
		}
	}
	if len(lost) == 0 {
		for _, h := range gained {
			c.add(Change{Rule: StepAdded, Step: name, Reason: h + " leads to it now; executions in flight that come to it run it"})
		}
	}
}

// move adds that a step went from one handler to another.
func (c *comparer) move(step, from, to string) {
	change := Change{Rule: StepMoved, Verdict: Info, Step: step,
		Reason: fmt.Sprintf("%s leads to it no more, and %s does; the records of the one do not count for the other", from, to)}
	var events []string
	for _, b := range before(c.base.Handlers, from, c.now.File.Handlers[from].Was) {
		events = append(events, c.base.Handlers[b].Events...)
	}
	if both := common(events, c.now.File.Handlers[to].Events); both != "" {
		change.Verdict = Breaks
		change.Reason = fmt.Sprintf("%s leads to it no more, and %s does: of an event of %s that is in flight both may run it", from, to, both)
		change.Remedy = fmt.Sprintf("move it once no execution of %s is in flight,\nor take the break: restaqgen lock -accept %s", from, step)
		change.accept, change.hold = []string{movedID(step, from, to)}, "step "+step
	}
	c.add(change)
}

// common returns an event type that is in both lists, "" if none is.
func common(a, b []string) string {
	for _, x := range a {
		for _, y := range b {
			switch {
			case covers(y, x):
				return x
			case covers(x, y):
				return y
			}
		}
	}
	return ""
}

// covers reports whether pattern is the event type, or matches it, or all that
// another pattern matches.
func covers(pattern, event string) bool {
	head, ok := strings.CutSuffix(pattern, "*")
	return pattern == event || ok && strings.HasPrefix(event, head)
}
