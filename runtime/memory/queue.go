package memory

import (
	"container/heap"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// queue holds one handler's unfinished executions, soonest due first. It is a
// heap.Interface; each execution knows its place.
type queue []*execution

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push adds an execution at the end.
func (q *queue) Push(x any) {
	e := x.(*execution)
	e.place = len(*q)
	*q = append(*q, e)
}

// Pop removes the execution at the end.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.place = -1
	return e
}

// settle moves e to where its status and due time belong: into its handler's
// queue and its order's list if it is unfinished, else out of them. The caller
// holds mu and calls it after every change of status or due time.
func (s *Store) settle(e *execution) {
	q := s.queues[e.Handler]
	if q == nil {
		q = &queue{}
		s.queues[e.Handler] = q
	}
	switch unfinished := !e.due.IsZero(); {
	case unfinished && e.place >= 0:
		heap.Fix(q, e.place)
	case unfinished:
		heap.Push(q, e)
	case e.place >= 0:
		heap.Remove(q, e.place)
	}
	s.settleOrder(e)
}

func (s *Store) settleOrder(e *execution) {
	if e.orderKey == "" {
		return
	}
	o := order{e.Handler, e.orderKey}
	i, listed := slices.BinarySearchFunc(s.orders[o], e, compareArrival)
	switch unfinished := !e.due.IsZero(); {
	case unfinished && !listed:
		s.orders[o] = slices.Insert(s.orders[o], i, e)
	case !unfinished && listed:
		s.orders[o] = slices.Delete(s.orders[o], i, i+1)
		if len(s.orders[o]) == 0 {
			delete(s.orders, o)
		}
	}
}

// behind reports whether e has to wait: an earlier execution of the same order
// is unfinished, or another one runs at now, under a lease that holds.
func (s *Store) behind(e *execution, now time.Time) bool {
	if e.orderKey == "" {
		return false
	}
	list := s.orders[order{e.Handler, e.orderKey}]
	return list[0] != e || slices.ContainsFunc(list, func(o *execution) bool {
		return o != e && o.Status == restaq.Running && o.due.After(now)
	})
}

// soonest takes the execution with the oldest due time, not after now, out of
// the queues of handlers; nil if there is none. The caller settles it again.
func (s *Store) soonest(handlers []string, now time.Time) *execution {
	var best *queue
	for _, h := range handlers {
		q := s.queues[h]
		if q == nil || q.Len() == 0 || (*q)[0].due.After(now) {
			continue
		}
		if best == nil || (*q)[0].due.Before((*best)[0].due) {
			best = q
		}
	}
	if best == nil {
		return nil
	}
	return heap.Pop(best).(*execution)
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
