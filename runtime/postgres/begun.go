package postgres

import (
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// maxBegun bounds how many executions are remembered.
const maxBegun = 4096

// begun remembers of the executions that this process has begun what never
// changes of them, so that the end of an attempt does not read it again. It is
// a cache: what is not in it is read.
type begun struct {
	mu         sync.Mutex
	executions map[[16]byte]*restaq.Execution
}

func (b *begun) put(id pgtype.UUID, x *restaq.Execution) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.executions == nil || len(b.executions) >= maxBegun { // most are of leases that were lost
		b.executions = make(map[[16]byte]*restaq.Execution)
	}
	b.executions[id.Bytes] = &restaq.Execution{
		ID: x.ID, Handler: x.Handler, Event: x.Event, ReplayOf: x.ReplayOf, CreatedAt: x.CreatedAt,
	}
}

// take returns what is remembered of an execution, or nil, and forgets it.
func (b *begun) take(id pgtype.UUID) *restaq.Execution {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.executions[id.Bytes]
	delete(b.executions, id.Bytes)
	return x
}
