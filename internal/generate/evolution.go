package generate

import (
	"context"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/evolve"
	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/output"
	"github.com/restaq/restaq/internal/problem"
	"github.com/restaq/restaq/templates"
)

// Evolution is how a package came to be what it is, as far as executions in
// flight depend on it.
type Evolution struct {
	// Dir is the package's folder.
	Dir string

	// Base is the lock file that was committed.
	Base lock.File

	source evolve.Source
	disk   []byte // the lock file as it lies there
	src    *model.Source
	pkg    *model.Package
}

// Changes returns what changed from a lock file, Base or another, to the source,
// as problems: notes where it stops nothing.
func (e *Evolution) Changes(base lock.File) problem.List {
	var changes problem.List
	for _, c := range evolve.Compare(base, e.source) {
		changes.Add(problem.Problem{
			Pos: e.position(&c), Subject: c.Subject(), Reason: c.Reason, Hint: c.Remedy,
			Rule: string(c.Rule), Verdict: c.Result(), Note: !c.Fails(),
		})
	}
	return append(changes, e.unlisted(base)...)
}

// Step returns what the source says of a step, without earlier shapes.
func (e *Evolution) Step(name string) lock.Step { return e.source.File.Steps[name] }

// unlisted returns a problem for each step of another lock file than Base whose
// records this build does not know of, although it would read them, because the
// other was made of a commit that this one does not build on.
func (e *Evolution) unlisted(other lock.File) problem.List {
	var problems problem.List
	for _, s := range e.pkg.Steps() {
		now := e.source.File.Steps[s.Record]
		known, _ := evolve.Readings(e.Base, s.Record, now)
		wanted, _ := evolve.Readings(other, s.Record, now)
		for _, print := range wanted {
			if !slices.Contains(known, print) {
				problems.Add(problem.Problem{
					Pos: s.Pos, Subject: "step " + s.Record,
					Reason: fmt.Sprintf("the lock file that it is compared with has the shape %q, of which the one committed here does not tell", print),
					Hint:   "merge or rebase, so that both histories are in one lock file, and run go generate",
					Rule:   string(evolve.ShapeUnknown), Verdict: evolve.Breaks.String(),
				})
			}
		}
	}
	return problems
}

// Accept takes the breaking changes of steps and handlers on purpose. It returns
// the lock file that says so, and the names that have no such change.
func (e *Evolution) Accept(names []string) (output.File, []string, error) {
	accepted, idle := evolve.Accept(evolve.Compare(e.Base, e.source), names)
	source := e.source
	source.Accepted = append(slices.Clone(source.Accepted), accepted...)
	file, err := e.file(source)
	return file, idle, err
}

// file returns the lock file as it should be.
func (e *Evolution) file(source evolve.Source) (output.File, error) {
	file := output.File{Path: filepath.Join(e.Dir, lock.Name)}
	next := evolve.Next(e.Base, source)
	if len(next.Steps)+len(next.Handlers) == 0 {
		return file, nil
	}
	var err error
	file.Content, err = next.Encode()
	return file, err
}

// shapes are the shapes as the emitter wants them.
func (e *Evolution) shapes() map[string]templates.OutputShape {
	all := map[string]templates.OutputShape{}
	for name, step := range e.source.File.Steps {
		shape := templates.OutputShape{Converted: e.source.Converted[name]}
		if step.Output != lock.None {
			shape.Fingerprint = step.Output
		}
		shape.Reads, shape.ReadBy = evolve.Readings(e.Base, name, step)
		for _, print := range evolve.Shapes(e.Base, name, step) {
			if print == lock.None {
				print = ""
			}
			if !slices.Contains(slices.Concat(shape.Reads, shape.ReadBy, shape.Converted), print) {
				shape.Earlier = append(shape.Earlier, print)
			}
		}
		all[name] = shape
	}
	return all
}

// converters reports converters of shapes that no record has.
func (e *Evolution) converters() problem.List {
	var problems problem.List
	for _, s := range e.pkg.Steps() {
		now := e.source.File.Steps[s.Record]
		known := evolve.Shapes(e.Base, s.Record, now)
		for i, c := range s.Converters {
			print := e.source.Converted[s.Record][i]
			found := problem.Problem{Pos: c.Pos, Subject: "converter " + c.Name}
			switch {
			case print == now.Output:
				found.Reason = fmt.Sprintf("converts the shape %s, which is that of today's output of step %s", print, s.Record)
				found.Hint = "remove it, or let it take the type that the output had"
			case slices.Index(e.source.Converted[s.Record], print) < i:
				found.Reason = fmt.Sprintf("converts the shape %s of step %s, as another converter does", print, s.Record)
			case !slices.Contains(known, print):
				found.Reason = fmt.Sprintf("converts the shape %s, which no record of step %s has: %s tells of %s",
					print, s.Record, lock.Name, strings.Join(known, ", "))
				found.Hint = "let it take the type that the output had, under another name"
				if len(known) == 0 {
					found.Reason = fmt.Sprintf("converts the shape %s, but there is no lock file that tells what records of step %s look like", print, s.Record)
					found.Hint = "commit " + lock.Name + " before the type changes"
				}
			default:
				continue
			}
			problems.Add(found)
		}
	}
	return problems
}

// evolutions reads the lock files of packages, unless fresh says that there are
// none.
func evolutions(ctx context.Context, sources []*model.Source, packages []*model.Package, fresh bool) (all []*Evolution, notes []Note, problems problem.List) {
	var dirs []string
	for i, p := range packages {
		e := &Evolution{Dir: p.Dir, src: sources[i], pkg: p}
		if all = append(all, e); fresh {
			continue
		}
		disk, data, err := lock.Read(p.Dir)
		if e.disk = data; err != nil {
			problems.Add(problem.Problem{
				Pos: token.Position{Filename: filepath.Join(p.Dir, lock.Name)}, Reason: err.Error(),
				Hint: "it tells what records of executions in flight look like, and is not written anew:\n" +
					"keep what both sides of a merge have, or take one side (git checkout --ours, or --theirs), or the last commit's (git checkout HEAD),\n" +
					"and run go generate",
			})
			continue
		}
		e.Base, e.source.Accepted = disk, disk.Accepted
		if !p.Empty() || data != nil {
			dirs = append(dirs, p.Dir)
		}
	}
	committed, unknown := lock.Committed(ctx, dirs)
	for _, e := range all {
		if base, ok := committed[e.Dir]; ok {
			e.Base = base
		} else if err := unknown[e.Dir]; err != nil {
			notes = append(notes, Note{filepath.Join(e.Dir, lock.Name), fmt.Sprintf("counts as committed as it is on disk, because git does not tell: %v", err)})
		}
	}
	return all, notes, problems
}
