package postgres

import (
	"context"
	"strings"
	"sync"

	restaq "github.com/restaq/restaq/runtime"
)

// term is a text of the table term. That of a step is its function's name with
// the shape of its output.
type term struct{ name, shape string }

// shapeMark stands before the shape in a term's text. No function's name has
// it.
const shapeMark = "\n"

func (t term) text() string {
	if t.shape == "" {
		return t.name
	}
	return t.name + shapeMark + t.shape
}

// stepTerm is the term of a step.
func stepTerm(r *restaq.StepRow) term { return term{r.Func, r.Shape} }

// setTerm is the reverse of stepTerm.
func setTerm(r *restaq.StepRow, text string) { r.Func, r.Shape, _ = strings.Cut(text, shapeMark) }

// terms are those that are known to this process. They never change.
type terms struct {
	mu  sync.RWMutex
	ids map[term]int32

	asking chan struct{} // of capacity 1, and full while the database is asked
}

// id returns a term's id, if it is known.
func (t *terms) id(of term) (int32, bool) {
	if of == (term{}) {
		return 0, true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	id, ok := t.ids[of]
	return id, ok
}

// maxTerms bounds how many are remembered. More come only of a program that
// makes names up.
const maxTerms = 10_000

func (t *terms) learn(id int32, of term) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil || len(t.ids) > maxTerms {
		t.ids = make(map[term]int32)
	}
	t.ids[of] = id
}

// resolve returns the id of a term. The database gives one to a term that has
// none, on a connection that users' transactions cannot use up: a step that holds
// one may wait for it.
func (s *Store) resolve(ctx context.Context, of term) (id int32, err error) {
	if id, ok := s.terms.id(of); ok {
		return id, nil
	}
	select { // many calls ask for the same
	case s.terms.asking <- struct{}{}:
		defer func() { <-s.terms.asking }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if id, ok := s.terms.id(of); ok {
		return id, nil
	}
	err = s.statementOn(ctx, s.writePool, func(q querier) (err error) {
		id, err = one[int32](ctx, q, s.q(`SELECT restaq.term_id($1::text)`), of.text())
		return err
	})
	if err == nil {
		s.terms.learn(id, of)
	}
	return id, err
}
