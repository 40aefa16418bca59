// Events has other generators make Go types of GitHub's webhook schema, as this
// project does, and tries GitHub's 329 example payloads on what they make:
//
//	make compare-events
//
// It prints the table of docs/events.md: whether the output compiles, how many
// payloads are the same JSON value when decoded and encoded again (numbers by
// their digits), how many lose nothing, how many are refused, what the generator
// takes of processor time, and how long its output is. Schemas, payloads and
// generators are fetched, at the versions below.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/restaq/restaq/internal/fetch"
)

// generator is one that makes Go types of a schema.
type generator struct {
	name    string
	schema  string // what it reads
	install func(ctx context.Context, b *bench) error
	command func(b *bench, out string) []string // out is the folder of package gh

	// mend repairs what does not compile, and says what; nil: nothing is tried.
	mend func(out string) (what string, err error)

	// decoder returns Go source: func decode(event string, data []byte) (any, error).
	decoder func(out string) (string, error)
}

// bench is where everything happens.
type bench struct {
	dir             string // of temporary files
	schema, openAPI string // GitHub's
	payloads        []payload
}

type payload struct {
	Type string // pull_request.opened
	Data json.RawMessage
}

// row is what is found out about a generator.
type row struct {
	name, schema          string
	compiles              string
	exact, whole, refused int
	tried                 bool
	processor             time.Duration
	lines                 int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		stop()
		os.Exit(1)
	}
}

func compare(ctx context.Context) error {
	b, err := prepare(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(out, "| generator\t| reads\t| compiles\t| same\t| nothing lost\t| refused\t| processor\t| lines\t|")
	fmt.Fprintln(out, "| ---\t| ---\t| ---\t| ---:\t| ---:\t| ---:\t| ---:\t| ---:\t|")
	for _, g := range generators {
		rows, err := b.judge(ctx, g)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		for _, r := range rows {
			counts := "–\t| –\t| –"
			if r.tried {
				counts = fmt.Sprintf("%d\t| %d\t| %d", r.exact, r.whole, r.refused)
			}
			fmt.Fprintf(out, "| %s\t| %s\t| %s\t| %s\t| %.1f s\t| %d\t|\n", r.name, r.schema, r.compiles, counts, r.processor.Seconds(), r.lines)
		}
	}
	return out.Flush()
}

// prepare fetches the schemas and payloads.
func prepare(ctx context.Context) (*bench, error) {
	b := &bench{}
	for _, f := range []struct {
		from fetch.Package
		name string
		to   *string
	}{{fetch.GitHubSchemas, "schema.json", &b.schema}, {fetch.GitHubOpenAPI, "generated/api.github.com.json", &b.openAPI}} {
		dir, err := f.from.Get(ctx)
		if err != nil {
			return nil, err
		}
		*f.to = filepath.Join(dir, f.name)
	}
	dir, err := fetch.GitHubExamples.Get(ctx)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "api.github.com", "index.json"))
	if err != nil {
		return nil, err
	}
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, err
	}
	for _, e := range events {
		for _, example := range e.Examples {
			var body struct{ Action string }
			if err := json.Unmarshal(example, &body); err != nil {
				return nil, err
			}
			p := payload{e.Name, example}
			if body.Action != "" && e.Name != "repository_dispatch" {
				p.Type += "." + body.Action
			}
			b.payloads = append(b.payloads, p)
		}
	}
	b.dir, err = os.MkdirTemp("", "restaq-events-")
	return b, err
}

// judge installs and runs a generator and tries what it makes, as it is and
// mended.
func (b *bench) judge(ctx context.Context, g generator) ([]row, error) {
	if err := g.install(ctx, b); err != nil {
		return nil, err
	}
	module, err := os.MkdirTemp(b.dir, "module-")
	if err != nil {
		return nil, err
	}
	out := filepath.Join(module, "gh")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	args := g.command(b, out)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	said, failed := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return nil, failed
	}
	r := row{name: g.name, schema: g.schema, processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if failed != nil {
		r.compiles = "stops: " + lastLine(string(said))
		return []row{r}, nil
	}
	if r.lines, err = countLines(out); err != nil {
		return nil, err
	}
	if err := b.module(module, g, out); err != nil {
		return nil, err
	}
	complaints, err := build(ctx, module)
	if err != nil {
		return nil, err
	}
	rows := []row{r}
	if len(complaints) > 0 {
		rows[0].compiles = fmt.Sprintf("no: %s", complaints[0])
		if g.mend == nil {
			return rows, nil
		}
		what, err := g.mend(out)
		if err != nil {
			return nil, err
		}
		if complaints, err = build(ctx, module); err != nil || len(complaints) > 0 {
			return nil, fmt.Errorf("mended, it does not compile either: %v, %w", complaints, err)
		}
		r.name, r.compiles = g.name+", "+what, "mended"
		rows = append(rows, r)
	} else {
		rows[0].compiles = "yes"
	}
	return rows, b.try(ctx, module, &rows[len(rows)-1])
}

func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(lines[len(lines)-1]), "-"))
}

func countLines(dir string) (int, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	n := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n += strings.Count(string(data), "\n")
	}
	return n, err
}
