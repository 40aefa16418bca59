package dashboard

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	restaq "github.com/restaq/restaq/runtime"
)

// statuses are the filter words, in the order of the page.
var statuses = []string{"pending", "running", "retrying", "dead", "completed", "cancelled"}

// maxField bounds a field of a filter, in bytes.
const maxField = 1024

// textWindow is the time in which errors are searched if none is chosen.
const textWindow = "7d"

// fields are the names of a filter's fields in addresses, in their order.
var fields = []string{"status", "handler", "type", "provider", "source", "event", "text", "since", "until"}

// form is a filter as it stands in an address.
type form url.Values

// formOf takes a filter's fields out of an address, without those that are empty.
func formOf(q url.Values) form {
	f := make(form)
	for _, name := range fields {
		for _, value := range q[name] {
			if value = strings.TrimSpace(value); value != "" && (name == "status" || len(f[name]) == 0) {
				f[name] = append(f[name], value)
			}
		}
	}
	if f.Get("text") != "" && f.Get("since") == "" {
		f["since"] = []string{textWindow}
	}
	return f
}

// Get returns a field, "" if it does not restrict.
func (f form) Get(name string) string { return url.Values(f).Get(name) }

// Has reports whether a status is among those that are chosen.
func (f form) Has(status string) bool { return slices.Contains(f["status"], status) }

// Query is the filter for an address.
func (f form) Query() string { return url.Values(f).Encode() }

// Empty reports whether the filter does not restrict.
func (f form) Empty() bool { return len(f) == 0 }

// With is the filter's address with a field that is another one.
func (f form) With(name, value string) string {
	q := make(url.Values)
	for n, values := range f {
		q[n] = values
	}
	q[name] = []string{value}
	return q.Encode()
}

// filter returns what the store is asked. Ages count from now.
func (f form) filter(now time.Time) (out restaq.Filter, err error) {
	for _, name := range fields {
		for _, value := range f[name] {
			if len(value) > maxField || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
				return out, bad(fmt.Sprintf("The field %s is no text, or too long.", name))
			}
		}
	}
	for _, s := range f["status"] {
		if !slices.Contains(statuses, s) && s != "failed" {
			return out, bad("There is no such status.")
		}
	}
	out = restaq.Filter{
		Statuses: f["status"], Handler: f.Get("handler"), EventType: f.Get("type"), Provider: f.Get("provider"),
		Source: f.Get("source"), EventID: f.Get("event"), Text: f.Get("text"),
	}
	if t := out.EventType; strings.Contains(strings.TrimSuffix(t, "*"), "*") || strings.HasSuffix(t, "*") && t != "*" && !strings.HasSuffix(t, ".*") {
		return out, bad(`"*" stands only as the whole last part of an event type, as in stripe.charge.*`)
	}
	if strings.Contains("."+out.EventType+".", "..") && out.EventType != "" {
		return out, bad("The event type has an empty part.")
	}
	if out.Since, err = parseTime(f.Get("since"), now); err != nil {
		return out, err
	}
	out.Until, err = parseTime(f.Get("until"), now)
	return out, err
}

// fixed is the filter with its ages as times, and without what comes after now:
// what is asked for all that matches is asked for what was seen.
func (f form) fixed(now time.Time) (form, error) {
	filter, err := f.filter(now)
	if err != nil {
		return nil, err
	}
	out := make(form)
	for name, values := range f {
		out[name] = values
	}
	if !filter.Since.IsZero() {
		out["since"] = []string{filter.Since.UTC().Format(time.RFC3339Nano)}
	}
	if filter.Until.IsZero() || filter.Until.After(now) {
		filter.Until = now
	}
	out["until"] = []string{filter.Until.UTC().Format(time.RFC3339Nano)}
	return out, nil
}

// layouts are the forms of times that are read, in UTC where they do not say.
var layouts = []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// parseTime reads a time, or how long ago it was. "" is no time.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 15)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age < 0 {
		return time.Time{}, bad("A time is 2026-01-31, 2026-01-31 09:30 (UTC), or how long ago: 15m, 36h, 7d.")
	}
	return now.Add(-age), nil
}
