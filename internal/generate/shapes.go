package generate

import (
	"errors"
	"fmt"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/problem"
	"github.com/restaq/restaq/internal/shape"
	"github.com/restaq/restaq/templates"
)

// shapes are the shapes of a package's steps: what its lock file says.
type shapes lock.File

// shapes computes the shapes of p's steps. Earlier shapes are kept from the
// lock file as long as the output's shape is the same. A lock file that cannot
// be read counts as empty.
func (r *Result) shapes(p *model.Package) (shapes, problem.List) {
	old := lock.File{}
	path := filepath.Join(p.Dir, lock.Name)
	data, err := os.ReadFile(path)
	if err == nil {
		old, err = lock.Parse(data)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Notes = append(r.Notes, Note{path, fmt.Sprintf("is written anew, because it cannot be read: %v", err)})
	}
	var problems problem.List
	var shaper shape.Shaper
	now := shapes{Steps: map[string]lock.Step{}}
	for _, s := range p.Steps() {
		step, errs := describe(&shaper, s, p.Types)
		for _, err := range errs {
			problems.Add(problem.Problem{Pos: s.Pos, Subject: "step " + s.Record, Reason: err.Error()})
		}
		if before := old.Steps[s.Record]; before.Output == step.Output {
			step.Earlier = before.Earlier
		}
		now.Steps[s.Record] = step
	}
	return now, problems
}

// describe returns what the lock file says of a step, and all that has no shape.
func describe(shaper *shape.Shaper, s *model.Step, from *types.Package) (lock.Step, []error) {
	var step lock.Step
	var errs []error
	for _, in := range s.Inputs {
		if _, err := shaper.Of(in.Type, from); err != nil {
			errs = append(errs, fmt.Errorf("input %s: %w", in.Name, err))
		}
	}
	if s.Output != nil {
		out, err := shaper.Of(s.Output, from)
		if err != nil {
			errs = append(errs, fmt.Errorf("output: %w", err))
		}
		step.Output, step.Schema = out.Fingerprint, out.Schema
	}
	if len(errs) > 0 {
		return step, errs
	}
	inputs, err := shaper.Inputs(inputTypes(s))
	if err != nil {
		return step, []error{err}
	}
	step.Inputs = inputs
	return step, nil
}

func inputTypes(s *model.Step) []types.Type {
	var inputs []types.Type
	for _, in := range s.Inputs {
		inputs = append(inputs, in.Type)
	}
	return inputs
}

// outputs are the shapes as the emitter wants them.
func (s shapes) outputs() map[string]templates.OutputShape {
	out := map[string]templates.OutputShape{}
	for name, step := range s.Steps {
		out[name] = templates.OutputShape{Fingerprint: step.Output, Reads: step.Earlier}
	}
	return out
}

// encode returns the lock file; nil for a package without steps.
func (s shapes) encode() ([]byte, error) {
	if len(s.Steps) == 0 {
		return nil, nil
	}
	return lock.File(s).Encode()
}

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
