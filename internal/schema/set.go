package schema

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
)

// File is a schema file as it was read from disk.
type File struct {
	Path string // with slashes; references between files are relative to it
	Name string // below the folder that is read, with slashes; default: Path's last element
	Data []byte
}

// Set is a number of documents whose references are resolved.
type Set struct {
	Documents []*Document // in the order of the files

	ids     map[string]resourceRef // by absolute URI, and by URI#anchor
	refs    []pending
	dynamic map[string][]resourceAnchor // by dynamicName
	targets map[*Schema]target
}

// resourceAnchor is a schema that references find by the way that led to them.
type resourceAnchor struct{ schema, resource *Schema }

type resourceRef struct {
	doc    *Document
	schema *Schema
}

// target is what references lead to.
type target struct {
	references int
	from       *Document // nil: several documents
}

// pending is a reference that is still to be resolved.
type pending struct {
	from     *Schema
	at       Position
	doc      *Document
	base     string
	resource *Schema
	keyword  string
}

// Load reads files and resolves their references among each other. Nothing is
// fetched: a reference to something else is a problem. The set is whole only if
// the problems have not Failed.
func Load(files []File) (*Set, Problems) {
	var problems Problems
	set := &Set{ids: map[string]resourceRef{}, dynamic: map[string][]resourceAnchor{}}
	for _, f := range files {
		node, problem := parse(f)
		if problem != nil {
			problems = append(problems, *problem)
			continue
		}
		r := &reader{set: set, problems: &problems}
		doc := r.document(node)
		r.reportUnknown()
		doc.set, doc.Name = set, cmp.Or(f.Name, path.Base(f.Path))
		set.Documents = append(set.Documents, doc)
		set.ids[f.Path] = resourceRef{doc, doc.Root}
	}
	// Resolving may read further schemas, whose references are added at the end.
	for i := 0; i < len(set.refs); i++ {
		set.resolve(set.refs[i], &problems)
	}
	set.checkLoops(&problems)
	set.checkDynamic(&problems)
	set.targets = map[*Schema]target{}
	for _, p := range set.refs {
		t, ok := set.targets[p.from.Target]
		if !ok {
			t.from = p.doc
		} else if t.from != p.doc {
			t.from = nil
		}
		t.references++
		set.targets[p.from.Target] = t
	}
	return set, problems.Sorted()
}

// parse reads a file, in YAML if its name says so.
func parse(f File) (*Node, *Problem) {
	if ext := path.Ext(f.Path); ext == ".yaml" || ext == ".yml" {
		return ParseYAML(f.Path, f.Data)
	}
	return ParseJSON(f.Path, f.Data)
}

// resolve finds what one reference leads to.
func (set *Set) resolve(p pending, problems *Problems) {
	ref := p.from.Ref
	uri, fragment, _ := strings.Cut(ref, "#")
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		problems.Errorf(p.at, "$ref %q: %v", ref, err)
		return
	}
	base, to := strings.TrimSuffix(p.base, "#"), resourceRef{p.doc, p.resource}
	if uri != "" {
		base = resolveURI(p.base, uri)
		var ok bool
		if to, ok = set.find(base, path.Join(path.Dir(p.doc.File), uri)); !ok {
			problems.Errorf(p.at, "$ref %q leads to none of the given files; nothing is fetched", ref)
			return
		}
	}
	switch {
	case fragment == "":
		p.from.Target = to.schema
	case fragment[0] == '/':
		p.from.Target = set.lookup(to, fragment, problems)
	default:
		if a, ok := set.ids[base+"#"+fragment]; ok {
			p.from.Target = a.schema
		}
	}
	if p.from.Target == nil {
		problems.Errorf(p.at, "$ref %q leads nowhere", ref)
	}
}

// find returns the resource of a URI: by its $id, as a file beside the one that
// refers to it, or, of an address elsewhere, as the one given file of that name.
func (set *Set) find(uri, file string) (resourceRef, bool) {
	if to, ok := set.ids[uri]; ok {
		return to, true
	}
	if to, ok := set.ids[file]; ok {
		return to, true
	}
	var found []*Document
	if u, err := url.Parse(uri); err == nil && u.IsAbs() {
		for _, doc := range set.Documents {
			if path.Base(doc.File) == path.Base(u.Path) {
				found = append(found, doc)
			}
		}
	}
	if len(found) != 1 {
		return resourceRef{}, false
	}
	return resourceRef{found[0], found[0].Root}, true
}

// lookup returns the schema at a pointer below a resource. A place that is not
// reached by keywords is read as a schema now.
func (set *Set) lookup(to resourceRef, pointer string, problems *Problems) *Schema {
	tokens := strings.Split(pointer, "/")[1:]
	canonical := to.schema.Pointer
	for i, t := range tokens {
		tokens[i] = Unescape(t)
		canonical += "/" + escapePointer(tokens[i])
	}
	if s, ok := to.doc.byPointer[canonical]; ok {
		return s
	}
	n := to.doc.node.at(canonical)
	if n == nil {
		return nil
	}
	r := &reader{set: set, doc: to.doc, problems: problems, base: to.doc.File, resource: to.doc.Root}
	if to.schema.ID != "" {
		r.base, r.resource = resolveURI(r.base, to.schema.ID), to.schema
	}
	s := r.schema(n)
	r.reportUnknown()
	return s
}

// at returns the node at a canonical pointer below the root n, or nil.
func (n *Node) at(pointer string) *Node {
	if n.Pointer == pointer {
		return n
	}
	for _, m := range n.Members {
		if p := m.Value.Pointer; p == pointer || strings.HasPrefix(pointer, p+"/") {
			return m.Value.at(pointer)
		}
	}
	for _, v := range n.Items {
		if p := v.Pointer; p == pointer || strings.HasPrefix(pointer, p+"/") {
			return v.at(pointer)
		}
	}
	return nil
}

// checkLoops reports references that lead to themselves with nothing between.
func (set *Set) checkLoops(problems *Problems) {
	for _, p := range set.refs {
		slow, fast := p.from, p.from.Target
		for fast != nil && fast.Target != nil && fast != slow {
			slow, fast = slow.Target, fast.Target.Target
		}
		if fast != nil && fast == slow {
			problems.Errorf(p.at, "$ref %q leads back to itself", p.from.Ref)
		}
	}
}

// dynamicName is what a dynamic anchor and the references to it share: the anchor
// of draft 2020-12, or that of 2019-09, which has no name.
func dynamicName(keyword, anchor string) string {
	if keyword == "$recursiveAnchor" || keyword == "$recursiveRef" {
		return "#"
	}
	return anchor
}

func (set *Set) addDynamic(name string, s, resource *Schema) {
	if name != "" {
		set.dynamic[name] = append(set.dynamic[name], resourceAnchor{s, resource})
	}
}

// checkDynamic warns of references that may lead elsewhere than they are said to:
// they begin at a dynamic anchor, and another resource has one of that name, which
// counts if a validator comes by that resource first.
func (set *Set) checkDynamic(problems *Problems) {
	for _, p := range set.refs {
		if p.keyword == "$ref" || p.from.Target == nil {
			continue
		}
		_, fragment, _ := strings.Cut(p.from.Ref, "#")
		anchors := set.dynamic[dynamicName(p.keyword, fragment)]
		i := slices.IndexFunc(anchors, func(a resourceAnchor) bool { return a.schema == p.from.Target })
		if i >= 0 && slices.ContainsFunc(anchors, func(a resourceAnchor) bool { return a.resource != anchors[i].resource }) {
			problems.Warnf(p.at, "%s %q is read as $ref: it depends on the way here which of %d schemas it means, and that is not supported", p.keyword, p.from.Ref, len(anchors))
		}
	}
}

// resolveURI resolves a reference against a base. File paths are bases too.
func resolveURI(base, ref string) string {
	b, err := url.Parse(strings.TrimSuffix(base, "#"))
	if err != nil {
		return ref
	}
	r, err := url.Parse(ref)
	if err != nil {
		return ref
	}
	if r.IsAbs() || b.IsAbs() {
		return strings.TrimSuffix(b.ResolveReference(r).String(), "#")
	}
	return path.Join(path.Dir(base), ref)
}

// At returns the schema at a position, or nil.
func (set *Set) At(p Position) *Schema {
	for _, doc := range set.Documents {
		if doc.File == p.File {
			return doc.byPointer[p.Pointer]
		}
	}
	return nil
}

// Referenced reports whether a reference leads to s.
func (set *Set) Referenced(s *Schema) bool { return set.References(s) > 0 }

// References returns how many references lead to s.
func (set *Set) References(s *Schema) int { return set.targets[s].references }

// Shared reports whether a reference in another document leads to the root of
// doc.
func (set *Set) Shared(doc *Document) bool {
	t, ok := set.targets[doc.Root]
	return ok && t.from != doc
}
