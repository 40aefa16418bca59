package evolve

import (
	"cmp"
	"maps"
	"slices"
)

// Difference is a place where two shapes differ.
type Difference struct {
	// Path is the place in the value, such as "charges[].amount" or, of a map,
	// "limits{}"; "" is the value itself.
	Path string

	Rule Rule

	// Old and New say what was and what is there, in Go's words where there are
	// any; "" for nothing.
	Old, New string

	// Reads says that the new type reads there what the old one wrote, ReadBy
	// that the old type reads what the new one writes.
	Reads, ReadBy bool
}

// Reads reports whether the new shape reads every record of the old one:
// nothing is lost or invented.
func Reads(old, new Shape) bool {
	return len(unreadable(old, new)) == 0
}

// unreadable returns the paths at which new does not read what old wrote.
func unreadable(old, new Shape) map[string]bool {
	paths := map[string]bool{}
	for _, s := range differences(old, new) {
		if !s.safe {
			paths[s.path] = true
		}
	}
	return paths
}

// Differences returns where two shapes differ, by path. New reads old if it
// does at each of the differences, and the other way round.
func Differences(old, new Shape) []Difference {
	back := unreadable(new, old)
	var all []Difference
	for _, s := range differences(old, new) {
		readBy := !back[s.path] && s.rule != FieldRenamed // which has another path on the way back
		all = append(all, Difference{s.path, s.rule, s.old, s.new, s.safe, readBy})
	}
	slices.SortStableFunc(all, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(all)
}

// step is what a reader meets at one place.
type step struct {
	path     string
	rule     Rule
	old, new string
	safe     bool
}

// differences walks along both shapes as a reader of the new one does.
func differences(old, new Shape) []step {
	switch {
	case old.root == nil && new.root == nil:
		return nil
	case old.root == nil:
		return []step{{"", OutputAdded, "", describe(new.root), false}}
	case new.root == nil: // nobody asks for the record's output
		return []step{{"", OutputRemoved, describe(old.root), "", true}}
	}
	w := walker{met: map[pair]bool{}}
	w.walk("", old.root, new.root)
	return w.steps
}

type pair struct{ old, new *node }

// walker compares shapes. Those that contain themselves lead back to pairs that
// are under way: what there is to find there is found already.
type walker struct {
	met   map[pair]bool
	steps []step
}

func (w *walker) add(path string, rule Rule, old, new *node, safe bool) {
	w.steps = append(w.steps, step{path, rule, describe(old), describe(new), safe})
}

// walk compares what is at path.
func (w *walker) walk(path string, old, new *node) {
	p := pair{old, new}
	if old == new || w.met[p] {
		return
	}
	w.met[p] = true
	switch {
	case old.kind == pointed && new.kind == pointed:
		w.walk(path, old.elem, new.elem)
	case old.kind == new.kind:
		w.alike(path, old, new)
	case new.kind == raw && old.kind != quoted: // any text is kept
		w.add(path, TypeChanged, old, new, true)
	case old.kind == pointed && nilable(new):
		w.walk(path, old.elem, new)
	case new.kind == pointed && nilable(old):
		w.walk(path, old, new.elem)
	case new.kind == pointed:
		w.add(path, NullableAdded, old, new, true)
		w.walk(path, old, new.elem)
	case old.kind == pointed:
		w.add(path, NullableRemoved, old, new, false)
		w.walk(path, old.elem, new)
	default:
		rule, safe := unlike(old, new)
		w.add(path, rule, old, new, safe)
	}
}

// nilable reports whether null is a value of a kind that is no pointer.
func nilable(n *node) bool {
	switch n.kind {
	case list:
		return n.length < 0
	case mapping, base64, anything, raw:
		return true
	}
	return false
}

// alike compares two of one kind.
func (w *walker) alike(path string, old, new *node) {
	switch old.kind {
	case text:
		w.constants(path, old, new)
	case integer, number:
		if old.format != new.format {
			safe := holdsNumber(old, new)
			rule := NumberNarrowed
			if safe {
				rule = NumberWidened
			}
			w.add(path, rule, old, new, safe)
		}
	case list:
		switch {
		case old.length == new.length:
		case old.length >= 0 && new.length >= 0:
			w.add(path, LengthChanged, old, new, false)
		default: // nil becomes an array of zeros
			w.add(path, CollectionChanged, old, new, new.length < 0)
		}
		w.walk(path+"[]", old.elem, new.elem)
	case mapping:
		if !sameKeys(old.keys, new.keys) {
			w.add(path, MapKeyChanged, old, new, holdsKeys(old.keys, new.keys))
		}
		w.walk(path+"{}", old.elem, new.elem)
	case quoted:
		w.walk(path, old.elem, new.elem)
	case object:
		w.object(path, old, new)
	case opaque:
		switch {
		case old.name != new.name || old.isText != new.isText:
			w.add(path, EncodingChanged, old, new, false)
		case old.exact != new.exact:
			w.add(path, EventTypeChanged, old, new, false)
		}
	case unread:
		w.add(path, TypeChanged, old, new, false)
	}
}

// constants compares the constants of a text's type. Decoding does not ask for
// them.
func (w *walker) constants(path string, old, new *node) {
	if len(old.enum) == 0 || len(new.enum) == 0 {
		return
	}
	for _, value := range old.enum {
		if !slices.Contains(new.enum, value) {
			w.steps = append(w.steps, step{path, EnumValueRemoved, value, "", true})
		}
	}
	for _, value := range new.enum {
		if !slices.Contains(old.enum, value) {
			w.steps = append(w.steps, step{path, EnumValueAdded, "", value, true})
		}
	}
}

// unlike judges two of different kinds, neither of which is a pointer and the
// new one no raw JSON.
func unlike(old, new *node) (Rule, bool) {
	switch {
	case new.kind == anything:
		return TypeChanged, heldByAny(old, map[*node]bool{})
	case old.kind == integer && new.kind == number && holdsNumber(old, new):
		return NumberWidened, true
	case (old.kind == integer || old.kind == number) && (new.kind == integer || new.kind == number):
		return NumberNarrowed, false
	case old.kind == quoted || new.kind == quoted:
		return StringOptionChanged, false
	case old.kind == moment:
		return TimeFormatChanged, new.kind == text
	case new.kind == moment:
		return TimeFormatChanged, false
	case old.kind == opaque:
		return EncodingChanged, old.isText && new.kind == text
	case new.kind == opaque:
		return EncodingChanged, false
	case old.kind == object && new.kind == mapping:
		return CollectionChanged, false
	case collection(old) && collection(new):
		return CollectionChanged, false
	}
	return TypeChanged, false
}

func collection(n *node) bool { return n.kind == list || n.kind == mapping || n.kind == object }

// holdsNumber reports whether new holds every number of old.
func holdsNumber(old, new *node) bool {
	from, whole := widths[old.format]
	switch {
	case new.kind == number && new.format == "":
		return true // json.Number keeps the digits
	case old.kind == number:
		return old.format == "float" && new.kind == number
	case !whole:
		return false
	case new.kind == number:
		return from.bits <= map[string]int{"float": 24, "double": 53}[new.format]
	}
	to := widths[new.format]
	return from.bits <= to.bits && (to.signed || !from.signed)
}

// sameKeys and holdsKeys compare the keys of maps; nil are plain strings.
func sameKeys(old, new *node) bool {
	if old == nil || new == nil {
		return old == new
	}
	return old.kind == new.kind && old.format == new.format && old.name == new.name && old.exact == new.exact
}

func holdsKeys(old, new *node) bool {
	switch {
	case new == nil || sameKeys(old, new):
		return true // every key is a text
	case old == nil:
		return false
	}
	return old.kind == integer && new.kind == integer && holdsNumber(old, new)
}

// heldByAny reports whether a variable of type any holds every value of n: it
// makes a float64 of each number.
func heldByAny(n *node, met map[*node]bool) bool {
	if met[n] {
		return true
	}
	met[n] = true
	switch n.kind {
	case anything, boolean, text, moment, base64:
		return true
	case integer:
		return holdsNumber(n, &node{kind: number, format: "double"})
	case number:
		return n.format != ""
	case opaque:
		return n.isText
	case pointed, list, mapping:
		return heldByAny(n.elem, met)
	}
	return false
}

// object compares the members of two structs.
func (w *walker) object(path string, old, new *node) {
	renamed := renames(old, new)
	for _, name := range slices.Sorted(maps.Keys(old.members)) {
		was, is := old.members[name], new.members[name]
		at := name
		if path != "" {
			at = path + "." + name
		}
		switch {
		case is != nil:
			w.member(at, was, is)
		case renamed[name] != "":
			w.steps = append(w.steps, step{at, FieldRenamed, name, renamed[name], false})
		default:
			w.add(at, FieldRemoved, was.node, nil, false)
		}
	}
	gone := map[string]bool{}
	for _, now := range renamed {
		gone[now] = true
	}
	for _, name := range slices.Sorted(maps.Keys(new.members)) {
		if is := new.members[name]; old.members[name] == nil && !gone[name] {
			at := name
			if path != "" {
				at = path + "." + name
			}
			w.add(at, FieldAdded, nil, is.node, is.optional)
		}
	}
}

// member compares a member that both have.
func (w *walker) member(path string, old, new *member) {
	sameZero := zeroReads(old.node, new.node, map[pair]bool{})
	switch {
	case old.optional && !new.optional:
		w.add(path, OptionalToRequired, old.node, new.node, sameZero)
	case !old.optional && new.optional:
		w.add(path, RequiredToOptional, old.node, new.node, true)
	case old.optional && !sameZero:
		w.add(path, AbsenceChanged, old.node, new.node, false)
	}
	w.walk(path, old.node, new.node)
}

// renames pairs members that are gone with new ones of the same form, if it is
// clear which belongs to which.
func renames(old, new *node) map[string]string {
	pairs := map[string]string{}
	candidates := map[string][]string{}
	for from, was := range old.members {
		if new.members[from] != nil {
			continue
		}
		for to, is := range new.members {
			if old.members[to] == nil && was.optional == is.optional && same(was.node, is.node, map[pair]bool{}) {
				candidates[from] = append(candidates[from], to)
			}
		}
	}
	times := map[string]int{}
	for _, list := range candidates {
		for _, to := range list {
			times[to]++
		}
	}
	for from, list := range candidates {
		if len(list) == 1 && times[list[0]] == 1 {
			pairs[from] = list[0]
		}
	}
	return pairs
}

// same reports whether two shapes do not differ.
func same(a, b *node, met map[pair]bool) bool {
	p := pair{a, b}
	if a == b || met[p] {
		return true
	}
	if a == nil || b == nil || a.kind != b.kind || a.format != b.format || a.length != b.length ||
		a.name != b.name || a.exact != b.exact || len(a.members) != len(b.members) {
		return false
	}
	met[p] = true
	for name, m := range a.members {
		if n := b.members[name]; n == nil || n.optional != m.optional || !same(m.node, n.node, met) {
			return false
		}
	}
	return same(a.elem, b.elem, met) && same(a.keys, b.keys, met)
}

// zeroReads reports whether the zero value of old, which a member left out
// stands for, is the zero value of new.
func zeroReads(old, new *node, met map[pair]bool) bool {
	p := pair{old, new}
	if old == new || met[p] {
		return true
	}
	met[p] = true
	isNull := func(n *node) bool { return n.kind == pointed || nilable(n) }
	if isNull(old) || isNull(new) {
		return isNull(old) && isNull(new)
	}
	if old.kind != new.kind {
		return old.kind == integer && new.kind == number && new.format != ""
	}
	switch old.kind {
	case number:
		return (old.format == "") == (new.format == "")
	case list: // arrays
		return old.length == new.length && zeroReads(old.elem, new.elem, met)
	case quoted:
		return zeroReads(old.elem, new.elem, met)
	case opaque:
		return old.name == new.name && old.exact == new.exact
	case object:
		for name, was := range old.members {
			is := new.members[name]
			if is == nil || !zeroReads(was.node, is.node, met) {
				return false
			}
		}
	case unread:
		return false
	}
	return true
}
