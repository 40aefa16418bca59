package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// generators in the order of the table.
var generators = []generator{
	{
		name: "restaqgen", schema: "JSON Schema", install: installRestaqgen,
		command: func(b *bench, out string) []string {
			return []string{filepath.Join(b.dir, "restaqgen"), "events", "-provider", "gh", "-in", b.schema, "-out", out}
		},
		decoder: decodeRestaqgen,
	},
	{
		name: "restaqgen", schema: "OpenAPI", install: installRestaqgen,
		command: func(b *bench, out string) []string {
			return []string{filepath.Join(b.dir, "restaqgen"), "events", "-provider", "gh", "-in", b.openAPI, "-out", out}
		},
		decoder: decodeRestaqgen,
	},
	{
		name: "go-jsonschema 0.24.1", schema: "JSON Schema", install: goInstall("github.com/atombender/go-jsonschema@v0.24.1"),
		command: func(b *bench, out string) []string {
			return []string{filepath.Join(b.dir, "go-jsonschema"), "-p", "gh", "-o", filepath.Join(out, "gh.go"), b.schema}
		},
		mend:    dropDefault,
		decoder: decodeGoJSONSchema,
	},
	{
		name: "ogen 1.25.0", schema: "OpenAPI", install: goInstall("github.com/ogen-go/ogen/cmd/ogen@v1.25.0"),
		command: func(b *bench, out string) []string {
			return []string{filepath.Join(b.dir, "ogen"), "-target", out, "-package", "gh", "-clean", b.openAPI}
		},
	},
	{
		name: "quicktype 26.0.0", schema: "JSON Schema", install: installQuicktype,
		command: func(b *bench, out string) []string { return quicktype(b, out) },
		decoder: decodeQuicktype,
	},
	{
		name: "quicktype, inferring less", schema: "JSON Schema", install: installQuicktype,
		command: func(b *bench, out string) []string {
			return append(quicktype(b, out), "--no-enums", "--no-date-times", "--no-uuids", "--no-boolean-strings")
		},
		decoder: decodeQuicktype,
	},
}

func installRestaqgen(ctx context.Context, b *bench) error {
	return run(exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(b.dir, "restaqgen"), "github.com/restaq/restaq/cmd/restaqgen"))
}

// goInstall installs a command of a module at a version, which go.mod knows
// nothing of.
func goInstall(path string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		cmd := exec.CommandContext(ctx, "go", "install", path)
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), "GOBIN="+b.dir, "GOFLAGS=", "GOWORK=off")
		return run(cmd)
	}
}

func installQuicktype(ctx context.Context, b *bench) error {
	if _, err := os.Stat(filepath.Join(b.dir, "node_modules")); err == nil {
		return nil
	}
	return run(exec.CommandContext(ctx, "npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", b.dir, "quicktype@26.0.0"))
}

func quicktype(b *bench, out string) []string {
	return []string{filepath.Join(b.dir, "node_modules", ".bin", "quicktype"), "-s", "schema", "-l", "go", "--package", "gh", "-o", filepath.Join(out, "gh.go"), b.schema}
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

func decodeRestaqgen(string) (string, error) {
	return `func decode(event string, data []byte) (any, error) { return gh.Decode("gh."+event, data) }`, nil
}

// dropDefault takes out the one statement that does not compile: a default for
// pull request comments.
func dropDefault(out string) (string, error) {
	name := filepath.Join(out, "gh.go")
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	wrong := regexp.MustCompile(`(?m)^\tif v, ok := raw\["start_side"\]; !ok \|\| v == nil \{\n.*\n.*\n\t\}\n`)
	return "without a default", os.WriteFile(name, wrong.ReplaceAll(data, nil), 0o644)
}

// decodeGoJSONSchema names the type of each event as go-jsonschema does:
// PullRequestOpened, PushEvent.
func decodeGoJSONSchema(out string) (string, error) {
	data, err := os.ReadFile(filepath.Join(out, "gh.go"))
	if err != nil {
		return "", err
	}
	var cases strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^type (\w+) (struct|interface)`).FindAllStringSubmatch(string(data), -1) {
		fmt.Fprintf(&cases, "\tcase %q:\n\t\tv = new(gh.%s)\n", m[1], m[1])
	}
	return `func decode(event string, data []byte) (any, error) {
	name, action, ok := strings.Cut(event, ".")
	if !ok {
		action = "event"
	}
	var goName string
	for _, word := range strings.FieldsFunc(name+"_"+action, func(r rune) bool { return r == '_' || r == '-' }) {
		goName += strings.ToUpper(word[:1]) + word[1:]
	}
	var v any
	switch goName {
` + cases.String() + `	default:
		return nil, fmt.Errorf("no type %s", goName)
	}
	return v, json.Unmarshal(data, v)
}`, nil
}

// decodeQuicktype decodes into the one type that quicktype makes of all events.
func decodeQuicktype(string) (string, error) {
	return `func decode(event string, data []byte) (any, error) { return gh.UnmarshalGh(data) }`, nil
}
