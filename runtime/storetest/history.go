package storetest

import restaq "github.com/restaq/restaq/runtime"

var historyTests = []test{
	{"an unknown execution is not found", func(f *fixture) {
		for _, id := range []string{newID(), "", "no-uuid"} {
			_, err := f.store.History(f.ctx, id)
			f.is("History", err, restaq.ErrNotFound)
		}
	}},

	{"an execution comes with its event and order key", func(f *fixture) {
		ev := newEvent("evt_1")
		n := newExecution(handler)
		n.OrderKey = "customer 7"
		e := f.insert(ev, n)[0]
		h := f.history(n.ID)
		want := *ev
		want.ReceivedAt = h.Event.ReceivedAt
		f.equal("history", h, &restaq.StoredExecution{Execution: e, Event: want, OrderKey: "customer 7"})
	}},

	{"rows of earlier attempts never change", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2)})
		o := retryInHour
		o.RetryIn, o.Steps, o.Detail = 0, steps(1, 3, 1), []byte("one")
		f.finish(l, o)
		first := f.history(l.Execution)

		// The second attempt is interrupted, the third restarted, the fourth
		// cancelled; all of them record under the numbers of the first's rows.
		second := f.claim(l.Execution).Lease
		f.record(second, &restaq.Progress{Steps: steps(2, 1, 3)})
		f.finish(second, interrupted)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Pending}, To: restaq.Pending, Kind: restaq.Restarted})
		third := f.claim(l.Execution).Lease
		o = completed
		o.Steps = steps(3, 1, 3)
		f.finish(third, o)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Retried})
		f.claim(l.Execution)
		f.change(l.Execution, restaq.Change{From: []restaq.Status{restaq.Running}, To: restaq.Cancelled})

		h := f.history(l.Execution)
		if len(h.Attempts) != 4 || len(h.Steps) != 9 {
			f.Fatalf("history has %d attempts and %d steps, want 4 and 9", len(h.Attempts), len(h.Steps))
		}
		f.equal("first attempt", h.Attempts[:1], first.Attempts)
		f.equal("first steps", h.Steps[:3], first.Steps)
		for i, want := range []struct {
			outcome restaq.AttemptOutcome
			kind    restaq.AttemptKind
		}{
			{restaq.AttemptFailed, restaq.Automatic}, {restaq.AttemptInterrupted, restaq.Automatic},
			{restaq.AttemptCompleted, restaq.Restarted}, {restaq.AttemptCancelled, restaq.Retried},
		} {
			a := h.Attempts[i]
			if a.Number != i+1 || a.Outcome != want.outcome || a.Kind != want.kind {
				f.Errorf("attempt = %+v, want number %d, %s, kind %d", a, i+1, want.outcome, want.kind)
			}
		}
	}},

	{"every handle reads the same", func(f *fixture) {
		l := f.begun("evt_1")
		f.record(l, &restaq.Progress{Steps: steps(1, 1, 2), Current: "three"})
		h, err := f.another().History(f.ctx, l.Execution)
		if err != nil {
			f.Fatal(err)
		}
		f.equal("history", h, f.history(l.Execution))
	}},

	{"what was handed in or out may be changed by its holder", func(f *fixture) {
		ev := newEvent("evt_1")
		f.insert(ev, newExecution(handler))
		ev.Payload[0], ev.Header["X-Two"][0] = 'X', "changed"
		c := f.claimAll(handler)[0]
		rows := steps(1, 1, 1)
		f.record(c.Lease, &restaq.Progress{Steps: rows})
		rows[0].Output[0], rows[0].Inputs[0] = 'X', 'X'
		h := f.history(c.Execution.ID)
		h.Steps[0].Output[0], h.Event.Header["X-Two"][1] = 'Y', "changed"
		want := newEvent("evt_1")
		want.ReceivedAt = h.Event.ReceivedAt
		again := f.history(c.Execution.ID)
		f.equal("event", again.Event, *want)
		f.equal("steps", again.Steps, steps(1, 1, 1))
	}},
}
