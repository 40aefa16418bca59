package dashboard

import (
	"net/http"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// pageSize is how many executions a page of the list shows.
const pageSize = 50

// listBody is what the list shows.
type listBody struct {
	Form       form
	Statuses   []string
	Handlers   []restaq.HandlerInfo
	Executions []restaq.Execution
	Total      Tally
	Next       string // the address of the next page
	First      bool   // it is the first page
}

func (s *server) list(r *http.Request) (string, any, bool, error) {
	ctx, q := r.Context(), r.URL.Query()
	b := &listBody{Form: formOf(q), Statuses: statuses, First: q.Get("cursor") == ""}
	f, err := b.Form.filter(time.Now())
	if err != nil {
		return "", nil, false, err
	}
	f.Cursor, f.Limit = q.Get("cursor"), pageSize
	if b.Handlers, err = s.handlers(ctx); err != nil {
		return "", nil, false, err
	}
	page, err := s.rt.List(ctx, f)
	if err != nil {
		return "", nil, false, err
	}
	rules := s.rules(b.Handlers)
	for i := range page.Executions {
		page.Executions[i].Error = s.errorOf(ctx, rules, &page.Executions[i])
	}
	b.Executions = page.Executions
	if page.Next != "" {
		b.Next = b.Form.With("cursor", page.Next)
	}
	if b.First && page.Next == "" {
		b.Total = Tally{N: len(page.Executions)}
	} else if b.Total, err = shared(&s.facts, "tally "+b.Form.Query(), func() (Tally, error) { return s.tally(ctx, f), nil }); err != nil {
		return "", nil, false, err
	}
	return "Executions", b, b.First, nil // older pages do not change
}

// auditBody is what the audit shows.
type auditBody struct {
	Person  string
	Entries []restaq.AuditEntry
	Next    string
}

func (s *server) audit(r *http.Request) (string, any, bool, error) {
	q := r.URL.Query()
	b := &auditBody{Person: q.Get("person")}
	page, err := s.rt.Audit(r.Context(), restaq.AuditFilter{Person: b.Person, Cursor: q.Get("cursor"), Limit: pageSize})
	if err != nil {
		return "", nil, false, err
	}
	b.Entries, b.Next = page.Entries, page.Next
	return "Audit", b, q.Get("cursor") == "", nil
}
