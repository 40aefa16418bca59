package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/restaq/restaq/internal/schema"
)

// Report writes how each schema file was read, and the places where the Go types
// say less than the schema, as problems of a run have them: why, and what the
// schema says there, in normal form. Name is how a file's name is printed.
func Report(w io.Writer, o Options, problems schema.Problems, name func(string) string) error {
	var ignored schema.Problems
	set, _ := schema.Load(o.read(&ignored))
	var b bytes.Buffer
	for _, doc := range set.Documents {
		fmt.Fprintf(&b, "%s: read as %s, %d schemas\n", name(doc.File), doc.Draft, doc.Len())
	}
	widened := 0
	for _, p := range problems {
		if !p.Widened {
			continue
		}
		widened++
		s := set.At(p.Position)
		p.Warning, p.File = false, name(p.File)
		fmt.Fprintln(&b, p)
		if s == nil {
			continue
		}
		text, err := json.Marshal(schema.Normal(s))
		if err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		fmt.Fprintf(&b, "\t%s\n", text)
	}
	fmt.Fprintf(&b, "places where Go types say less than the schemas: %d\n", widened)
	_, err := w.Write(b.Bytes())
	return err
}
