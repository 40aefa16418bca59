package problem

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// WriteGitHub prints the list as workflow commands of GitHub Actions, which
// become annotations of the files: errors, or notices for notes. File names are
// relative to dir, which should be the repository's top.
//
//	::error file=billing/billing.go,line=12,col=1,title=restaq field-removed::step …
func (l List) WriteGitHub(w io.Writer, dir string) error {
	for _, p := range l {
		level, title := "error", "restaq"
		if p.Note {
			level = "notice"
		}
		if p.Rule != "" {
			title += " " + p.Rule
		}
		var at []string
		if p.Pos.Filename != "" {
			at = append(at, "file="+property(filepath.ToSlash(relative(dir, p.Pos.Filename))))
		}
		if p.Pos.Line > 0 {
			at = append(at, fmt.Sprintf("line=%d", p.Pos.Line))
		}
		if p.Pos.Column > 0 {
			at = append(at, fmt.Sprintf("col=%d", p.Pos.Column))
		}
		at = append(at, "title="+property(title))
		message := p
		message.Pos.Filename = ""
		text := strings.ReplaceAll(message.format(""), "\n\t", "\n")
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", level, strings.Join(at, ","), data.Replace(text)); err != nil {
			return err
		}
	}
	return nil
}

// data escapes a command's text, property one of its properties.
var data = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data.Replace(s))
}
