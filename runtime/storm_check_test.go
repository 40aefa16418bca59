package restaq_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// grown says how a later history lacks what an earlier one had. Either may be
// the later one: who looks does not say when it has looked.
func grown(x, y *restaq.StoredExecution) error {
	if x == nil {
		return nil
	}
	if len(x.Attempts)+len(x.Steps) > len(y.Attempts)+len(y.Steps) {
		x, y = y, x
	}
	for i, a := range x.Attempts {
		if i >= len(y.Attempts) || !reflect.DeepEqual(a, y.Attempts[i]) {
			return fmt.Errorf("attempt %d has changed: %+v", a.Number, a)
		}
	}
	for _, s := range x.Steps {
		if !slices.ContainsFunc(y.Steps, func(r restaq.StepRow) bool { return reflect.DeepEqual(r, s) }) {
			return fmt.Errorf("step %s of attempt %d has changed or gone", s.Name, s.Attempt)
		}
	}
	return nil
}

// consistent says what does not fit together in a history.
func consistent(h *restaq.StoredExecution, restarted bool) error {
	for i, a := range h.Attempts {
		if a.Number != i+1 {
			return fmt.Errorf("attempt %d is in place %d", a.Number, i+1)
		}
		if a.EndedAt.Before(a.StartedAt) {
			return fmt.Errorf("attempt %d ends before it starts", a.Number)
		}
		if a.Outcome == restaq.AttemptCompleted && i < len(h.Attempts)-1 && h.Attempts[i+1].Kind != restaq.Restarted {
			return fmt.Errorf("an attempt follows attempt %d, which completed", a.Number)
		}
	}
	x := &h.Execution
	ended := x.Attempts
	if x.Status == restaq.Running {
		ended--
	}
	if ended != len(h.Attempts) {
		return fmt.Errorf("it is %s with %d attempts, and %d attempts have ended", x.Status, x.Attempts, len(h.Attempts))
	}
	if last := len(h.Attempts) - 1; x.Status == restaq.Completed && h.Attempts[last].Outcome != restaq.AttemptCompleted {
		return fmt.Errorf("it is completed, and its last attempt %s", h.Attempts[last].Outcome)
	}
	completed := map[string]bool{}
	last := [2]int{}
	for i := range h.Steps {
		s := &h.Steps[i]
		at := [2]int{s.Attempt, s.Seq}
		if s.Attempt < last[0] || s.Attempt == last[0] && s.Seq <= last[1] {
			return fmt.Errorf("step %v comes after %v", at, last)
		}
		if s.Attempt > x.Attempts {
			return fmt.Errorf("step %v of an attempt that never was", at)
		}
		if s.Attempt > last[0] && s.Attempt <= len(h.Attempts) && h.Attempts[s.Attempt-1].Kind == restaq.Restarted {
			clear(completed)
		}
		last = at
		if s.Status != restaq.StepCompleted {
			continue
		}
		if completed[s.Name] && !restarted {
			return fmt.Errorf("step %s is recorded as completed twice", s.Name)
		}
		completed[s.Name] = true
	}
	return nil
}

// end waits until all executions have ended. Dead ones are retried.
func (s *storm) end() {
	s.mu.Lock()
	p := s.processes[0]
	ids := slices.Clone(s.ids)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for _, id := range ids {
		for {
			e, err := p.rt.Wait(ctx, id)
			if err == nil && e.Dead() {
				_, err = p.rt.Retry(ctx, id)
				if err == nil {
					continue
				}
			}
			if err != nil {
				s.t.Errorf("%v: it is %+v", err, e)
				if ctx.Err() != nil {
					s.t.FailNow() // so do the others
				}
			}
			break
		}
	}
	// What transactions have sent out.
	for {
		page, err := p.Store.(restaq.Lister).List(ctx, restaq.Filter{Statuses: []string{"pending", "running", "failed"}, Limit: 50})
		if err != nil {
			s.t.Error(err)
			return
		}
		if len(page.Executions) == 0 {
			break
		}
		for _, e := range page.Executions {
			if e, err = p.rt.Wait(ctx, e.ID); err == nil && e.Dead() {
				_, err = p.rt.Retry(ctx, e.ID)
			}
			if err != nil {
				s.t.Errorf("%v: it is %+v", err, e)
				return
			}
		}
	}
	for _, p := range s.processes {
		if n := p.rt.Held(); n > 0 {
			p.rt.WaitIdle()
		}
	}
}

// check compares what was seen with what is stored, and ends the processes.
func (s *storm) check() {
	p := s.processes[0]
	completed := map[string]bool{}
	for _, id := range s.ids {
		s.look(id)
		e := s.of(id)
		if e.history == nil {
			continue
		}
		switch x := &e.history.Execution; {
		case x.Status == restaq.Completed:
			completed[id] = x.Handler == "many"
		case x.Status == restaq.Cancelled && e.cancelled:
		default:
			s.t.Errorf("execution %s is %s", id, x.Status)
		}
	}
	if s.ledger != nil {
		wrote := map[string]int{}
		for _, id := range s.ledger.names(s.t) {
			wrote[id]++
		}
		for id, many := range completed {
			if n := wrote[id]; many && !s.of(id).restarted && n != 1 {
				s.t.Errorf("execution %s wrote %d times in a transaction, want once", id, n)
			}
			if !many {
				continue
			}
			if own, err := p.Store.Lookup(context.Background(), "acme", "own-"+id, false); err != nil || len(own.Executions) != 1 || own.Executions[0].Status != restaq.Completed {
				s.t.Errorf("the event that execution %s has sent out: %+v, %v", id, own, err)
			}
		}
	}
	for _, p := range s.processes {
		p.stop()
		<-p.ended
	}
	s.t.Logf("%d events, %d executions, %d processes ended", len(s.events), len(s.ids), s.kills)
}
