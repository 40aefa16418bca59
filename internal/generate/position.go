package generate

import (
	"bytes"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/evolve"
	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/shape"
)

// position returns where a change is: the field, as far as the path to it leads,
// else the function; or a line of the lock file.
func (e *Evolution) position(c *evolve.Change) token.Position {
	if c.Gone {
		name := c.Step + c.Handler
		pos := token.Position{Filename: filepath.Join(e.Dir, lock.Name)}
		if before, _, ok := bytes.Cut(e.disk, []byte("\n    \""+name+"\": {")); ok {
			pos.Line, pos.Column = bytes.Count(before, []byte("\n"))+2, 5
		}
		return pos
	}
	for _, h := range e.pkg.Handlers() {
		if c.Handler == h.FullName {
			return h.Pos
		}
	}
	for _, s := range e.pkg.Steps() {
		if c.Step != s.Record {
			continue
		}
		if pos := e.field(s.Output, c.Path); c.Path != "" && pos.IsValid() {
			return pos
		}
		return s.Pos
	}
	return token.Position{Filename: e.Dir}
}

// field returns where the field is declared that a path leads to; the zero
// position if none is found. A path that the type has not leads as far as it has.
func (e *Evolution) field(t types.Type, path string) token.Position {
	var pos token.Position
	for t != nil && path != "" {
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t, path = u.Elem(), strings.TrimPrefix(path, "[]")
		case *types.Array:
			t, path = u.Elem(), strings.TrimPrefix(path, "[]")
		case *types.Map:
			t, path = u.Elem(), strings.TrimPrefix(path, "{}")
		case *types.Struct:
			if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil {
				pos = e.src.Position(named.Obj().Pos())
			}
			field, rest := member(u, strings.TrimPrefix(path, "."))
			if field == nil {
				return pos
			}
			pos, t, path = e.src.Position(field.Pos()), field.Type(), rest
		default:
			return pos
		}
	}
	return pos
}

// member returns the field of the member that a path begins with, and the rest of
// the path.
func member(s *types.Struct, path string) (*types.Var, string) {
	for _, f := range shape.Fields(s) {
		rest, ok := strings.CutPrefix(path, f.Name)
		if !ok || rest != "" && !strings.ContainsAny(rest[:1], ".[{") {
			continue
		}
		var field *types.Var
		at := s
		for _, i := range f.Index {
			field = at.Field(i)
			t := field.Type()
			if p, ok := t.Underlying().(*types.Pointer); ok {
				t = p.Elem()
			}
			at, _ = t.Underlying().(*types.Struct)
		}
		return field, rest
	}
	return nil, ""
}
