package generate

import (
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/shape"
	"github.com/restaq/restaq/templates"
)

// guard sets what the guards of p's generated code say: the types of the user's
// module whose declarations decide what p's steps take and return, and all
// structs that p's codecs look into.
func guard(in *templates.Input) {
	p := in.Package
	var roots []types.Type
	for _, s := range p.Steps() {
		roots = append(roots, inputTypes(s)...)
		if s.Output != nil {
			roots = append(roots, s.Output)
		}
		for _, c := range s.Converters {
			roots = append(roots, c.From)
		}
	}
	module := modulePath(p.Dir)
	inModule := func(pkg *types.Package) bool {
		return pkg == p.Types || pkg.Path() == module || module != "" && strings.HasPrefix(pkg.Path(), module+"/")
	}
	in.Guarded = shape.Guarded(p.Types, inModule, roots, in.Plan.Structs())
	in.Expands = func(t *types.Alias) bool { return shape.Expands(p.Types, inModule, t) }
}

// modulePath returns the path of the module that dir belongs to, as the nearest
// go.mod says; "" if there is none.
func modulePath(dir string) string {
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			for line := range strings.Lines(string(data)) {
				if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "module" {
					return strings.Trim(fields[1], "\"`")
				}
			}
			return ""
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
