package marked

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// Inputs returns the parameters of a step's function that are recorded: those
// behind the context and the transaction.
func (s *Step) Inputs() []*types.Var {
	params := s.Func.Signature().Params()
	var inputs []*types.Var
	for i := 1; i < params.Len(); i++ {
		if p := params.At(i); i > 1 || !isTransaction(p.Type()) {
			inputs = append(inputs, p)
		}
	}
	return inputs
}

// Output returns the result of a step's function that is recorded, nil if there is
// none.
func (s *Step) Output() *types.Var {
	if results := s.Func.Signature().Results(); results.Len() == 2 {
		return results.At(0)
	}
	return nil
}

// isTransaction reports whether t is what a step takes a transaction as.
func isTransaction(t types.Type) bool {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		return IsNamed(pointer.Elem(), "database/sql", "Tx")
	}
	return IsNamed(t, "github.com/jackc/pgx/v5", "Tx")
}

// IsNamed reports whether t is the named type of a package.
func IsNamed(t types.Type, path, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == path && named.Obj().Name() == name
}

// A Do is a call of restaq.Do.
type Do struct {
	Call *ast.CallExpr
	Name string       // of the step; "" if it is no constant
	Func *ast.FuncLit // the step's function; nil if it is no literal
}

// String names the step as findings do.
func (d *Do) String() string {
	if d.Name == "" {
		return "restaq.Do"
	}
	return "step " + d.Name
}

// Does returns the calls of restaq.Do in the package's files, in source order.
func (p *Package) Does() []*Do { return p.does() }

func (p *Package) findDoes() []*Do {
	var found []*Do
	for _, file := range p.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && p.IsDo(call) && len(call.Args) == 3 {
				do := &Do{Call: call}
				if name := p.pass.TypesInfo.Types[call.Args[1]].Value; name != nil && name.Kind() == constant.String {
					do.Name = constant.StringVal(name)
				}
				do.Func, _ = ast.Unparen(call.Args[2]).(*ast.FuncLit)
				found = append(found, do)
			}
			return true
		})
	}
	return found
}
