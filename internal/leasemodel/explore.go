package leasemodel

import "slices"

// Result is what Explore has found.
type Result struct {
	States int            // that can be reached
	Moves  map[string]int // how often each thing happens, by its name

	// Broken is the first property found broken, "" if all hold, and Way the
	// shortest way there: what happens, one after the other.
	Broken Property
	Way    []string
}

// visit is how a state was first reached.
type visit struct {
	from int32 // index of the state before
	by   string
}

// Explore visits every state that p can get into, in order of distance, until
// one breaks a property: one of those given, or any if none is. It keeps all
// states in memory.
func Explore(p Protocol, of ...Property) Result {
	counts := func(p Property) bool { return p != "" && (len(of) == 0 || slices.Contains(of, p)) }
	m := &model{protocol: p}
	result := Result{Moves: make(map[string]int)}
	states := []state{start()}
	visits := []visit{{from: -1}}
	known := map[state]struct{}{states[0]: {}}
	way := func(at int32, last ...string) []string {
		steps := last
		for ; visits[at].from >= 0; at = visits[at].from {
			steps = append(steps, visits[at].by)
		}
		slices.Reverse(steps)
		return steps
	}
	for at := int32(0); int(at) < len(states); at++ {
		s := states[at]
		moves := m.next(&s)
		if counts(NothingIsStuck) && !s.final() && !slices.ContainsFunc(moves, func(m move) bool { return m.forced }) {
			result.States, result.Broken, result.Way = len(states), NothingIsStuck, way(at)
			return result
		}
		for i := range moves {
			result.Moves[moves[i].name]++
			if broken := slices.IndexFunc(moves[i].breaks, counts); broken >= 0 {
				result.States, result.Broken, result.Way = len(states), moves[i].breaks[broken], way(at, moves[i].name)
				return result
			}
			if _, seen := known[moves[i].to]; !seen {
				known[moves[i].to] = struct{}{}
				states = append(states, moves[i].to)
				visits = append(visits, visit{from: at, by: moves[i].name})
			}
		}
	}
	result.States = len(states)
	return result
}

// final reports whether nothing needs to happen any more.
func (s *state) final() bool { return s.row.status == completed || s.row.status == cancelled }
