package main

import (
	"context"
	"errors"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/redact"
)

// masks are the fields that programs on the store want masked
// (Config.Redact), by handler.
type masks map[string]redact.Rules

// masksOf reads them from the store.
func masksOf(ctx context.Context, rt *restaq.Runtime) (masks, error) {
	infos, err := rt.Handlers(ctx)
	if err != nil {
		return nil, err
	}
	m := make(masks)
	for _, info := range infos {
		m[info.Name] = redact.New(info.Redact...)
		for _, old := range info.Was {
			if _, known := m[old]; !known {
				m[old] = m[info.Name]
			}
		}
	}
	return m, nil
}

// history masks the payload, and what of it stands in outputs, errors and
// stacks. A payload that is no JSON is not shown at all if there are rules.
func (m masks) history(h *restaq.History) {
	rules := m[h.Handler]
	if rules.Empty() {
		return
	}
	var secrets redact.Secrets
	if h.Payload != nil {
		payload, found, err := rules.JSON(h.Payload, nil)
		if err != nil {
			payload = nil
		}
		h.Payload, secrets = payload, found
	}
	h.Error = secrets.Mask(h.Error)
	for i := range h.Tries {
		t := &h.Tries[i]
		t.Error, t.Stack = secrets.Mask(t.Error), secrets.Mask(t.Stack)
		for j := range t.Steps {
			s := &t.Steps[j]
			s.Error, s.Stack = secrets.Mask(s.Error), secrets.Mask(s.Stack)
			if s.Output != nil {
				output, _, err := rules.JSON(s.Output, secrets)
				if err != nil {
					output = nil
				}
				s.Output = output
			}
		}
	}
}

// errors masks the errors of executions. It reads the payloads of those that
// have an error and rules.
func (m masks) errors(ctx context.Context, rt *restaq.Runtime, executions ...*restaq.Execution) error {
	for _, e := range executions {
		if e.Error == "" || m[e.Handler].Empty() {
			continue
		}
		h, err := rt.Inspect(ctx, e.ID)
		switch {
		case errors.Is(err, restaq.ErrNotFound):
			e.Error = redact.Mask
			continue
		case err != nil:
			return err
		}
		m.history(h)
		e.Error = h.Error
	}
	return nil
}

// page masks the errors of a list.
func (m masks) page(ctx context.Context, rt *restaq.Runtime, page *restaq.Page) error {
	for i := range page.Executions {
		if err := m.errors(ctx, rt, &page.Executions[i]); err != nil {
			return err
		}
	}
	return nil
}

// inspect returns an execution's history, masked.
func inspect(ctx context.Context, rt *restaq.Runtime, m masks, id string) (*restaq.History, error) {
	h, err := rt.Inspect(ctx, id)
	if err != nil {
		return nil, explain(id, err)
	}
	m.history(h)
	return h, nil
}
