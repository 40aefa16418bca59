package dashboard

import (
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/redact"
)

// maxSteps is how many steps of one attempt are shown.
const maxSteps = 500

// executionBody is what the page of an execution shows. All texts in it are
// masked.
type executionBody struct {
	*restaq.History
	Stack    string
	Tries    []tryRow // the newest first
	Lane     []bar
	LaneTook time.Duration
	Flow     []flowRow
	Again    []string // what a restart would run again
	Headers  []header
	Payload  payloadView
	Tree     string

	CanRetry, CanRestart, CanReplay, CanCancel bool
}

// header is a header of the event's request.
type header struct{ Name, Value string }

// bar is a part of a lane, in percent.
type bar struct{ X, W, Class, Title string }

// tryRow is an attempt.
type tryRow struct {
	restaq.AttemptRecord
	Word    string
	Took    time.Duration
	Steps   []stepRow
	More    int // steps that are not shown
	Open    bool
	Running string // the step that is under way
}

// stepRow is a call of a step.
type stepRow struct {
	restaq.StepRecord
	Word   string
	Took   time.Duration
	Bar    bar
	Output template.HTML
}

func (s *server) execution(r *http.Request) (string, any, bool, error) {
	h, err := s.rt.Inspect(r.Context(), r.PathValue("id"))
	if err != nil {
		return "", nil, false, err
	}
	infos, err := s.handlers(r.Context())
	if err != nil {
		return "", nil, false, err
	}
	find := r.URL.Query().Get("find")
	if len(find) > maxField {
		return "", nil, false, bad("The text to find is too long.")
	}
	b := &executionBody{History: h}
	secrets := b.mask(s.rules(infos), find)
	b.tries(s.rules(infos), secrets, time.Now())
	b.flow(infos)
	b.Tree = h.Tree()
	open := h.Status == restaq.Pending || h.Status == restaq.Failed || h.Status == restaq.Sleeping
	b.CanRetry = open
	b.CanRestart = open || h.Status == restaq.Running || h.Status == restaq.Completed
	b.CanReplay = h.Payload != nil
	b.CanCancel = open || h.Status == restaq.Running
	return short(h.Handler) + " " + h.Event.ID, b, h.Status != restaq.Cancelled && h.Status != restaq.Completed, nil
}

// mask masks the history's texts, and makes views of payload and headers.
func (b *executionBody) mask(rules redact.Rules, find string) redact.Secrets {
	h := b.History
	var secrets redact.Secrets
	b.Payload, secrets = viewPayload(h.Payload, rules, find)
	hide := secrets.Mask
	if !rules.Empty() && h.Payload != nil && !b.Payload.JSON {
		hide = func(text string) string { // who knows what is in it
			if text == "" {
				return ""
			}
			return redact.Mask
		}
	}
	h.Error, h.Step = hide(h.Error), secrets.Mask(h.Step)
	for i := range h.Tries {
		a := &h.Tries[i]
		a.Error, a.Stack, a.Step = hide(a.Error), hide(a.Stack), secrets.Mask(a.Step)
		for j := range a.Steps {
			step := &a.Steps[j]
			step.Name, step.Error, step.Stack = secrets.Mask(step.Name), hide(step.Error), hide(step.Stack)
		}
		for j := range a.Unused {
			a.Unused[j] = secrets.Mask(a.Unused[j])
		}
		if a.Stack != "" {
			b.Stack = a.Stack
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Header)) {
		for _, value := range h.Header[name] {
			b.Headers = append(b.Headers, header{name, secrets.Mask(value)})
		}
	}
	return secrets
}

// tries makes rows of attempts, the newest first, with their bars.
func (b *executionBody) tries(rules redact.Rules, secrets redact.Secrets, now time.Time) {
	h := b.History
	again := make(map[string]bool)
	from, to := h.CreatedAt, h.CreatedAt
	for i := range h.Tries {
		a := &h.Tries[i]
		if a.EndedAt.IsZero() {
			a.EndedAt = now
		}
		if a.EndedAt.After(to) {
			to = a.EndedAt
		}
	}
	b.LaneTook = to.Sub(from)
	for i := range h.Tries {
		a := &h.Tries[i]
		if a.Kind == restaq.Restarted.String() {
			clear(again)
			b.Again = b.Again[:0]
		}
		row := tryRow{AttemptRecord: *a, Word: outcomeWord(a), Took: a.EndedAt.Sub(a.StartedAt), Open: i == len(h.Tries)-1 || len(h.Tries) <= 3}
		if a.Outcome == "" {
			row.Running = h.Step
		}
		b.Lane = append(b.Lane, place(from, to, a.StartedAt, a.EndedAt, row.Word, "attempt "+grouped(a.Number)+": "+row.Word+", "+took(row.Took)))
		for j := range a.Steps {
			step := &a.Steps[j]
			if step.Status == restaq.StepCompleted && !again[step.Name] {
				again[step.Name] = true
				b.Again = append(b.Again, step.Name)
			}
			if j >= maxSteps {
				row.More++
				continue
			}
			row.Steps = append(row.Steps, newStepRow(a, step, rules, secrets))
		}
		b.Tries = append(b.Tries, row)
	}
	slices.Reverse(b.Tries)
}

func newStepRow(a *restaq.AttemptRecord, step *restaq.StepRecord, rules redact.Rules, secrets redact.Secrets) stepRow {
	row := stepRow{StepRecord: *step, Word: string(step.Status), Took: step.EndedAt.Sub(step.StartedAt)}
	if step.Timeout {
		row.Word = "timeout"
	}
	row.Bar = place(a.StartedAt, a.EndedAt, step.StartedAt, step.EndedAt, row.Word, step.Name+": "+row.Word+", "+took(row.Took))
	if step.Output != nil {
		if out, _, err := rules.JSON(step.Output, secrets); err == nil && string(out) != "null" {
			row.Output = viewJSON(out, 1, "").html
		}
	}
	return row
}

// outcomeWord is how an attempt ended.
func outcomeWord(a *restaq.AttemptRecord) string {
	if a.Outcome == "" {
		return "running"
	}
	return string(a.Outcome)
}

// place is a bar from begin to end in a lane from one time to another. Clocks of
// two machines may differ: what would stand outside stands at the edge.
func place(from, to, begin, end time.Time, class, title string) bar {
	whole := float64(to.Sub(from))
	if whole <= 0 {
		whole = 1
	}
	share := func(t time.Time) float64 { return min(max(float64(t.Sub(from))/whole, 0), 1) * 100 }
	const least = 0.5 // percent: it has to be seen
	x, w := share(begin), max(share(end)-share(begin), least)
	return bar{num(min(x, 100-w)) + "%", num(w) + "%", class, title}
}

// payloadView is an event's payload as it is shown.
type payloadView struct {
	Kept  bool
	JSON  bool
	HTML  template.HTML
	Text  string // if it is no JSON
	Cut   bool   // not all is shown
	Size  int
	Find  string
	Found int
	Mask  bool // something is masked
}

// maxText is how much of a payload is shown that is no JSON, in characters.
const maxText = 20_000

// viewPayload shows a payload. The values that are masked in it are returned.
func viewPayload(payload []byte, rules redact.Rules, find string) (payloadView, redact.Secrets) {
	v := payloadView{Kept: payload != nil, Size: len(payload), Find: find, Mask: !rules.Empty()}
	shown, secrets, err := rules.JSON(payload, nil)
	if err != nil {
		if rules.Empty() {
			v.Text = cut(string(payload), maxText)
			v.Cut = len(payload) > maxText
		}
		return v, nil
	}
	tree := viewJSON(shown, 3, find)
	v.JSON, v.HTML, v.Found, v.Cut = true, tree.html, tree.found, tree.cut
	return v, secrets
}

// payload answers with an event's payload as a file, masked.
func (s *server) payload(w http.ResponseWriter, r *http.Request) {
	h, err := s.rt.Inspect(r.Context(), r.PathValue("id"))
	if err == nil && h.Payload == nil {
		err = &problem{http.StatusNotFound, "The event's payload was not kept."}
	}
	var infos []restaq.HandlerInfo
	if err == nil {
		infos, err = s.handlers(r.Context())
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	data, name := h.Payload, "payload.json"
	if rules := s.rules(infos); !rules.Empty() {
		if data, _, err = rules.JSON(data, nil); err != nil {
			s.fail(w, r, &problem{http.StatusForbidden, "Fields are masked, and the payload is no JSON: it is not shown."})
			return
		}
	} else if !json.Valid(data) {
		name = "payload.txt"
	}
	w.Header().Set("Content-Type", "application/octet-stream") // no browser shows it as a page
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, _ = w.Write(data)
}

// infoOf returns what is known of a handler, by its name or one that it had.
func infoOf(infos []restaq.HandlerInfo, name string) (restaq.HandlerInfo, bool) {
	i := slices.IndexFunc(infos, func(h restaq.HandlerInfo) bool { return h.Name == name })
	if i < 0 {
		i = slices.IndexFunc(infos, func(h restaq.HandlerInfo) bool { return slices.Contains(h.Was, name) })
	}
	if i < 0 {
		return restaq.HandlerInfo{}, false
	}
	return infos[i], true
}

// stepName is a record's name without its key.
func stepName(record string) string {
	name, _, _ := strings.Cut(record, "[")
	return name
}
