package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	restaq "github.com/restaq/restaq/runtime"
)

// filterFlags are the flags that choose executions, the same for every verb
// that takes several.
type filterFlags struct {
	filter         restaq.Filter
	dead, retrying bool
	since, until   string
}

// The help of every verb that has these flags ends with it.
const filterHelp = `
Statuses are pending, running, sleeping, completed, failed and cancelled; of
the failed ones, "retrying" wait for their next attempt and "dead" for a person.
Reasons for --stopped-by are "schema", a record that the build could not read;
"key", something that no process had the key of; "changed-input", a record made from other inputs (Config.StrictInputs);
"permanent", an error that the handler or a step made permanent; and "attempts",
all of them used up.

Times are RFC 3339 (2026-01-31T09:30:00Z, or 2026-01-31 for its beginning in
UTC), or how long ago, such as 90m, 36h or 7d.`

func (f *filterFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.filter.Statuses, "status", nil, "of these `statuses`")
	flags.BoolVar(&f.dead, "dead", false, "failed for good: they wait for a person")
	flags.BoolVar(&f.retrying, "retrying", false, "failed, and wait for their next attempt")
	flags.StringVar((*string)(&f.filter.StoppedBy), "stopped-by", "", "dead for this `reason`: schema, key, changed-input, permanent or attempts")
	flags.StringVar(&f.filter.Handler, "handler", "", "of this handler `name`")
	flags.StringVar(&f.filter.EventType, "type", "", "of this event `type`; its last segment may be *")
	flags.StringVar(&f.filter.Provider, "provider", "", "of this provider's events")
	flags.StringVar(&f.filter.Source, "source", "", "of this source's events")
	flags.StringVar(&f.filter.EventID, "event", "", "of the event with this `id`")
	flags.StringVar(&f.filter.Text, "text", "", "failed, with this `text` in the error, letter for letter")
	flags.StringVar(&f.since, "since", "", "created at this `time` or later")
	flags.StringVar(&f.until, "until", "", "created before this `time`")
}

// apply puts the flags into the filter. now is what "ago" counts from.
func (f *filterFlags) apply(now time.Time) (err error) {
	if f.dead {
		f.filter.Statuses = append(f.filter.Statuses, "dead")
	}
	if f.retrying {
		f.filter.Statuses = append(f.filter.Statuses, "retrying")
	}
	for _, s := range f.filter.Statuses {
		switch s {
		case "pending", "running", "sleeping", "completed", "failed", "cancelled", "dead", "retrying":
		default:
			return fmt.Errorf("--status %q: there is no such status", s)
		}
	}
	switch f.filter.StoppedBy {
	case "", restaq.StoppedByAttempts, restaq.StoppedByPermanent, restaq.StoppedBySchema, restaq.StoppedByKey, restaq.StoppedByChangedInput:
	default:
		return fmt.Errorf("--stopped-by %q: want schema, key, changed-input, permanent or attempts", f.filter.StoppedBy)
	}
	if f.filter.Since, err = parseTime(f.since, now); err != nil {
		return fmt.Errorf("--since %w", err)
	}
	if f.filter.Until, err = parseTime(f.until, now); err != nil {
		return fmt.Errorf("--until %w", err)
	}
	return nil
}

// restricts reports whether the filter leaves anything out.
func (f *filterFlags) restricts() bool {
	return f.filter.String() != new(restaq.Filter).String()
}

// parseTime reads a time, a date, or a duration before now. "" is no time.
func parseTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	d, err := parseAge(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q: want a time such as 2026-01-31T09:30:00Z, or how long ago, such as 36h or 7d", text)
	}
	return now.Add(-d), nil
}

// parseAge reads a duration as time.ParseDuration does, or a number of days.
func parseAge(text string) (time.Duration, error) {
	var d time.Duration
	var err error
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		if err == nil && !(n >= 0 && n < 100*365) {
			err = errors.New("out of range")
		}
		d = time.Duration(n * float64(24*time.Hour))
	} else {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q: want a duration such as 90m, 36h or 30d", text)
	}
	return d, nil
}
