package restaq

import (
	"context"
	"time"
)

const (
	// strandedAfter is how long an execution is pending before it looks as if
	// no process had its handler.
	strandedAfter = 5 * time.Minute

	// strandedEvery is how often a process looks for such executions.
	strandedEvery = 5 * time.Minute
)

// watchStranded names, until ctx ends, handlers whose executions nobody takes:
// they are not registered here, and a process that has them would have taken
// them long ago. A handler is named once in the life of a process.
func (rt *Runtime) watchStranded(ctx context.Context) {
	dir, ok := rt.raw.(Directory)
	lister, ok2 := rt.raw.(Lister)
	if !ok || !ok2 {
		return
	}
	named := make(map[string]bool)
	ticker := time.NewTicker(strandedEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		infos, err := dir.Handlers(ctx)
		if err != nil {
			continue // the next look may fare better
		}
		for _, info := range infos {
			if named[info.Name] || rt.has(info.Name) {
				continue
			}
			page, err := lister.List(ctx, Filter{
				Handler: info.Name, Statuses: []string{string(Pending)}, Until: rt.cfg.Now().Add(-strandedAfter), Limit: 1,
			})
			if err == nil && len(page.Executions) > 0 {
				named[info.Name] = true
				rt.cfg.Logger.Warn("restaq: no process takes the executions of a handler: is it registered anywhere?",
					"handler", info.Name, "execution", page.Executions[0].ID, "pendingSince", page.Executions[0].CreatedAt)
			}
		}
	}
}
