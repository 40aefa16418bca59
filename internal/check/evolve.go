package check

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/restaq/restaq/internal/marker"
	"github.com/restaq/restaq/internal/model"
)

// oldNames puts the names that steps and handlers had before into the model. A
// name belongs to one step, or one handler, now as before.
func (c *checker) oldNames() {
	owners := map[string]*marked{} // by kind and name
	for _, m := range c.marked {
		if kind := m.kind(); kind != "" && owners[m.subject] == nil {
			owners[m.subject] = m
		}
	}
	for _, m := range c.marked {
		kind := m.kind()
		if kind == "" || len(m.Was) == 0 {
			continue
		}
		for _, w := range m.Was {
			subject := kind + " " + w.Text
			other := owners[subject]
			switch {
			case subject == m.subject:
				c.fail(m, w.Pos, fmt.Sprintf("//restaq:was %s: that is its name now", w.Text), "")
			case other != nil && other.subject == subject:
				c.fail(m, w.Pos, fmt.Sprintf("//restaq:was %s: that is the name of %s at %s", w.Text, c.declText(other), c.where(declName(other).Pos())), "")
			case other != nil:
				c.fail(m, w.Pos, fmt.Sprintf("//restaq:was %s: that was a name of %s at %s", w.Text, c.declText(other), c.where(declName(other).Pos())), "")
			case kind == "step" && !marker.IsStepName(w.Text):
				c.fail(m, w.Pos, fmt.Sprintf("//restaq:was %s: no step has such a name", w.Text), "")
			default:
				owners[subject] = m
				m.addOld(w.Text)
			}
		}
		if m.Marker.Order.Text != "" {
			c.fail(m, m.Was[0].Pos, "//restaq:was does not go with order=: executions that are stored under two names are in no order with each other",
				"keep the name that they are stored under: name="+m.Was[0].Text)
		}
	}
}

// kind is "step" or "handler", or "" for what is neither.
func (m *marked) kind() string {
	switch {
	case m.Func == nil:
		return ""
	case m.Marker.Verb == marker.Step:
		return "step"
	case m.Marker.Verb == marker.On:
		return "handler"
	}
	return ""
}

// addOld adds an old name to the model.
func (m *marked) addOld(name string) {
	switch {
	case m.step != nil:
		m.step.Was = append(m.step.Was, name)
	case m.handler != nil:
		m.handler.Was = append(m.handler.Was, name)
	}
}

// buildConverter checks the signature of a converter.
func (c *checker) buildConverter(m *marked) {
	const form = "a converter has the form func(Old) (New, error)"
	if m.Func.Recv != nil {
		c.fail(m, m.Func.Name.Pos(), "is a method", form)
		return
	}
	s, ok := c.signature(m)
	if !ok {
		return
	}
	results := s.sig.Results()
	switch {
	case len(s.params) != 1:
		c.fail(m, m.Func.Type.Params.Pos(), fmt.Sprintf("takes %d parameters", len(s.params)), form)
	case results.Len() != 2 || !isError(results.At(1).Type()):
		pos := m.Func.Type.Params.Pos()
		if m.Func.Type.Results != nil {
			pos = m.Func.Type.Results.Pos()
		}
		c.fail(m, pos, "does not return an output and an error", form)
	default:
		from := s.sig.Params().At(0).Type()
		c.recorded(m, s.params[0].pos, "its parameter", from)
		m.convert = &model.Converter{Func: c.newFunc(m, s), From: from}
	}
}

// converters gives converters to their steps, and reports those that fit none.
func (c *checker) converters() {
	steps := map[string]*marked{}
	var names []string
	for _, m := range c.marked {
		if m.kind() == "step" {
			steps[recordName(m)], names = m, append(names, recordName(m))
		}
	}
	for _, m := range c.marked {
		if m.convert == nil || m.broken {
			continue
		}
		name := m.Marker.Name
		switch step := steps[name.Text]; {
		case step == nil:
			hint := ""
			if near := marker.Nearest(name.Text, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			c.fail(m, name.Pos, fmt.Sprintf("there is no step %s in the package", name.Text), hint)
		case step.step != nil && !step.broken: // else it has a problem of its own
			c.convertFor(m, step.step)
		}
	}
}

// convertFor gives a converter to its step.
func (c *checker) convertFor(m *marked, step *model.Step) {
	to := m.convert.Obj.Signature().Results().At(0).Type()
	at := m.Func.Type.Results.Pos()
	switch {
	case step.Output == nil:
		c.fail(m, m.Marker.Name.Pos, fmt.Sprintf("step %s has no output", step.Record), "")
	case !types.Identical(to, step.Output):
		c.fail(m, at, fmt.Sprintf("returns %s, and the output of step %s is %s", c.typeString(to), step.Record, c.typeString(step.Output)), "")
	case types.Identical(m.convert.From, to):
		c.fail(m, at, fmt.Sprintf("takes what it returns: %s", c.typeString(to)), "let it take the type that the output had, under another name")
	case slices.ContainsFunc(step.Converters, func(other *model.Converter) bool { return types.Identical(other.From, m.convert.From) }):
		c.fail(m, m.Func.Name.Pos(), fmt.Sprintf("step %s has another converter that takes %s", step.Record, c.typeString(m.convert.From)), "")
	default:
		step.Converters = append(step.Converters, m.convert)
	}
}
