package analyze

import (
	"cmp"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
)

// Fixed returns what the files become when the first fix of each finding is
// made, formatted, and the findings that are left: those without a fix, and those
// whose fix overlaps one that was made.
func Fixed(findings []Finding) (files map[string][]byte, left []Finding, err error) {
	made := map[string][]Edit{}
	for _, f := range findings {
		if len(f.Fixes) == 0 || !fits(made, f.Fixes[0].Edits) {
			left = append(left, f)
			continue
		}
		for _, e := range f.Fixes[0].Edits {
			if !slices.Contains(made[e.File], e) {
				made[e.File] = append(made[e.File], e)
			}
		}
	}
	files = map[string][]byte{}
	for name, edits := range made {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		if files[name], err = apply(src, edits); err != nil {
			return nil, nil, fmt.Errorf("fix %s: %w", name, err)
		}
	}
	return files, left, nil
}

// fits reports whether edits can be made beside others. An edit that was made
// already can.
func fits(made map[string][]Edit, edits []Edit) bool {
	for _, e := range edits {
		for _, other := range made[e.File] {
			if e != other && e.Start <= other.End && other.Start <= e.End {
				return false
			}
		}
	}
	return true
}

// apply makes edits that do not overlap. A line of which nothing is left goes
// with what stood on it.
func apply(src []byte, edits []Edit) ([]byte, error) {
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(src) {
			return nil, fmt.Errorf("the file has changed meanwhile")
		}
		b.Write(src[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
		if e.Text == "" && blankBefore(src, e.Start) && at < len(src) && src[at] == '\n' {
			at++
		}
	}
	b.Write(src[at:])
	return format.Source([]byte(b.String()))
}

// blankBefore reports whether there is only space ahead of an offset on its line.
func blankBefore(src []byte, offset int) bool {
	for offset > 0 && src[offset-1] != '\n' {
		if c := src[offset-1]; c != ' ' && c != '\t' {
			return false
		}
		offset--
	}
	return true
}
