package payload

import "time"

// Unix is a point in time as a number of whole seconds since 1970. It is an
// integer and encodes as one.
type Unix int64

// UnixOf returns t as a Unix, without the fraction of a second.
func UnixOf(t time.Time) Unix { return Unix(t.Unix()) }

// Time returns the point in time, in UTC.
func (u Unix) Time() time.Time { return time.Unix(int64(u), 0).UTC() }
