package graph

// Accepts reports whether a run of a handler that ran steps, in this order, is
// a way through its boxes and arrows.
func Accepts(h *Handler, steps []string) bool {
	f := flowOf("h", h)
	out := map[int][]int{}
	for _, a := range f.arrows {
		out[a.from] = append(out[a.from], a.to)
	}
	isStep := func(n int) bool { return f.boxes[n].shape == stepBox || f.boxes[n].shape == goesOnBox }
	var reach func(n int, seen map[int]bool)
	reach = func(n int, seen map[int]bool) { // by arrows to anything but steps
		for _, to := range out[n] {
			if !seen[to] {
				if seen[to] = true; !isStep(to) {
					reach(to, seen)
				}
			}
		}
	}
	at := map[int]bool{0: true}
	for _, name := range steps {
		next := map[int]bool{}
		for n := range at {
			seen := map[int]bool{}
			reach(n, seen)
			for to := range seen {
				if isStep(to) && f.boxes[to].lines[0] == name {
					next[to] = true
				}
			}
		}
		at = next
	}
	for n := range at {
		seen := map[int]bool{n: true}
		reach(n, seen)
		for to := range seen {
			if s := f.boxes[to].shape; s == endBox || s == failBox || s == stepBox && to == n {
				return true // a step whose failure ends the handler has no arrow there
			}
		}
	}
	return false
}
