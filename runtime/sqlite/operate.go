package sqlite

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// SeeCommits has fn told how many writes each commit holds.
func (s *Store) SeeCommits(fn func(writes int)) { s.writer.seen.Store(&fn) }

// AddCounts adds to the counts of their minutes.
func (s *Store) AddCounts(ctx context.Context, counts []restaq.Count, keep time.Duration) error {
	err := s.writer.do(ctx, func(tx *tx) error {
		oldest := tx.now.Add(-keep)
		if _, err := tx.exec(`DELETE FROM restaq_count WHERE minute < ?`, minuteFrom(oldest)); err != nil {
			return err
		}
		for _, c := range counts {
			if c.Minute.Before(oldest) {
				continue
			}
			_, err := tx.exec(`INSERT INTO restaq_count (minute, kind, name, result, bucket, n) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (minute, kind, name, result, bucket) DO UPDATE SET n = n + excluded.n`,
				c.Minute.Unix()/60, string(c.Kind), c.Name, c.Result, c.Bucket, c.N)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("add counts: %w", err)
	}
	return nil
}

// minuteFrom is the number of the first minute that does not begin before t.
func minuteFrom(t time.Time) int64 {
	return t.Add(time.Minute-1).Unix() / 60
}

// Counts returns counts by spans of step.
func (s *Store) Counts(ctx context.Context, since, until time.Time, step time.Duration) (all []restaq.Count, err error) {
	span := int64(step / time.Minute)
	err = s.reader.readOnce(ctx, func(query queryFunc) error {
		rows, err := query(`SELECT minute - minute % ? AS span, kind, name, result, bucket, sum(n) FROM restaq_count
			WHERE minute >= ? AND minute < ? GROUP BY span, kind, name, result, bucket
			ORDER BY span, kind, name, result, bucket`, span, minuteFrom(since), minuteFrom(until))
		if err != nil {
			return err
		}
		return each(rows, func() error {
			var c restaq.Count
			var minute int64
			var kind string
			err := rows.Scan(&minute, &kind, &c.Name, &c.Result, &c.Bucket, &c.N)
			c.Minute, c.Kind = time.Unix(minute*60, 0).UTC(), restaq.CountKind(kind)
			all = append(all, c)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	return all, nil
}

// AppendAudit appends entries.
func (s *Store) AppendAudit(ctx context.Context, entries []restaq.AuditEntry) error {
	err := s.writer.do(ctx, func(tx *tx) error {
		for _, e := range entries {
			_, err := tx.exec(`INSERT INTO restaq_audit (at, person, action, execution, detail) VALUES (?, ?, ?, ?, ?)`,
				tx.now.UnixMicro(), e.Person, e.Action, e.Execution, e.Detail)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("append audit: %w", err)
	}
	return nil
}

// Audit returns a page of entries, newest first.
func (s *Store) Audit(ctx context.Context, f restaq.AuditFilter) (restaq.AuditPage, error) {
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	f.Limit = min(f.Limit, maxLimit)
	var page restaq.AuditPage
	err := s.reader.readOnce(ctx, func(query queryFunc) (err error) {
		page, err = audit(query, f)
		return err
	})
	if err != nil {
		return restaq.AuditPage{}, fmt.Errorf("read audit: %w", err)
	}
	return page, nil
}

func audit(query queryFunc, f restaq.AuditFilter) (page restaq.AuditPage, err error) {
	var w where
	for _, term := range []struct{ term, value string }{
		{`person = ?`, f.Person}, {`action = ?`, f.Action}, {`execution <> '' AND execution = ?`, f.Execution},
	} {
		if term.value != "" {
			w.add(term.term, term.value)
		}
	}
	w.times(`at`, restaq.Filter{Since: f.Since, Until: f.Until})
	if f.Cursor != "" {
		seq, err := parsePosition(f.Cursor)
		if err != nil {
			return page, err
		}
		w.add(`seq < ?`, seq)
	}
	rows, err := query(`SELECT seq, at, person, action, execution, detail FROM restaq_audit`+w.String()+`
		ORDER BY seq DESC LIMIT ?`, append(w.args, f.Limit+1)...)
	if err != nil {
		return page, err
	}
	var last int64
	err = each(rows, func() error {
		if len(page.Entries) == f.Limit {
			page.Next = position(last)
			return nil
		}
		var e restaq.AuditEntry
		err := rows.Scan(&last, moment{&e.At}, &e.Person, &e.Action, &e.Execution, &e.Detail)
		page.Entries = append(page.Entries, e)
		return err
	})
	return page, err
}

// position is a cursor that names the last row of a page.
func position(seq int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(seq, 10)))
}

func parsePosition(cursor string) (int64, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, restaq.ErrCursor
	}
	seq, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, restaq.ErrCursor
	}
	return seq, nil
}
