package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// Count returns how many rows List would return over all pages, at most most.
func (s *Store) Count(ctx context.Context, f restaq.Filter, most int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("count executions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.matching
	if f.Unhandled {
		rows = s.unhandled
	}
	return min(len(rows(&f)), most), nil
}

// AddCounts adds to the counts of their minutes.
func (s *Store) AddCounts(ctx context.Context, counts []restaq.Count, keep time.Duration) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("add counts: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.time().Add(-keep)
	maps.DeleteFunc(s.counts, func(c restaq.Count, _ int64) bool { return c.Minute.Before(oldest) })
	for _, c := range counts {
		n := c.N
		c.Minute, c.N = c.Minute.UTC().Truncate(time.Minute), 0
		if !c.Minute.Before(oldest) {
			s.counts[c] += n
		}
	}
	return nil
}

// Counts returns counts by spans of step.
func (s *Store) Counts(ctx context.Context, since, until time.Time, step time.Duration) ([]restaq.Count, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := map[restaq.Count]int64{}
	for c, n := range s.counts {
		if !c.Minute.Before(since) && c.Minute.Before(until) {
			at := c.Minute.Unix()
			c.Minute = time.Unix(at-at%int64(step/time.Second), 0).UTC()
			sums[c] += n
		}
	}
	all := make([]restaq.Count, 0, len(sums))
	for c, n := range sums {
		c.N = n
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b restaq.Count) int {
		return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Result, b.Result), cmp.Compare(a.Bucket, b.Bucket))
	})
	return all, nil
}

// AppendAudit appends entries.
func (s *Store) AppendAudit(ctx context.Context, entries []restaq.AuditEntry) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("append audit: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.time()
	for _, e := range entries {
		e.At = at
		s.audit = append(s.audit, e)
	}
	return nil
}

// Audit returns a page of entries, newest first.
func (s *Store) Audit(ctx context.Context, f restaq.AuditFilter) (restaq.AuditPage, error) {
	page, err := s.auditPage(ctx, f)
	if err != nil {
		return restaq.AuditPage{}, fmt.Errorf("read audit: %w", err)
	}
	return page, nil
}

func (s *Store) auditPage(ctx context.Context, f restaq.AuditFilter) (page restaq.AuditPage, err error) {
	if err := ctx.Err(); err != nil {
		return page, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := len(s.audit)
	if f.Cursor != "" {
		if next, err = parsePosition(f.Cursor); err != nil {
			return page, err
		}
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, 1000)
	for i := min(next, len(s.audit)) - 1; i >= 0; i-- {
		e := s.audit[i]
		if (f.Person == "" || f.Person == e.Person) && (f.Action == "" || f.Action == e.Action) &&
			(f.Execution == "" || f.Execution == e.Execution) &&
			(f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until)) {
			if len(page.Entries) == f.Limit {
				page.Next = position(i + 1)
				break
			}
			page.Entries = append(page.Entries, e)
		}
	}
	return page, nil
}

// position is a cursor that names a place in the order of the audit.
func position(n int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(n)))
}

func parsePosition(cursor string) (int, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, restaq.ErrCursor
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 {
		return 0, restaq.ErrCursor
	}
	return n, nil
}
