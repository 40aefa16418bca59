package leasemodel

import "slices"

// Result is what an exploration has found.
type Result struct {
	States int            // that can be reached
	Moves  map[string]int // how often each thing happens, by its name

	// Broken is the first property found broken, "" if all hold, and Way the
	// shortest way there: what happens, one after the other.
	Broken Property
	Way    []string
}

// machine is a model: where it starts, what can happen next, and what is final.
type machine[S comparable] interface {
	start() S
	next(s *S) []move[S]
	final(s *S) bool
}

// move is what can happen next.
type move[S comparable] struct {
	name   string
	to     S
	breaks []Property // "" among them stands for one that holds
	forced bool       // a worker or time will make it sooner or later
}

// unless returns p if ok does not hold.
func unless(ok bool, p Property) Property {
	if ok {
		return ""
	}
	return p
}

// visit is how a state was first reached.
type visit struct {
	from int32 // index of the state before
	by   string
}

// graph is what explore has visited.
type graph[S comparable] struct {
	states []S
	visits []visit
	known  map[S]int32
	before [][]int32 // of each state, those from which it is sure to be tried to get there
}

// add returns the index of a state, new or known.
func (g *graph[S]) add(s S, by visit) int32 {
	if at, known := g.known[s]; known {
		return at
	}
	at := int32(len(g.states))
	g.known[s] = at
	g.states, g.visits, g.before = append(g.states, s), append(g.visits, by), append(g.before, nil)
	return at
}

// way returns what leads to a state, and then last.
func (g *graph[S]) way(at int32, last ...string) []string {
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
func Explore(p Protocol, of ...Property) Result { return explore(&model{protocol: p}, of) }

// ExplorePositions is Explore for positions.
func ExplorePositions(p Positions, of ...Property) Result {
	return explore(&positionModel{protocol: p}, of)
}

func explore[S comparable](m machine[S], of []Property) Result {
	counts := func(p Property) bool { return p != "" && (len(of) == 0 || slices.Contains(of, p)) }
	g := &graph[S]{known: make(map[S]int32)}
	g.add(m.start(), visit{from: -1})
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
		if at := g.stuck(m); at >= 0 {
			result.Broken, result.Way = NothingIsStuck, g.way(at)
		}
	}
	return result
}

// stuck returns the first state from which no final one can be reached, or -1.
func (g *graph[S]) stuck(m machine[S]) int32 {
	ends := make([]bool, len(g.states))
	var next []int32
	for i := range g.states {
		if m.final(&g.states[i]) {
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
