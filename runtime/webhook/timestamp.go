package webhook

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// maxUnixDigits bounds unix times: 12 digits reach the year 33658 in seconds,
// 15 in milliseconds.
const maxUnixDigits = 15

// parseUnix reads a unix time in the given unit: ASCII digits and nothing
// else, so that it is one text for one time.
func parseUnix(text string, unit time.Duration) (time.Time, error) {
	if text == "" || len(text) > maxUnixDigits {
		return time.Time{}, errors.New("want a unix time")
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return time.Time{}, errors.New("want a unix time in digits")
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, errors.New("want a unix time")
	}
	if unit == time.Millisecond {
		return time.UnixMilli(n), nil
	}
	return time.Unix(n, 0), nil
}

// checkAge reports a signed time that is further from now than past or future
// allow. A future of 0 allows any.
func checkAge(signed, now time.Time, past, future time.Duration) error {
	age := now.Sub(signed)
	switch {
	case age > past:
		return fmt.Errorf("%w: signed %v ago by this server's clock, at most %v is taken", ErrTimestamp, age.Round(time.Second), past)
	case future > 0 && age < -future:
		return fmt.Errorf("%w: signed %v ahead of this server's clock, at most %v is taken", ErrTimestamp, (-age).Round(time.Second), future)
	}
	return nil
}
