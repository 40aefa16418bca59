package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	restaq "github.com/restaq/restaq/runtime"
)

// tail is the end of the log of an attempt that this process runs: where its
// next entry goes. Beside it stands what its end will say.
//
// Whoever wants to write to the log takes its turn first. What the tail says may
// be wrong all the same, if the lease is lost or an answer was: then a write
// that goes by it meets an entry at its position and fails, and whoever looks at
// the log puts the tail right.
type tail struct {
	id        pgtype.UUID
	token     int32
	attempt   int32
	kind      restaq.AttemptKind
	startedAt time.Time
	earlier   string           // the execution's error when the attempt began
	execution restaq.Execution // what never changes of it

	turn   chan struct{}          // of capacity 1, and full while nobody writes
	holder atomic.Pointer[batch]  // that has the turn, if a batch has it
	step   atomic.Pointer[string] // that is noted as being under way; nil for none

	// These belong to whoever has the turn.
	next    int32 // position of the next entry; 0 if it is not known
	written seqs  // of the entries before it
}

// newTail is the tail of an empty log.
func newTail(x *restaq.Execution, id pgtype.UUID, token int64, kind restaq.AttemptKind, startedAt time.Time) *tail {
	t := &tail{
		id: id, token: int32(token), attempt: int32(x.Attempts), kind: kind, startedAt: startedAt, earlier: x.Error,
		execution: restaq.Execution{ID: x.ID, Handler: x.Handler, Event: x.Event, ReplayOf: x.ReplayOf, CreatedAt: x.CreatedAt},
		turn:      make(chan struct{}, 1),
		next:      1,
	}
	t.turn <- struct{}{}
	return t
}

// wait waits for the turn. A nil tail is always free.
func (t *tail) wait(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case <-t.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release gives the turn back.
func (t *tail) release() {
	if t != nil {
		t.turn <- struct{}{}
	}
}

// learn sets what was read of the log. Only who has the turn does.
func (t *tail) learn(next int32, written seqs) {
	if t != nil {
		t.next, t.written = next, written
	}
}

// noted returns the step that is noted as being under way.
func (t *tail) noted() string {
	if step := t.step.Load(); step != nil {
		return *step
	}
	return ""
}

// note sets what is noted.
func (t *tail) note(step string) {
	if t == nil || t.noted() == step {
		return
	}
	t.step.Store(&step)
}

// forget says that it is not known where the log ends.
func (t *tail) forget() { t.learn(0, nil) }

// take gives the turn to a batch, if the batch has it not, and reports whether
// the batch may write to the log.
func (b *batch) take(t *tail) bool {
	if t.holder.Load() != b {
		select {
		case <-t.turn:
		default:
			return false
		}
		t.holder.Store(b)
		b.tails = append(b.tails, t)
	}
	return t.next > 0
}

// give gives the turns of a batch back. If its commit failed, it is not known
// any more where the logs end.
func (b *batch) give(failed bool) {
	for _, t := range b.tails {
		if failed {
			t.forget()
		}
		t.holder.Store(nil)
		t.release()
	}
}

// seqs is a set of the numbers of calls.
type seqs []uint64

func (s seqs) has(seq int) bool {
	return seq/64 < len(s) && s[seq/64]&(1<<(seq%64)) != 0
}

func (s *seqs) add(seq int) {
	for len(*s) <= seq/64 {
		*s = append(*s, 0)
	}
	(*s)[seq/64] |= 1 << (seq % 64)
}

func (s *seqs) addAll(more seqs) {
	for i, word := range more {
		if i == len(*s) {
			*s = append(*s, 0)
		}
		(*s)[i] |= word
	}
}

// maxTails bounds how many tails are kept. There are more only if very many
// attempts run, or were cut off without a word; they go the careful way.
const maxTails = 1 << 16

// tails are those of the attempts that this process has begun.
type tails struct {
	mu sync.Mutex
	of map[[16]byte]*tail // by execution
}

func (all *tails) put(t *tail) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of == nil {
		all.of = make(map[[16]byte]*tail)
	}
	if len(all.of) >= maxTails {
		for id := range all.of {
			delete(all.of, id)
			break
		}
	}
	all.of[t.id.Bytes] = t
}

// get returns the tail of an execution's log under a token, or nil.
func (all *tails) get(id pgtype.UUID, token int64) *tail {
	all.mu.Lock()
	defer all.mu.Unlock()
	if t := all.of[id.Bytes]; t != nil && int64(t.token) == token {
		return t
	}
	return nil
}

// drop drops a tail whose log has ended. A nil one is dropped already.
func (all *tails) drop(t *tail) {
	if t == nil {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of[t.id.Bytes] == t {
		delete(all.of, t.id.Bytes)
	}
}

// dropAll drops the tail of an execution, whatever its token.
func (all *tails) dropAll(id pgtype.UUID) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.of, id.Bytes)
}
