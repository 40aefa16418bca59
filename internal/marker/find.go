package marker

import (
	"go/ast"
	"go/token"
	"slices"
)

// Decl is a declaration with comments that are, or were meant as, markers.
type Decl struct {
	// Func is the function or method; nil for a type.
	Func *ast.FuncDecl

	// Type is the type; nil for a function.
	Type *ast.TypeSpec

	// Marker is the declaration's marker, the first if there are several; nil
	// if none could be read.
	Marker *Marker

	// Was are the names that the handler or step had before, in the order of
	// their markers.
	Was []Word

	// Errors are what is wrong with the declaration's markers.
	Errors []Error
}

// Find returns the marked declarations of a file in source order, and the
// errors of markers that stand on none.
func Find(file *ast.File) ([]*Decl, []Error) {
	docs := declarations(file)
	found := map[*ast.CommentGroup]*Decl{}
	var decls []*Decl
	var loose []Error
	for _, group := range file.Comments {
		for _, c := range group.List {
			m, errs := Parse(c.Text, c.Pos())
			if m == nil && len(errs) == 0 {
				continue
			}
			d, attached := docs[group]
			if !attached {
				if m != nil {
					e := nowhere(file, group)
					e.Pos, e.Verb = c.Pos(), m.Verb
					loose = append(loose, e)
				}
				loose = append(loose, errs...)
				continue
			}
			if found[group] == nil {
				found[group] = d
				decls = append(decls, d)
			}
			d.Errors = append(d.Errors, errs...)
			if m != nil {
				d.add(m)
			}
		}
	}
	for _, d := range decls {
		if len(d.Was) > 0 && (d.Marker == nil || d.Marker.Verb == Convert) && len(d.Errors) == 0 {
			d.Errors = append(d.Errors, Error{
				Verb: Was, Pos: d.Was[0].Pos, Reason: "marks neither a handler nor a step",
				Hint: "//restaq:was stands beside //restaq:on or //restaq:step",
			})
		}
	}
	return decls, loose
}

// add adds a marker to the declaration.
func (d *Decl) add(m *Marker) {
	fail := func(reason, hint string) {
		d.Errors = append(d.Errors, Error{Verb: m.Verb, Pos: m.Pos, Reason: reason, Hint: hint})
	}
	switch {
	case d.Func != nil && m.Verb == Event:
		fail("//restaq:event marks a struct type, and this is a function", "")
		return
	case d.Type != nil && m.Verb != Event:
		fail("//restaq:"+m.Verb+" marks a function, and this is a type", "")
		return
	case m.Verb == Was:
		for _, old := range m.Old {
			if slices.ContainsFunc(d.Was, func(w Word) bool { return w.Text == old.Text }) {
				d.Errors = append(d.Errors, Error{Verb: Was, Pos: old.Pos, Reason: "name " + old.Text + " is given twice"})
				continue
			}
			d.Was = append(d.Was, old)
		}
		return
	case d.Marker == nil:
		d.Marker = m
		return
	case d.Marker.Verb == Convert && m.Verb == Convert:
		fail("second marker //restaq:convert on one function", "a converter is for one step")
	case d.Marker.Verb == Convert || m.Verb == Convert:
		fail("a converter is neither a handler nor a step", "")
	case d.Marker.Verb != m.Verb:
		fail("a function is a handler or a step, not both", "")
	case m.Verb == On:
		fail("second marker //restaq:on on one function", "list all event types in one marker")
	default:
		fail("second marker //restaq:"+m.Verb+" on one declaration", "")
	}
}

// declarations returns the functions and types of a file by their doc comments.
func declarations(file *ast.File) map[*ast.CommentGroup]*Decl {
	docs := map[*ast.CommentGroup]*Decl{}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Doc != nil {
				docs[decl.Doc] = &Decl{Func: decl}
			}
		case *ast.GenDecl:
			if decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				spec, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				doc := spec.Doc
				if !decl.Lparen.IsValid() {
					doc = decl.Doc
				}
				if doc != nil {
					docs[doc] = &Decl{Type: spec}
				}
			}
		}
	}
	return docs
}

// nowhere says why a comment group marks nothing.
func nowhere(file *ast.File, group *ast.CommentGroup) Error {
	const hint = "a marker stands in the comment directly above a function or a type, without a blank line between"
	if group == file.Doc {
		return Error{Reason: "marks nothing: it stands on the package clause", Hint: hint}
	}
	for _, decl := range file.Decls {
		inside := decl.Pos() <= group.Pos() && group.End() <= decl.End()
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if inside {
				return Error{Reason: "marks nothing: it stands inside function " + decl.Name.Name, Hint: hint}
			}
			if group.End() <= decl.Pos() {
				return Error{Reason: "marks nothing: it stands apart from function " + decl.Name.Name, Hint: hint}
			}
		case *ast.GenDecl:
			switch {
			case decl.Doc == group && decl.Tok == token.TYPE:
				return Error{Reason: "marks nothing: it stands on a group of types", Hint: "move it to the one type that it is for"}
			case decl.Doc == group || inside && decl.Tok != token.TYPE:
				return Error{Reason: "marks nothing: it stands on the declaration of " + kinds[decl.Tok], Hint: hint}
			case inside:
				return Error{Reason: "marks nothing: it stands inside a type declaration", Hint: hint}
			case group.End() <= decl.Pos():
				return Error{Reason: "marks nothing: it stands apart from the declaration below it", Hint: hint}
			}
		}
	}
	return Error{Reason: "marks nothing: no declaration follows it", Hint: hint}
}

var kinds = map[token.Token]string{token.IMPORT: "an import", token.CONST: "a constant", token.VAR: "a variable"}
