package memory

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// queue holds a handler's executions that are unfinished and are not behind an
// earlier one of their order key, soonest due first. It is a heap.Interface;
// each execution knows its index.
type queue []*execution

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push adds an execution at the end.
func (q *queue) Push(x any) {
	e := x.(*execution)
	e.index = len(*q)
	*q = append(*q, e)
}

// Pop removes the execution at the end.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = -1
	return e
}

// settle moves e to where its status and due time belong. The caller holds mu
// and calls it after every change of status or due time.
func (s *Store) settle(e *execution) {
	if e.orderKey == "" {
		s.queue(e, !e.due.IsZero())
		return
	}
	o := order{e.Handler, e.orderKey}
	l := s.lines[o]
	if l == nil {
		l = &line{}
		s.lines[o] = l
	}
	before := l.first()
	l.open = stand(l.open, e, !e.due.IsZero())
	l.dead = stand(l.dead, e, e.Dead() && s.executions[e.ID] == e)
	if e.Status == restaq.Running {
		l.running = e
	} else if l.running == e {
		l.running = nil
	}
	for _, x := range []*execution{before, e, l.first()} {
		if x != nil {
			s.queue(x, !x.due.IsZero() && (x == l.first() || x.Status == restaq.Running))
		}
	}
	if len(l.open)+len(l.dead) == 0 {
		delete(s.lines, o)
	}
}

// queue puts e into its handler's queue, at its due time, or takes it out.
func (s *Store) queue(e *execution, in bool) {
	q := s.queues[e.Handler]
	if q == nil {
		q = &queue{}
		s.queues[e.Handler] = q
	}
	switch {
	case in && e.index >= 0:
		heap.Fix(q, e.index)
	case in:
		heap.Push(q, e)
	case e.index >= 0:
		heap.Remove(q, e.index)
	}
}

// line is what stands under one order key: its handler's executions with equal
// keys, by place.
type line struct {
	open    []*execution // unfinished
	dead    []*execution
	running *execution // the one of open that has the key; nil if none does
}

// first is the one that is unfinished and was stored before the others.
func (l *line) first() *execution {
	if len(l.open) == 0 {
		return nil
	}
	return l.open[0]
}

// stand returns list with e in its place, or without it.
func stand(list []*execution, e *execution, in bool) []*execution {
	i, there := slices.BinarySearchFunc(list, e, func(a, b *execution) int { return cmp.Compare(a.place, b.place) })
	switch {
	case in && !there:
		return slices.Insert(list, i, e)
	case !in && there:
		return slices.Delete(list, i, i+1)
	}
	return list
}

// behind reports whether e has to wait for others of its order.
func (s *Store) behind(e *execution, deadBlocks bool) bool {
	if e.orderKey == "" || e.Status == restaq.Running {
		return false
	}
	l := s.lines[order{e.Handler, e.orderKey}]
	return l.running != nil || deadBlocks && len(l.dead) > 0 && l.dead[0].place < e.place
}

// next takes the execution of a handler that is to be claimed next at now out
// of its queue; nil if there is none. passed are those taken out on the way.
// The caller settles them all.
func (s *Store) next(handler string, now time.Time, c *restaq.Claim) (next *execution, passed []*execution) {
	q := s.queues[handler]
	for q != nil && q.Len() > 0 && !(*q)[0].due.After(now) {
		e := heap.Pop(q).(*execution)
		if !s.behind(e, c.DeadBlocks) && !slices.Contains(c.Except, e.ID) {
			return e, passed
		}
		passed = append(passed, e)
	}
	return nil, passed
}

// setPending, setFinished and setRetry move e to a status with the times that
// belong to it. The caller settles it.
func (e *execution) setPending(now time.Time) {
	if e.due.IsZero() || e.due.After(now) || e.Status == restaq.Running {
		e.due = now
	}
	e.Status, e.FinishedAt, e.RetryAt = restaq.Pending, time.Time{}, time.Time{}
}

func (e *execution) setFinished(status restaq.Status, now time.Time) {
	e.Status, e.FinishedAt, e.RetryAt, e.due = status, now, time.Time{}, time.Time{}
}

func (e *execution) setRetry(at time.Time) {
	e.Status, e.FinishedAt, e.RetryAt, e.due = restaq.Failed, time.Time{}, at, at
}
