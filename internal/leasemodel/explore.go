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

// graph is what Explore has visited.
type graph struct {
	states []state
	visits []visit
	known  map[state]int32
	before [][]int32 // of each state, those from which it is sure to be tried to get there
}

// add returns the index of a state, new or known.
func (g *graph) add(s state, by visit) int32 {
	if at, known := g.known[s]; known {
		return at
	}
	at := int32(len(g.states))
	g.known[s] = at
	g.states, g.visits, g.before = append(g.states, s), append(g.visits, by), append(g.before, nil)
	return at
}

// way returns what leads to a state, and then last.
func (g *graph) way(at int32, last ...string) []string {
	steps := last
	for ; g.visits[at].from >= 0; at = g.visits[at].from {
		steps = append(steps, g.visits[at].by)
	}
	slices.Reverse(steps)
	return steps
}

// Explore visits every state that p can get into, in order of distance, until
// one breaks a property: one of those given, or any if none is. It keeps all
// states in memory.
func Explore(p Protocol, of ...Property) Result {
	counts := func(p Property) bool { return p != "" && (len(of) == 0 || slices.Contains(of, p)) }
	m := &model{protocol: p}
	g := &graph{known: make(map[state]int32)}
	g.add(start(), visit{from: -1})
	moved := make(map[string]int)
	for at := int32(0); int(at) < len(g.states); at++ {
		s := g.states[at]
		for _, move := range m.next(&s) {
			moved[move.name]++
			if broken := slices.IndexFunc(move.breaks, counts); broken >= 0 {
				return Result{States: len(g.states), Moves: moved, Broken: move.breaks[broken], Way: g.way(at, move.name)}
			}
			to := g.add(move.to, visit{from: at, by: move.name})
			if move.forced {
				g.before[to] = append(g.before[to], at)
			}
		}
	}
	result := Result{States: len(g.states), Moves: moved}
	if counts(NothingIsStuck) {
		if at := g.stuck(); at >= 0 {
			result.Broken, result.Way = NothingIsStuck, g.way(at)
		}
	}
	return result
}

// stuck returns the first state from which no final one can be reached, or -1.
func (g *graph) stuck() int32 {
	ends := make([]bool, len(g.states))
	var next []int32
	for i := range g.states {
		if at := g.states[i].row.status; at == completed || at == cancelled {
			ends[i] = true
			next = append(next, int32(i))
		}
	}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, before := range g.before[at] {
			if !ends[before] {
				ends[before] = true
				next = append(next, before)
			}
		}
	}
	return int32(slices.Index(ends, false))
}
