package schema

import (
	"net/url"
	"path"
	"strings"
)

// File is a schema file as it was read from disk.
type File struct {
	Path string // with slashes; references between files are relative to it
	Data []byte
}

// Set is a number of documents whose references are resolved.
type Set struct {
	Documents []*Document // in the order of the files

	ids  map[string]resourceRef // by absolute URI, and by URI#anchor
	refs []pending
}

type resourceRef struct {
	doc    *Document
	schema *Schema
}

// pending is a reference that is still to be resolved.
type pending struct {
	from     *Schema
	at       Position
	doc      *Document
	base     string
	resource *Schema
}

// Load reads files and resolves their references among each other. Nothing is
// fetched: a reference to something else is a problem. The set is whole only if
// the problems have not Failed.
func Load(files []File) (*Set, Problems) {
	var problems Problems
	set := &Set{ids: map[string]resourceRef{}}
	for _, f := range files {
		node, problem := ParseJSON(f.Path, f.Data)
		if problem != nil {
			problems = append(problems, *problem)
			continue
		}
		r := &reader{set: set, problems: &problems}
		doc := r.document(node)
		set.Documents = append(set.Documents, doc)
		set.ids[f.Path] = resourceRef{doc, doc.Root}
	}
	// Resolving may read further schemas, whose references are added at the end.
	for i := 0; i < len(set.refs); i++ {
		set.resolve(set.refs[i], &problems)
	}
	set.checkLoops(&problems)
	return set, problems.Sorted()
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
		if to, ok = set.ids[base]; !ok {
			if to, ok = set.ids[path.Join(path.Dir(p.doc.File), uri)]; !ok {
				problems.Errorf(p.at, "$ref %q leads to none of the given files; nothing is fetched", ref)
				return
			}
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

// lookup returns the schema at a pointer below a resource. A place that is not
// reached by keywords is read as a schema now.
func (set *Set) lookup(to resourceRef, pointer string, problems *Problems) *Schema {
	tokens := strings.Split(pointer, "/")[1:]
	canonical := to.schema.Pointer
	for i, t := range tokens {
		tokens[i] = unescapePointer(t)
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
	return r.schema(n)
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

// Referenced reports whether a reference leads to s.
func (set *Set) Referenced(s *Schema) bool {
	for _, p := range set.refs {
		if p.from.Target == s {
			return true
		}
	}
	return false
}

// Shared reports whether a reference in another document leads to the root of
// doc.
func (set *Set) Shared(doc *Document) bool {
	for _, p := range set.refs {
		if p.from.Target == doc.Root && p.doc != doc {
			return true
		}
	}
	return false
}
