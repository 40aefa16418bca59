package generate

import (
	"encoding/json"
	"fmt"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/restaq/restaq/internal/lock"
	"github.com/restaq/restaq/internal/model"
	"github.com/restaq/restaq/internal/problem"
	"github.com/restaq/restaq/internal/shape"
)

// describe returns the lock file of a package as one would write it who knows of
// no other, the shapes that its converters take, by step and in their order, and
// a problem for everything that has no shape.
func describe(src *model.Source, p *model.Package) (lock.File, map[string][]string, problem.List) {
	var problems problem.List
	var shaper shape.Shaper
	file := lock.File{Handlers: map[string]lock.Handler{}, Steps: map[string]lock.Step{}}
	converted := map[string][]string{}
	for _, s := range p.Steps() {
		step, errs := describeStep(&shaper, s, p.Types)
		for _, err := range errs {
			problems.Add(problem.Problem{Pos: s.Pos, Subject: "step " + s.Record, Reason: err.Error()})
		}
		file.Steps[s.Record] = step
		for _, c := range s.Converters {
			from, err := shaper.Of(c.From, p.Types)
			if err != nil {
				problems.Add(problem.Problem{Pos: c.Pos, Subject: "converter " + c.Name, Reason: err.Error()})
			}
			converted[s.Record] = append(converted[s.Record], from.Fingerprint)
		}
	}
	order := newOrder(src, p)
	for _, h := range p.Handlers() {
		handler := lock.Handler{
			Steps: order.steps(h), Options: options(h.Attempts, h.Backoff, h.Timeout, false),
			Was: sorted(h.Was), Func: short(&h.Func), Order: positional(h.Order, h.Param),
		}
		for _, event := range h.Events {
			handler.Events = append(handler.Events, event.Type)
		}
		handler.Events = sorted(handler.Events)
		file.Handlers[h.FullName] = handler
	}
	return file, converted, problems
}

// describeStep returns what the lock file says of a step, and all that has no
// shape.
func describeStep(shaper *shape.Shaper, s *model.Step, from *types.Package) (lock.Step, []error) {
	var names []string
	for _, in := range s.Inputs {
		names = append(names, in.Name)
	}
	step := lock.Step{
		Key: positional(s.Key, names...), Options: options(s.Attempts, s.Backoff, s.Timeout, s.Pure),
		Was: sorted(s.Was), Func: short(&s.Func), Output: lock.None,
	}
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
		} else if step.Schema, err = json.Marshal(out.Schema); err != nil {
			errs = append(errs, fmt.Errorf("output: %w", err))
		}
		step.Output = out.Fingerprint
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

// positional is an expression's text with its parameters by number, so that a
// new name of one is no change: $1.ID.
func positional(e *model.Expr, params ...string) string {
	if e == nil {
		return ""
	}
	numbered := &model.Expr{Parts: slices.Clone(e.Parts)}
	for i, part := range numbered.Parts {
		if n := slices.Index(params, part.Param); part.Param != "" && n >= 0 {
			numbered.Parts[i] = model.Part{Text: "$" + strconv.Itoa(n+1)}
		}
	}
	return numbered.String()
}

// options are options as a marker has them: attempts=20 backoff=1s..10m.
func options(attempts int, backoff model.Backoff, timeout time.Duration, pure bool) string {
	var words []string
	if attempts != 0 {
		words = append(words, "attempts="+strconv.Itoa(attempts))
	}
	if backoff != (model.Backoff{}) {
		words = append(words, "backoff="+duration(backoff.Min)+".."+duration(backoff.Max))
	}
	if timeout != 0 {
		words = append(words, "timeout="+duration(timeout))
	}
	if pure {
		words = append(words, "pure")
	}
	return strings.Join(words, " ")
}

// duration is a duration without its zero parts: 10m, not 10m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// short is a function's name without its package.
func short(f *model.Func) string {
	if f.Recv != nil {
		return f.Recv.Name() + "." + f.Name
	}
	return f.Name
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
