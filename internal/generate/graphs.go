package generate

import (
	"context"

	"github.com/restaq/restaq/internal/check"
	"github.com/restaq/restaq/internal/graph"
	"github.com/restaq/restaq/internal/load"
	"github.com/restaq/restaq/internal/problem"
)

// ReadGraphs returns what the handlers of the packages that cfg names do, by
// package. With problems there are none.
func ReadGraphs(ctx context.Context, cfg load.Config) ([]*graph.Graph, problem.List) {
	loaded, problems := load.Load(ctx, cfg)
	packages, more := check.Packages(loaded.Packages, loaded.Dependencies)
	if problems = append(problems, more...); len(problems) > 0 {
		problems.Sort()
		return nil, problems
	}
	var graphs []*graph.Graph
	for i, p := range packages {
		if g := graph.Of(p, loaded.Packages[i]); len(g.Handlers) > 0 {
			graphs = append(graphs, g)
		}
	}
	return graphs, nil
}
