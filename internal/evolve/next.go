package evolve

import (
	"cmp"
	"slices"

	"github.com/restaq/restaq/internal/lock"
)

// Next returns the lock file that follows base. Where the source has a change
// that may not go out as it is, the entry stays as it was.
func Next(base lock.File, now Source) lock.File {
	held := map[string]bool{}
	for _, c := range Compare(base, now) {
		if c.Fails() {
			held[c.hold] = true
		}
	}
	next := lock.File{Handlers: map[string]lock.Handler{}, Steps: map[string]lock.Step{}}
	for name, h := range now.File.Handlers {
		if !anyHeld(held, "handler ", before(base.Handlers, name, h.Was)) {
			next.Handlers[name] = h
		}
	}
	for name, s := range now.File.Steps {
		if bases := before(base.Steps, name, s.Was); !anyHeld(held, "step ", bases) {
			s.Earlier = earlier(base, name, bases, s, now)
			next.Steps[name] = s
		}
	}
	for name, h := range base.Handlers {
		if held["handler "+name] {
			next.Handlers[name] = h
		}
	}
	for name, s := range base.Steps {
		if held["step "+name] {
			next.Steps[name] = s
		}
	}
	next.Accepted = stillAccepted(base, now)
	return next
}

func anyHeld(held map[string]bool, prefix string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return held[prefix+name] })
}

// earlier returns the shapes that records of a step may have beside today's.
func earlier(base lock.File, name string, bases []string, now lock.Step, source Source) map[string]lock.Earlier {
	var all map[string]lock.Earlier
	for _, b := range bases {
		for _, p := range pasts(base.Steps[b]) {
			if p.print == now.Output || p.print == "" {
				continue
			}
			read := lock.No
			switch {
			case reads(compare(p.schema, now.Schema)):
				read = lock.Yes
			case slices.Contains(source.Converted[name], p.print):
				read = lock.Converted
			}
			if all == nil {
				all = map[string]lock.Earlier{}
			}
			all[p.print] = lock.Earlier{Read: read, Schema: p.schema}
		}
	}
	return all
}

// stillAccepted returns what was accepted, without what the source has again: to
// change it once more is another matter.
func stillAccepted(base lock.File, now Source) []string {
	void := map[string]bool{}
	for name, s := range now.File.Steps {
		void[removedID("step "+name)] = true
		void[outputID(name, s.Output)] = true
		void[keyID(name, s.Key)] = true
		read, _ := Readings(base, name, s)
		for _, print := range read {
			void[outputID(name, cmp.Or(print, lock.None))] = true
		}
	}
	for name, h := range now.File.Handlers {
		void[removedID("handler "+name)] = true
		for _, event := range h.Events {
			void[eventID(name, event)] = true
		}
	}
	kept := slices.DeleteFunc(slices.Clone(now.Accepted), func(id string) bool { return void[id] })
	slices.Sort(kept)
	return slices.Compact(kept)
}

// Accept returns what stands in the lock file once the breaking changes of the
// named steps and handlers are accepted, and the names that have none.
func Accept(changes []Change, names []string) (accepted, idle []string) {
	for _, name := range names {
		found := false
		for _, c := range changes {
			if c.Verdict >= Converter && (c.Step == name || c.Handler == name) && c.Settled != ByConverter {
				found = true
				accepted = append(accepted, c.accept...)
			}
		}
		if !found {
			idle = append(idle, name)
		}
	}
	slices.Sort(accepted)
	return slices.Compact(accepted), idle
}
