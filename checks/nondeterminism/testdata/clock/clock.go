// Package clock is called by handlers of another package.
package clock

import (
	"context"
	"time"
)

// Zone is set by Configure.
var Zone = time.UTC // want Zone:"assigned"

// Default is what it was declared as.
var Default = time.UTC

func Configure(zone *time.Location) { Zone = zone }

func Stamp() string { return format(time.Now()) } // want Stamp:"returns time.Now"

func format(t time.Time) string { return t.Format(time.RFC3339) } // want format:".*"

// Wait sleeps.
func Wait() { time.Sleep(time.Second) } // want Wait:"waits outside a step, or starts what runs beside it: time.Sleep"

// Elapsed is what t was long ago, and has nothing of its own.
func Elapsed(from, to time.Time) time.Duration { return to.Sub(from) } // want Elapsed:".*"

// Double lets the caller's own value through.
func Double(n int) int { return 2 * n } // want Double:".*"

//restaq:step
func Now(ctx context.Context) (time.Time, error) { return time.Now(), nil }
