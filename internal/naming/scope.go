package naming

import "strconv"

// Scope hands out distinct identifiers. The zero value is empty and ready. It is
// not safe for concurrent use.
//
// A name once given stays: what is asked for earlier has the first choice, so
// ask in an order that later additions to the source do not disturb.
type Scope struct{ taken map[string]bool }

// Take reserves id and returns it, or, when it is taken, the first free one of
// the fallbacks, or id with the first free number from 2 on.
func (s *Scope) Take(id string, fallbacks ...string) string {
	if s.taken == nil {
		s.taken = map[string]bool{}
	}
	for _, c := range append([]string{id}, fallbacks...) {
		if !s.taken[c] {
			s.taken[c] = true
			return c
		}
	}
	if isDigit(id[len(id)-1]) {
		id += "_"
	}
	for n := 2; ; n++ {
		if c := id + strconv.Itoa(n); !s.taken[c] {
			s.taken[c] = true
			return c
		}
	}
}

// Has reports whether id is taken.
func (s *Scope) Has(id string) bool { return s.taken[id] }
