package check

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/naming"
	"github.com/restaq/restaq/internal/problem"
)

// marked is a declaration with a marker, and what becomes of it.
type marked struct {
	*marker.Decl
	file    *model.File
	subject string // of its problems
	stem    string // of generated names; for functions

	// One of these is set once the declaration was found to be in order.
	handler *model.Handler
	step    *model.Step
	event   *model.EventDecl
	convert *model.Converter

	broken bool // has a problem, so that it stays out of the model
}

// fn returns what handler and step have in common, nil if there is none.
func (m *marked) fn() *model.Func {
	switch {
	case m.handler != nil:
		return &m.handler.Func
	case m.step != nil:
		return &m.step.Func
	}
	return nil
}

// fail reports a problem of a marked declaration, which stays out of the model.
func (c *checker) fail(m *marked, pos token.Pos, reason, hint string) {
	m.broken = true
	c.problems.Add(problem.Problem{Pos: c.src.Position(pos), Subject: m.subject, Reason: reason, Hint: hint})
}

// findMarks finds the marked declarations and reports what is wrong with the
// markers themselves.
func (c *checker) findMarks() {
	for _, file := range c.src.Files {
		decls, loose := marker.Find(file.Syntax)
		for _, e := range loose {
			c.problems.Add(problem.Problem{Pos: c.src.Position(e.Pos), Subject: looseSubject(e.Verb), Reason: e.Reason, Hint: e.Hint})
		}
		for _, d := range decls {
			m := &marked{Decl: d, file: file, broken: d.Marker == nil}
			m.subject = c.subject(m)
			for _, e := range d.Errors {
				if e.Verb == "" {
					c.problems.Add(problem.Problem{Pos: c.src.Position(e.Pos), Reason: e.Reason, Hint: e.Hint})
					m.broken = true
				} else {
					c.fail(m, e.Pos, e.Reason, e.Hint)
				}
			}
			if d.Marker != nil {
				c.marked = append(c.marked, m)
			}
		}
	}
}

// looseSubject is the subject of a marker that stands on nothing.
func looseSubject(verb string) string {
	if verb == "" {
		return ""
	}
	return "//restaq:" + verb
}

// subject names a declaration in problems.
func (c *checker) subject(m *marked) string {
	switch {
	case m.Type != nil:
		return "event " + m.Type.Name.Name
	case m.Marker != nil && m.Marker.Verb == marker.Step:
		return "step " + recordName(m)
	case m.Marker != nil && m.Marker.Verb == marker.On:
		return "handler " + c.handlerName(m)
	case m.Marker != nil && m.Marker.Verb == marker.Convert:
		return "converter " + m.Func.Name.Name
	}
	return "function " + m.Func.Name.Name
}

// recordName returns a step's name.
func recordName(m *marked) string {
	if m.Marker.Name.Text != "" {
		return m.Marker.Name.Text
	}
	return naming.Kebab(m.Func.Name.Name)
}

// handlerName returns a handler's stable name.
func (c *checker) handlerName(m *marked) string {
	if m.Marker.Name.Text != "" {
		return m.Marker.Name.Text
	}
	name := m.Func.Name.Name
	if recv := receiverName(m.Func); recv != "" {
		name = recv + "." + name
	}
	return word(c.src) + "." + name
}

// receiverName returns the name of a method's type as the source has it, "" for
// a function.
func receiverName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	x := ast.Unparen(f.Recv.List[0].Type)
	if star, ok := x.(*ast.StarExpr); ok {
		x = ast.Unparen(star.X)
	}
	switch generic := x.(type) {
	case *ast.IndexExpr:
		x = generic.X
	case *ast.IndexListExpr:
		x = generic.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// strays reports markers in files that are not part of the package.
func (c *checker) strays() {
	for _, stray := range c.src.Strays {
		reason, hint := strayReason(stray)
		decls, loose := marker.Find(stray.Syntax)
		report := func(pos token.Pos, verb string) {
			c.problems.Add(problem.Problem{Pos: c.src.Position(pos), Subject: "//restaq:" + verb, Reason: reason, Hint: hint})
		}
		for _, d := range decls {
			if d.Marker != nil {
				report(d.Marker.Pos, d.Marker.Verb)
			}
		}
		for _, e := range loose {
			if e.Verb != "" {
				report(e.Pos, e.Verb)
			}
		}
	}
}

func strayReason(s *model.Stray) (reason, hint string) {
	switch s.Kind {
	case model.TestStray:
		return "markers in test files are not supported: generated code is no test", "move the declaration into a file that does not end in _test.go"
	case model.CgoStray:
		return `markers in files that import "C" are not supported`, "move the declaration into a file without cgo, and let it call this one"
	}
	if s.Constraint == "" {
		return "the file is not part of the package", ""
	}
	return fmt.Sprintf("the file is excluded by its build constraint %q", s.Constraint),
		"give restaqgen the -tags that the package is built with, or move the declaration into a file without a constraint"
}

// constraint sees to it that all marked files are built under the same
// constraint, which is then that of the generated files.
func (c *checker) constraint() {
	var first *marked
	for _, m := range c.marked {
		if first == nil {
			first = m
			c.pkg.Constraint = m.file.Constraint
		}
		if m.file.Constraint != first.file.Constraint {
			c.fail(m, m.Marker.Pos, fmt.Sprintf("its file is built %s, while %s, which has markers too, is built %s",
				under(m.file.Constraint), filepath.Base(first.file.Name), under(first.file.Constraint)),
				"all marked files of a package must be under the same build constraint, for the generated file is")
		}
	}
}

func under(constraint string) string {
	if constraint == "" {
		return "always"
	}
	return "under " + strconv.Quote(constraint)
}

// build checks a marked declaration and puts the model of it into m.
func (c *checker) build(m *marked) {
	switch m.Marker.Verb {
	case marker.Event:
		if m.Type != nil {
			c.buildEvent(m)
		}
	case marker.Step:
		if m.Func != nil {
			c.buildStep(m)
		}
	case marker.On:
		if m.Func != nil {
			c.buildHandler(m)
		}
	case marker.Convert:
		if m.Func != nil {
			c.buildConverter(m)
		}
	}
}

// group puts what is in order into the package, by receivers.
func (c *checker) group() {
	groups := map[*types.TypeName]*model.Group{}
	for _, m := range c.marked {
		if m.broken || m.convert != nil {
			continue
		}
		if m.event != nil {
			c.pkg.Events = append(c.pkg.Events, m.event)
			continue
		}
		f := m.fn()
		g := groups[f.Recv]
		if g == nil {
			g = &model.Group{Type: f.Recv}
			groups[f.Recv] = g
			c.pkg.Groups = append(c.pkg.Groups, g)
		}
		g.Pointer = g.Pointer || f.RecvPointer
		if m.handler != nil {
			g.Handlers = append(g.Handlers, m.handler)
		} else {
			g.Steps = append(g.Steps, m.step)
		}
	}
}
