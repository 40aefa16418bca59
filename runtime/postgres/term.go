package postgres

import (
	"context"
	"slices"
	"sync"
)

// terms are the ids of texts that are known to this process. They never
// change.
type terms struct {
	mu  sync.RWMutex
	ids map[string]int32
}

// id returns a text's id, if it is known.
func (t *terms) id(text string) (int32, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	id, ok := t.ids[text]
	return id, ok || text == ""
}

// maxTerms bounds how many are remembered. More come only of a program that
// makes names up.
const maxTerms = 10_000

func (t *terms) learn(texts []string, ids []int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil || len(t.ids) > maxTerms {
		t.ids = make(map[string]int32)
	}
	for i, text := range texts {
		t.ids[text] = ids[i]
	}
}

// termsSQL gives each text an id, in one order for all processes.
const termsSQL = `SELECT restaq.term_id(text) FROM unnest($1::text[]) WITH ORDINALITY AS t (text, n) ORDER BY n`

// resolve appends the ids of texts to ids, and has the database name those
// that this process does not know.
func (s *Store) resolve(ctx context.Context, ids []int32, texts ...string) ([]int32, error) {
	first := len(ids)
	for _, text := range texts {
		id, ok := s.terms.id(text)
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	if len(ids)-first == len(texts) {
		return ids, nil
	}
	all := slices.Compact(slices.Sorted(slices.Values(texts)))
	var found []int32
	err := s.statement(ctx, func(q querier) (err error) {
		found, err = column[int32](ctx, q, s.q(termsSQL), all)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.terms.learn(all, found)
	for _, text := range texts[len(ids)-first:] {
		i, _ := slices.BinarySearch(all, text)
		ids = append(ids, found[i])
	}
	return ids, nil
}
