package evolve

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/lock"
)

// past is a shape that records of a step may have.
type past struct {
	print   string
	schema  json.RawMessage
	reading lock.Reading // what the lock file says; "" for its latest shape
}

// pasts returns the shapes that a lock file's entry tells of, its latest first.
func pasts(s lock.Step) []past {
	all := []past{{print: s.Output, schema: s.Schema}}
	for _, print := range slices.Sorted(maps.Keys(s.Earlier)) {
		all = append(all, past{print, s.Earlier[print].Schema, s.Earlier[print].Read})
	}
	return all
}

// compare returns the differences of two schemas; they are one unknown shape if
// either can't be read.
func compare(old, new json.RawMessage) []Difference {
	was, err := ParseShape(old)
	is, err2 := ParseShape(new)
	if err != nil || err2 != nil {
		return []Difference{{Rule: ShapeUnknown}}
	}
	return Differences(was, is)
}

func reads(list []Difference) bool {
	return !slices.ContainsFunc(list, func(d Difference) bool { return !d.Reads })
}

// outputs compares the shapes that records of a step may have with today's.
func (c *comparer) outputs(name, baseName string, base, now lock.Step) {
	for i, p := range pasts(base) {
		if i > 0 && (p.print == now.Output || p.reading == lock.No) {
			continue
		}
		differences := compare(p.schema, now.Schema)
		if p.print == now.Output { // at most constants differ
			differences = slices.DeleteFunc(differences, func(d Difference) bool { return !d.Reads })
		}
		read := reads(differences)
		if i > 0 && read {
			continue
		}
		change := Change{Step: name, hold: "step " + baseName}
		if !read {
			change.accept = []string{outputID(name, p.print)}
			if slices.Contains(c.now.Converted[name], p.print) {
				change.Settled = ByConverter
			}
		}
		for _, d := range differences {
			if i == 0 || !d.Reads { // what is read there, the latest shape has said
				c.difference(change, d)
			}
		}
	}
}

// difference adds a difference of two shapes.
func (c *comparer) difference(change Change, d Difference) {
	change.Rule, change.Path, change.Reason = d.Rule, d.Path, d.reason()
	switch {
	case d.Reads && (d.Rule == EnumValueAdded || d.Rule == EnumValueRemoved):
		change.Verdict = Info
	case d.Reads:
		change.Verdict = Safe
	case d.Rule == OutputAdded:
		change.Verdict = Breaks
	default:
		change.Verdict = Converter
	}
	if d.Rule == FieldRenamed {
		change.Path = d.Path[:strings.LastIndexByte(d.Path, '.')+1] + d.New
	}
	if d.Reads {
		change.accept, change.hold, change.Settled = nil, "", Unsettled
		if !d.ReadBy {
			change.Reason += "; older builds leave executions that have new records to newer ones"
		}
	} else {
		change.Remedy = remedy(change.Step, d)
	}
	c.add(change)
}

// remedy says what to do about a difference that is not read over.
func remedy(step string, d Difference) string {
	accept := fmt.Sprintf("or take the break: restaqgen lock -accept %s", step)
	if d.Rule == OutputAdded {
		return remedies[OutputAdded] + "\n" + accept
	}
	convert := fmt.Sprintf("write a converter from the old type: //restaq:convert %s on func(Old) (New, error)", step)
	if first := remedies[d.Rule]; first != "" {
		return first + ",\nor " + convert + ",\n" + accept
	}
	return convert + ",\n" + accept
}

// reason says what a difference is.
func (d *Difference) reason() string {
	place := "output"
	if d.Path != "" {
		place = "output " + d.Path
	}
	switch d.Rule {
	case FieldAdded:
		return place + " is new"
	case FieldRemoved:
		return place + " is gone: what records have there would be lost"
	case FieldRenamed:
		return fmt.Sprintf("%s is gone, and %s is new and of the same form", place, d.New)
	case OptionalToRequired:
		return place + " could be left out, and is always there now"
	case RequiredToOptional:
		return place + " was always there, and can be left out now"
	case AbsenceChanged:
		return fmt.Sprintf("%s was the zero value of %s where it is left out, and is that of %s now", place, d.Old, d.New)
	case EnumValueAdded:
		return fmt.Sprintf("%s has the new constant %q", place, d.New)
	case EnumValueRemoved:
		return fmt.Sprintf("%s has no constant %q any more; records may hold it", place, d.Old)
	case EventTypeChanged:
		return fmt.Sprintf("%s: the event package's type %s is another one than before", place, d.New)
	case OutputAdded:
		return fmt.Sprintf("it had no output, and now has %s; records have nothing to give", d.New)
	case OutputRemoved:
		return fmt.Sprintf("it has no output any more; it was %s", d.Old)
	case ShapeUnknown:
		return "a shape in the lock file cannot be read"
	}
	return fmt.Sprintf("%s was %s, and is %s", place, d.Old, d.New)
}

// Readings returns what today's type reads of the shapes that base tells of, and
// whose types read what it writes, as fingerprints; that of a step without
// output is "".
func Readings(base lock.File, name string, now lock.Step) (reads, readBy []string) {
	is, err := ParseShape(now.Schema)
	if err != nil {
		return nil, nil
	}
	for _, b := range before(base.Steps, name, now.Was) {
		for _, p := range pasts(base.Steps[b]) {
			was, err := ParseShape(p.schema)
			if err != nil || p.print == now.Output {
				continue
			}
			print := p.print
			if print == lock.None {
				print = ""
			}
			if Reads(was, is) {
				reads = append(reads, print)
			}
			if Reads(is, was) {
				readBy = append(readBy, print)
			}
		}
	}
	slices.Sort(reads)
	slices.Sort(readBy)
	return slices.Compact(reads), slices.Compact(readBy)
}

// Shapes returns the shapes that records of a step may have beside today's, as
// fingerprints.
func Shapes(base lock.File, name string, now lock.Step) []string {
	var all []string
	for _, b := range before(base.Steps, name, now.Was) {
		for _, p := range pasts(base.Steps[b]) {
			if p.print != now.Output {
				all = append(all, p.print)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
