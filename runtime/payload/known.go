package payload

import "strings"

// Known reports whether a value is one of those in a list. The list's first
// character stands before and behind each of its values, and in none of them:
// "|open|closed|".
//
// The generated Known methods call it. A list costs a compiler next to nothing;
// the switch that it replaces was half the cost of compiling an event package.
func Known(value, list string) bool {
	sep := list[0]
	if strings.IndexByte(value, sep) >= 0 {
		return false
	}
	for rest := list[1:]; ; {
		next := strings.IndexByte(rest, sep)
		if next < 0 {
			return false
		}
		if rest[:next] == value {
			return true
		}
		rest = rest[next+1:]
	}
}
