// Package marker reads the comments that mark handlers, steps and event types:
//
//	//restaq:on TYPE… [name=NAME] [attempts=N] [backoff=MIN..MAX] [timeout=DURATION] [order=EXPR]
//	//restaq:step [NAME] [key=EXPR] [attempts=N] [backoff=MIN..MAX] [timeout=DURATION] [pure]
//	//restaq:event TYPE
//	//restaq:was OLD…
//	//restaq:convert STEP
//
// and those that silence a check on the line that they stand on or above:
//
//	//restaq:ignore CHECK REASON
//
// They are directives in the sense of go/ast: no space before or behind the
// colon. An argument that holds spaces is quoted whole: "key=a + b".
//
// [Parse] reads one, [Find] those of a file together with the declarations that
// they stand on, [Silencers] those that silence. The first two report everything
// that is wrong, near misses included.
package marker

import (
	"go/token"
	"time"
)

// The verbs.
const (
	On    = "on"
	Step  = "step"
	Event = "event"

	// Convert marks a function that makes a step's output from an earlier one.
	Convert = "convert"

	// Was stands beside On or Step; see [Decl].
	Was = "was"

	// Ignore marks no declaration; see [Silencers].
	Ignore = "ignore"
)

// verbs are the verbs that Parse knows.
var verbs = []string{On, Step, Event, Was, Convert, Ignore}

// markers names the verbs in a hint.
const markers = "the markers are //restaq:on, //restaq:step, //restaq:event, //restaq:was, //restaq:convert and //restaq:ignore"

// options are the words that options begin with, by verb.
var options = map[string][]string{
	On:   {"name", "attempts", "backoff", "timeout", "order"},
	Step: {"name", "key", "attempts", "backoff", "timeout", "pure"},
}

// Marker is one marker.
type Marker struct {
	// Verb is On, Step, Event, Convert or Was.
	Verb string

	// Pos and End are where the comment begins and ends.
	Pos, End token.Pos

	// Types are the event types of a handler, or the one of an event.
	Types []Word

	// Name is the name of a handler or step, empty if none is given, or of the
	// step that Convert converts for.
	Name Word

	// Old are the names that Was gives, in order.
	Old []Word

	// Key and Order are expressions; empty if not given.
	Key, Order Word

	// Attempts is how often to try; 0 if not given.
	Attempts int

	// BackoffMin and BackoffMax bound the wait before a retry; zero if not
	// given.
	BackoffMin, BackoffMax time.Duration

	// Timeout is the time that one try has; 0 if not given.
	Timeout time.Duration

	// Pure says that a step has no effect outside its result.
	Pure bool
}

// Word is a piece of a marker's text and where it stands.
type Word struct {
	Text string
	Pos  token.Pos
}

// Error is something wrong with a marker.
type Error struct {
	// Verb is the marker's verb if that is known, else "".
	Verb string

	Pos    token.Pos
	Reason string
	Hint   string // may be empty
}

// Nearest returns the word that was most likely meant by s; "" if none is near
// enough to be a slip of the hand.
func Nearest(s string, words []string) string {
	best, least := "", max(1, len(s)/3)+1
	for _, w := range words {
		if d := distance(s, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the insertions, deletions, changes and swaps of neighbours
// that turn a into b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	older, old := []int(nil), make([]int, len(t)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old = old, row
	}
	return old[len(t)]
}
