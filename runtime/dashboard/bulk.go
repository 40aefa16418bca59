package dashboard

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// doneTexts say what an action did. Their keys stand in addresses.
var doneTexts = map[string]string{
	"retry":   "The next attempt is asked for.",
	"restart": "A restart is asked for.",
	"replay":  "This is the new execution.",
	"cancel":  "The execution is cancelled.",
	"nothing": "There was nothing to do: the execution has ended.",
	"stop":    "No more of them is begun.",
}

// act does something to one execution. It waits for no attempt.
func (s *server) act(w http.ResponseWriter, r *http.Request) {
	id, action := r.PathValue("id"), restaq.Action(r.PathValue("action"))
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	ctx = restaq.WithPerson(ctx, personOf(r).Name)
	done := string(action)
	var err error
	switch action {
	case restaq.ActionRetry, restaq.ActionRestart:
		var did bool
		if did, err = s.ask(ctx, action, id); !did {
			done = "nothing"
		}
	case restaq.ActionReplay:
		var e restaq.Execution
		if e, err = s.rt.Replay(ctx, id); err == nil {
			id = e.ID
		}
	case restaq.ActionCancel:
		_, err = s.rt.Cancel(ctx, id)
	default:
		err = &problem{http.StatusNotFound, "There is no such action."}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	redirect(w, "../../executions/"+url.PathEscape(id)+"?done="+done)
}

// ask asks for the next attempt of an execution, and reports whether there will be
// one.
func (s *server) ask(ctx context.Context, action restaq.Action, id string) (bool, error) {
	h, err := s.rt.Inspect(ctx, id)
	if err != nil {
		return false, err
	}
	result, err := s.rt.Bulk(ctx, restaq.Bulk{Action: action, IDs: []string{id}})
	if err == nil && len(result.Errors) > 0 {
		err = result.Errors[0]
	}
	return result.Done > 0 && !(action == restaq.ActionRetry && h.Status == restaq.Completed), err
}

// redirect sends the browser to where it sees what its form did. The address is
// relative: only the browser knows below which prefix it is.
func redirect(w http.ResponseWriter, address string) {
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusSeeOther)
}

// bulkForm is an action on several executions: those that are named, or all that
// a filter finds.
type bulkForm struct {
	Action restaq.Action
	IDs    []string // nil for all that match
	Form   form
}

// readBulk reads a form.
func readBulk(r *http.Request) (b bulkForm, err error) {
	if err := r.ParseForm(); err != nil {
		return b, fmt.Errorf("read form: %w", err)
	}
	b.Action = restaq.Action(r.PostForm.Get("action"))
	if !slices.Contains([]restaq.Action{restaq.ActionRetry, restaq.ActionRestart, restaq.ActionReplay, restaq.ActionCancel}, b.Action) {
		return b, bad("There is no such action.")
	}
	q, err := url.ParseQuery(r.PostForm.Get("filter"))
	if err != nil || len(r.PostForm.Get("filter")) > maxQuery {
		return b, bad("The filter cannot be read.")
	}
	b.Form = formOf(q)
	switch r.PostForm.Get("scope") {
	case "all":
	case "selected":
		if b.IDs = r.PostForm["id"]; len(b.IDs) == 0 {
			return b, bad("No execution is selected.")
		}
		if len(b.IDs) > 1000 {
			return b, bad("At most 1,000 executions can be selected.")
		}
	default:
		return b, bad("Which executions?")
	}
	return b, nil
}

// previewBody is what is asked before something is done to several executions.
type previewBody struct {
	bulkForm
	Total  Tally
	Sample []restaq.Execution
	Filter string // in words
}

// preview shows what an action would be done to. It does nothing.
func (s *server) preview(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	body, err := s.readPreview(r.WithContext(ctx))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.render(w, r, http.StatusOK, "preview", s.newPage(r, "list", "Are you sure?", body))
}

func (s *server) readPreview(r *http.Request) (*previewBody, error) {
	b, err := readBulk(r)
	if err != nil {
		return nil, err
	}
	p := &previewBody{bulkForm: b, Total: Tally{N: len(b.IDs)}}
	if b.IDs != nil {
		return p, nil
	}
	if p.Form, err = b.Form.fixed(time.Now()); err != nil {
		return nil, err
	}
	f, err := p.Form.filter(time.Now())
	if err != nil {
		return nil, err
	}
	infos, err := s.handlers(r.Context())
	if err != nil {
		return nil, err
	}
	if p.Sample, err = s.newest(r.Context(), infos, f); err != nil {
		return nil, err
	}
	p.Total, p.Filter = s.tallyWithin(r.Context(), f, patience/2), f.String()
	return p, nil
}

// run begins an action on several executions, and shows how it goes.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	b, err := readBulk(r)
	var f restaq.Filter
	if err == nil && b.IDs == nil {
		f, err = b.Form.filter(time.Now())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	j := &job{Person: personOf(r).Name, Action: b.Action, Filter: f.String(), Total: Tally{N: len(b.IDs)}, Begun: time.Now()}
	if b.IDs == nil {
		j.Total = s.tally(r.Context(), f)
	} else {
		j.Filter = plural(len(b.IDs), "selected execution")
	}
	ctx, stop := context.WithCancel(restaq.WithPerson(context.WithoutCancel(r.Context()), j.Person))
	j.stop = stop
	if !s.jobs.add(j) {
		stop()
		s.fail(w, r, &problem{http.StatusTooManyRequests, "Other work on many executions is under way. Wait for its end, or stop it."})
		return
	}
	go func() {
		defer stop()
		result, err := s.rt.Bulk(ctx, restaq.Bulk{Action: b.Action, IDs: b.IDs, Filter: f, Outstanding: gentle, Progress: j.progress})
		if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Error("restaq: dashboard", "action", b.Action, "filter", j.Filter, "error", err)
		}
		for _, err := range result.Errors {
			s.cfg.Logger.Warn("restaq: dashboard", "action", b.Action, "error", err)
		}
		j.end(result, err, ctx.Err() != nil)
	}()
	redirect(w, "../jobs/"+j.ID)
}

// stop ends the work on many executions: what is done stays done.
func (s *server) stop(w http.ResponseWriter, r *http.Request) {
	j := s.jobs.find(r.PathValue("id"))
	if j == nil {
		s.fail(w, r, errNoJob)
		return
	}
	j.stop()
	redirect(w, "../../jobs/"+j.ID+"?done=stop")
}

var errNoJob = &problem{http.StatusNotFound, "This process knows nothing of it: it may be over for long, or another process does it. The audit has who asked for what."}

func (s *server) job(r *http.Request) (string, any, bool, error) {
	j := s.jobs.find(r.PathValue("id"))
	if j == nil {
		return "", nil, false, errNoJob
	}
	seen := j.look()
	return seen.Title(), seen, !seen.Over, nil
}

const (
	maxRunning = 4   // jobs at once
	gentle     = 4   // executions that wait to be begun, for one handler
	maxJobs    = 100 // that are remembered
)

// jobs is the work on many executions that this process does and did.
type jobs struct {
	mu  sync.Mutex
	all []*job // the oldest first
}

// add adds a job and gives it its id, unless there are too many.
func (js *jobs) add(j *job) bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	running := 0
	for _, other := range js.all {
		if !other.look().Over {
			running++
		}
	}
	if running >= maxRunning {
		return false
	}
	if len(js.all) >= maxJobs {
		oldest := slices.IndexFunc(js.all, func(other *job) bool { return other.look().Over })
		js.all = slices.Delete(js.all, oldest, oldest+1)
	}
	j.ID = rand.Text()
	js.all = append(js.all, j)
	return true
}

func (js *jobs) find(id string) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	if i := slices.IndexFunc(js.all, func(j *job) bool { return j.ID == id }); i >= 0 {
		return js.all[i]
	}
	return nil
}

// job is an action on many executions.
type job struct {
	ID      string
	Person  string
	Action  restaq.Action
	Filter  string // in words
	Total   Tally
	Begun   time.Time
	stop    context.CancelFunc
	mu      sync.Mutex
	result  restaq.BulkResult
	ended   time.Time
	err     error
	stopped bool
}

func (j *job) progress(r restaq.BulkResult) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.result = r
}

func (j *job) end(r restaq.BulkResult, err error, stopped bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.result, j.err, j.stopped, j.ended = r, err, stopped, time.Now()
}

// seenJob is a job at a moment.
type seenJob struct {
	ID, Person, Filter    string
	Action                restaq.Action
	Total                 Tally
	Done, Skipped, Failed int
	Begun, Ended          time.Time
	Over, Broken, Stopped bool
}

func (j *job) look() *seenJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	return &seenJob{
		ID: j.ID, Person: j.Person, Filter: j.Filter, Action: j.Action, Total: j.Total,
		Done: j.result.Done, Skipped: j.result.Skipped, Failed: j.result.Failed,
		Begun: j.Begun, Ended: j.ended, Over: !j.ended.IsZero(), Stopped: j.stopped, Broken: j.err != nil && !j.stopped,
	}
}

// Title says what is done and whether it is over.
func (j *seenJob) Title() string {
	what := map[restaq.Action][2]string{
		restaq.ActionRetry: {"Retrying", "Retried"}, restaq.ActionRestart: {"Restarting", "Restarted"},
		restaq.ActionReplay: {"Replaying", "Replayed"}, restaq.ActionCancel: {"Cancelling", "Cancelled"},
	}[j.Action]
	if j.Over {
		return what[1] + " " + plural(j.Done, "execution")
	}
	return what[0] + " executions"
}

// Handled is how many executions have had their turn.
func (j *seenJob) Handled() int { return j.Done + j.Skipped + j.Failed }

// Known reports whether it is known how many there are.
func (j *seenJob) Known() bool { return j.Total.N >= 0 && !j.Total.More }

// Bound is the end of the progress bar: more may have come than were counted.
func (j *seenJob) Bound() int { return max(j.Total.N, j.Handled(), 1) }
