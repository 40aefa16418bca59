package corpus

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/schemas"
)

// book tells, for each event type, what members its schema knows.
type book map[string]*schema.Schema

// shipped is the book of a provider that is shipped.
func shipped(t *testing.T, provider string) book {
	t.Helper()
	names, err := fs.Glob(schemas.Files, provider+"/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var files []schema.File
	for _, name := range names {
		data, err := fs.ReadFile(schemas.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		if path.Base(name) != events.SettingsFile {
			files = append(files, schema.File{Path: name, Data: data})
		}
	}
	return bookOf(t, provider, files)
}

// imported is the book of a specification.
func imported(t *testing.T, o events.Options) book {
	t.Helper()
	made, problems := events.Import(o)
	if problems.Failed() {
		t.Fatal(problems)
	}
	var files []schema.File
	for _, f := range made {
		files = append(files, schema.File{Path: f.Path, Data: f.Content})
	}
	return bookOf(t, o.Provider, files)
}

func bookOf(t *testing.T, provider string, files []schema.File) book {
	t.Helper()
	set, problems := schema.Load(files)
	if problems.Failed() {
		t.Fatal(problems)
	}
	b := book{}
	for _, doc := range set.Documents {
		for _, d := range doc.Root.Defs {
			for _, eventType := range d.Schema.Events {
				b[provider+"."+eventType] = d.Schema
			}
		}
	}
	return b
}

// knows reports whether the schema of an event type has a word on the member at
// .a.b[0].c.
func (b book) knows(eventType, at string) bool {
	var tokens []string
	for word := range strings.SplitSeq(at, ".") {
		name, rest, _ := strings.Cut(word, "[")
		tokens = append(tokens, name)
		for rest != "" {
			index, more, _ := strings.Cut(rest, "]")
			tokens = append(tokens, "["+index)
			rest = strings.TrimPrefix(more, "[")
		}
	}
	return knows(b[eventType], tokens[1:], 0)
}

func knows(s *schema.Schema, tokens []string, depth int) bool {
	if s == nil || depth > 100 {
		return false
	}
	if len(tokens) == 0 {
		return true
	}
	for _, part := range slices.Concat([]*schema.Schema{s.Target}, s.AllOf, s.AnyOf, s.OneOf) {
		if knows(part, tokens, depth+1) {
			return true
		}
	}
	if index, ok := strings.CutPrefix(tokens[0], "["); ok {
		if n, err := strconv.Atoi(index); err == nil && n < len(s.Prefix) && knows(s.Prefix[n], tokens[1:], depth+1) {
			return true
		}
		return knows(s.Items, tokens[1:], depth+1)
	}
	if p := s.Property(tokens[0]); p != nil {
		return knows(p.Schema, tokens[1:], depth+1)
	}
	return s.Additional != nil && s.Additional.Always == nil && knows(s.Additional, tokens[1:], depth+1)
}
