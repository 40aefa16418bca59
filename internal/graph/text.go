package graph

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many characters of an expression are shown.
const longest = 60

// text returns an expression on one line, shortened.
func text(x ast.Expr) string {
	if x == nil {
		return ""
	}
	return short(types.ExprString(x))
}

// texts returns expressions with commas between, shortened.
func texts(list []ast.Expr) string { return short(listString(list)) }

// stmtText returns a simple statement on one line, shortened.
func stmtText(s ast.Stmt) string { return short(stmtString(s)) }

func stmtString(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return exprString(s.X)
	case *ast.AssignStmt:
		return listString(s.Lhs) + " " + s.Tok.String() + " " + listString(s.Rhs)
	case *ast.IncDecStmt:
		return types.ExprString(s.X) + s.Tok.String()
	case *ast.SendStmt:
		return types.ExprString(s.Chan) + " <- " + types.ExprString(s.Value)
	}
	return ""
}

func listString(list []ast.Expr) string {
	var all []string
	for _, x := range list {
		all = append(all, exprString(x))
	}
	return strings.Join(all, ", ")
}

// exprString is types.ExprString, which does not know the x.(type) of a type
// switch.
func exprString(x ast.Expr) string {
	if of, ok := x.(*ast.TypeAssertExpr); ok && of.Type == nil {
		return types.ExprString(of.X) + ".(type)"
	}
	return types.ExprString(x)
}

// loopText returns what stands between for and the body.
func loopText(s *ast.ForStmt) string {
	if s.Cond == nil && s.Init == nil && s.Post == nil {
		return ""
	}
	cond := ""
	if s.Cond != nil {
		cond = types.ExprString(s.Cond)
	}
	if s.Init == nil && s.Post == nil {
		return short(cond)
	}
	return short(strings.TrimSpace(stmtString(s.Init) + "; " + cond + "; " + stmtString(s.Post)))
}

// rangeText returns what a loop ranges over, and the variables that matter.
func rangeText(s *ast.RangeStmt) string {
	var vars []ast.Expr
	for _, x := range []ast.Expr{s.Key, s.Value} {
		if x != nil {
			vars = append(vars, x)
		}
	}
	if len(vars) == 0 {
		return short("range " + types.ExprString(s.X))
	}
	return short(listString(vars) + " " + s.Tok.String() + " range " + types.ExprString(s.X))
}

// short returns a text on one line, at most so long, without what cannot be
// seen.
func short(s string) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError, !unicode.IsPrint(r):
			r = '\uFFFD'
		}
		if space {
			b.WriteByte(' ')
			space, n = false, n+1
		}
		if n >= longest {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// stringOf returns the value of a constant string.
func stringOf(t types.TypeAndValue) (string, bool) {
	if t.Value == nil || t.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(t.Value), true
}
