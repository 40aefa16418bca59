// Package chain finds what functions do through what they call: for each function
// of a package the shortest chain of calls to something that a check looks for.
package chain

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/restaq/restaq/checks/internal/marked"
)

// Finder says what to look for.
type Finder struct {
	Pkg *marked.Package

	// Does returns what a function of another package does itself, "" for nothing.
	// At is the mention.
	Does func(fn *types.Func, at ast.Expr) string

	// Imported returns the chain of a function of another package, its own name
	// first; nil if it has none.
	Imported func(fn *types.Func) []string

	// Ignore reports whether not to look into a function.
	Ignore func(fn *types.Func) bool
}

// Site is a mention of a function that does what is looked for, or leads to it.
type Site struct {
	// At is the mention.
	At ast.Expr

	// Func is the function that is mentioned.
	Func *types.Func

	// Chain are the names from the function to what is done.
	Chain []string
}

// Chains are what is known of the functions of a package.
type Chains struct {
	finder *Finder
	of     map[*types.Func][]string
}

// Of returns the chain of a function of the package, its own name first; nil if it
// has none.
func (c *Chains) Of(fn *types.Func) []string { return c.of[fn] }

// Find looks into all functions of the package. Steps are not looked into, and
// what restaq.Do is given neither: they end the search.
func (f *Finder) Find() *Chains {
	c := &Chains{f, map[*types.Func][]string{}}
	callers := map[*types.Func][]*types.Func{}
	var queue []*types.Func // by the length of their chains
	for _, fn := range f.Pkg.Funcs {
		shortest := c.shortest(fn, func(callee *types.Func) { callers[callee] = append(callers[callee], fn) })
		if shortest != nil {
			c.of[fn] = append([]string{marked.Name(fn)}, shortest...)
			queue = insert(queue, fn, c.of)
		}
	}
	for len(queue) > 0 {
		fn := queue[0]
		queue = queue[1:]
		for _, caller := range callers[fn] {
			if c.of[caller] == nil {
				c.of[caller] = append([]string{marked.Name(caller)}, c.of[fn]...)
				queue = insert(queue, caller, c.of)
			}
		}
	}
	return c
}

// insert puts a function behind those whose chains are not longer.
func insert(queue []*types.Func, fn *types.Func, of map[*types.Func][]string) []*types.Func {
	i := len(queue)
	for i > 0 && len(of[queue[i-1]]) > len(of[fn]) {
		i--
	}
	queue = append(queue, nil)
	copy(queue[i+1:], queue[i:])
	queue[i] = fn
	return queue
}

// shortest returns the shortest chain that begins in a function's own body, and
// calls own for the functions of the package that it mentions.
func (c *Chains) shortest(fn *types.Func, own func(*types.Func)) []string {
	var shortest []string
	c.mentions(c.finder.Pkg.Decls[fn].Body, func(at ast.Expr, callee *types.Func) {
		if c.finder.Pkg.Decls[callee] != nil {
			own(callee)
		} else if chain := c.foreign(callee, at); chain != nil && (shortest == nil || len(chain) < len(shortest)) {
			shortest = chain
		}
	})
	return shortest
}

// foreign returns the chain of a function of another package.
func (c *Chains) foreign(fn *types.Func, at ast.Expr) []string {
	if name := c.finder.Does(fn, at); name != "" {
		return []string{name}
	}
	return c.finder.Imported(fn)
}

// mentions calls f for each function that is mentioned under root and is neither a
// step's nor ignored.
func (c *Chains) mentions(root ast.Node, f func(at ast.Expr, fn *types.Func)) {
	seen := map[token.Pos]bool{} // the names that a selector has spoken for
	c.finder.Pkg.Walk(root, func(n ast.Node) bool {
		var at ast.Expr
		switch n := n.(type) {
		case *ast.SelectorExpr:
			seen[n.Sel.Pos()] = true
			at = n
		case *ast.Ident:
			if seen[n.Pos()] {
				return true
			}
			at = n
		default:
			return true
		}
		fn := c.finder.Pkg.Mention(at)
		if fn != nil && c.finder.Pkg.StepOf(fn) == nil && c.finder.Pkg.WrapperOf(fn) == nil && !c.finder.Ignore(fn) {
			f(at, fn)
		}
		return true
	})
}

// Sites returns what under root does, or leads to, what is looked for, in source
// order.
func (c *Chains) Sites(root ast.Node) []Site {
	var sites []Site
	c.mentions(root, func(at ast.Expr, fn *types.Func) {
		chain := c.of[fn]
		if c.finder.Pkg.Decls[fn] == nil {
			chain = c.foreign(fn, at)
		}
		if chain != nil {
			sites = append(sites, Site{at, fn, chain})
		}
	})
	return sites
}
