package restaq

import (
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff bounds the wait before a next attempt: it grows exponentially from
// Min and is capped at Max, with full jitter, so that executions that failed
// together do not return together. The zero Backoff means the default that
// applies where it is used.
type Backoff struct {
	Min, Max time.Duration
}

// Delay returns the wait after the n-th failure (from 1): a random duration in
// (0, min(Max, Min·2ⁿ⁻¹)].
func (b Backoff) Delay(n int) time.Duration {
	ceiling := b.Min
	for range n - 1 {
		if ceiling >= b.Max/2 {
			ceiling = b.Max
			break
		}
		ceiling *= 2
	}
	ceiling = min(ceiling, b.Max)
	if ceiling <= 0 {
		return 0
	}
	return 1 + rand.N(ceiling)
}

func (b Backoff) validate() error {
	switch {
	case b.Min <= 0 && b != Backoff{}:
		return errors.New("min must be positive")
	case b.Max < b.Min:
		return errors.New("max must not be below min")
	}
	return nil
}

// or returns b, or def if b is zero.
func (b Backoff) or(def Backoff) Backoff {
	if b == (Backoff{}) {
		return def
	}
	return b
}
