package house

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testSupport is what any test may import: a PostgreSQL to use, and scripts and
// archives of files to read.
var testSupport = []string{"./internal/pgtest", "github.com/rogpeppe/go-internal/..."}

// table says what every package may import besides the standard library. Two
// halves, the generator and the runtime, know nothing of each other: generated
// text is their only link. Arrows point inward, and each third-party library is
// seen by one tree.
//
// A new package gets a row. A new arrow is a decision: is this the package that
// ought to know that one?
var table = []Rule{
	// The module's root holds documentation and go:generate lines.
	{Tree: "."},

	// The generator: a straight line from packages to files.
	{Tree: "./cmd/restaqgen", May: []string{
		"./checks", "./internal/analyze", "./internal/events", "./internal/generate", "./internal/graph", "./internal/load",
		"./internal/marker", "./internal/output",
		"./internal/problem", "./internal/schema", "./schemas",
	}},
	{Tree: "./internal/generate", May: []string{
		"./internal/check", "./internal/evolve", "./internal/graph", "./internal/load", "./internal/lock", "./internal/model", "./internal/output",
		"./internal/problem", "./internal/shape", "./templates",
	}, TestsMay: []string{"./internal/events"}},
	{Tree: "./internal/problem"},
	{Tree: "./internal/naming"},
	{Tree: "./internal/model"},
	{Tree: "./internal/marker", May: []string{"./internal/naming"}},
	{Tree: "./internal/load", May: []string{"./internal/model", "./internal/problem", "golang.org/x/tools/go/packages", "golang.org/x/tools/go/gcexportdata"}},
	{Tree: "./internal/analyze", May: []string{"./internal/load", "golang.org/x/tools/go/analysis"}},
	{Tree: "./internal/calls"},
	{Tree: "./internal/check", May: []string{
		"./internal/calls", "./internal/eventtype", "./internal/jsonform", "./internal/marker", "./internal/model", "./internal/naming", "./internal/problem",
	}, TestsMay: []string{"./internal/load"}},
	{Tree: "./internal/graph", May: []string{"./internal/marker", "./internal/model", "./internal/naming"}, TestsMay: []string{"./internal/check", "./internal/load", "./runtime/graph"}},
	{Tree: "./internal/eventtype", May: []string{"./internal/marker", "./internal/model"}},
	{Tree: "./internal/jsonform", May: []string{"./internal/shape"}},
	{Tree: "./internal/shape", May: []string{"github.com/invopop/jsonschema"}},
	{Tree: "./internal/lock"},
	{Tree: "./internal/evolve", May: []string{"./internal/lock"}, TestsMay: []string{"./internal/shape"}},
	{Tree: "./internal/schema", May: []string{"github.com/invopop/jsonschema", "go.yaml.in/yaml/v4"}},
	{Tree: "./internal/events", May: []string{"./internal/naming", "./internal/schema", "./templates"}, TestsMay: []string{"./internal/fetch", "github.com/santhosh-tekuri/jsonschema/v6"}},
	{Tree: "./internal/coding", May: []string{"./internal/shape"}},
	{Tree: "./templates", May: []string{"./internal/coding", "./internal/model", "github.com/dave/jennifer/jen"}},
	{Tree: "./internal/output", May: []string{"github.com/rogpeppe/go-internal/diff"}},

	{Tree: "./cmd/restaqvet", May: []string{"./checks", "golang.org/x/tools/go/analysis/unitchecker"}, TestsMay: []string{"./internal/checktest"}},

	// The checks: what the generator knows of markers, by the rules of
	// go/analysis.
	{Tree: "./checks/...", May: []string{
		"./checks/...", "./internal/calls", "./internal/eventtype", "./internal/jsonform", "./internal/marker", "./internal/naming", "./internal/shape",
		"golang.org/x/tools/go/analysis", "golang.org/x/tools/go/cfg", "golang.org/x/tools/go/types/typeutil",
	}, TestsMay: []string{"./internal/analyze", "./internal/checktest", "./internal/generate", "./internal/load", "golang.org/x/tools/go/..."}},
	{Tree: "./internal/checktest", May: []string{
		"./internal/generate", "./internal/load", "golang.org/x/tools/go/analysis/...",
	}},

	// The runtime: rules in the engine, stores around it. Standard library
	// only, stores aside.
	{Tree: "./runtime", May: []string{"./runtime/codec"}, TestsMay: []string{"./runtime/...", "github.com/jackc/pgx/v5"}},
	{Tree: "./runtime/codec"},
	{Tree: "./runtime/codec/codectest", May: []string{"./runtime/codec"}},
	{Tree: "./runtime/codec/codectest/corpus/...", May: []string{"./runtime/..."}}, // as users write programs
	{Tree: "./runtime/payload", May: []string{"./runtime/codec"}},
	{Tree: "./runtime/graph"},
	{Tree: "./runtime/redact"},
	{Tree: "./runtime/dashboard", May: []string{"./runtime", "./runtime/graph", "./runtime/redact"}, TestsMay: []string{
		"./runtime/memory", "./runtime/sqlite", "./internal/chromium", "github.com/chromedp/...",
	}},
	{Tree: "./runtime/validate"},
	{Tree: "./runtime/memory", May: []string{"./runtime"}, TestsMay: []string{"./runtime/storetest"}},
	{Tree: "./runtime/sqlite", May: []string{"./runtime", "modernc.org/sqlite/...", "modernc.org/libc"}, TestsMay: []string{"./runtime/storetest"}},
	{Tree: "./runtime/postgres", May: []string{"./runtime", "github.com/jackc/pgx/v5/..."}, TestsMay: []string{"./runtime/storetest"}},
	{Tree: "./runtime/storetest", May: []string{"./runtime"}},
	{Tree: "./runtime/restaqtest", May: []string{"./runtime"}, TestsMay: []string{"./runtime/codec", "./runtime/memory"}},
	{Tree: "./runtime/zstd", May: []string{"github.com/klauspost/compress/zstd"}},
	{Tree: "./runtime/otel", May: []string{"./runtime", "go.opentelemetry.io/otel/..."}, TestsMay: []string{"./runtime/sqlite", "./runtime/webhook"}},
	{Tree: "./runtime/webhook", May: []string{"./runtime"}, TestsMay: []string{"./runtime/memory"}},
	{Tree: "./cmd/restaq", May: []string{
		"./runtime", "./runtime/dashboard", "./runtime/postgres", "./runtime/redact", "./runtime/sqlite", "./runtime/zstd", "./schemas/example",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term",
	}, TestsMay: []string{"./runtime/..."}},

	// Generated event packages, and programs as users write them.
	{Tree: "./schemas"}, // the schemas themselves, for the generator
	{Tree: "./schemas/example", May: []string{"./schemas"}, TestsMay: []string{"./schemas/...", "github.com/santhosh-tekuri/jsonschema/v6"}},
	{Tree: "./schemas/...", May: []string{"./runtime/payload", "./runtime/validate"}},
	{Tree: "./examples/...", May: []string{"./runtime/...", "./schemas/..."}},
	{Tree: "./examples/metrics", May: []string{
		"./runtime/...", "go.opentelemetry.io/otel/...", "github.com/prometheus/client_golang/...",
	}, TestsMay: []string{"go.yaml.in/yaml/v4"}},

	// Test support, of neither half.
	{Tree: "./internal/pgtest/...", May: []string{"./internal/pgtest", "github.com/jackc/pgx/v5/..."}},
	{Tree: "./internal/chaos", TestsMay: []string{"./runtime/...", "github.com/jackc/pgx/v5/..."}}, // tests only
	{Tree: "./internal/chromium"},
	{Tree: "./internal/leasemodel"},
	{Tree: "./internal/corpus", TestsMay: []string{"./internal/events", "./internal/fetch", "./internal/schema", "./schemas/..."}}, // tests only
	{Tree: "./internal/fetch"},
	{Tree: "./internal/refresh", May: []string{"./internal/events", "./internal/fetch"}},
	{Tree: "./internal/house"},
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	packages := listPackages(t)
	for _, message := range Violations(table, testSupport, packages) {
		t.Error(message)
	}
}

// TestTableKeepsTheHalvesApart holds the table to the one rule that no row may
// bend.
func TestTableKeepsTheHalvesApart(t *testing.T) {
	generator := []string{"./cmd/restaqgen", "./cmd/restaqvet", "./internal/...", "./templates/...", "./checks/..."}
	runtime := []string{"./cmd/restaq", "./runtime/..."}
	within := func(half []string, path string) bool {
		return slices.ContainsFunc(half, func(tree string) bool { return match(tree, path) })
	}
	for _, rule := range table {
		tree := strings.TrimSuffix(rule.Tree, "/...")
		for _, pattern := range rule.May {
			path := strings.TrimSuffix(pattern, "/...")
			if within(generator, tree) && within(runtime, path) || within(runtime, tree) && within(generator, path) {
				t.Errorf("row %s: allows %s of the other half", rule.Tree, pattern)
			}
		}
	}
}

func TestTableHasOneRowForATree(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range table {
		if seen[rule.Tree] {
			t.Errorf("two rows for %s", rule.Tree)
		}
		seen[rule.Tree] = true
	}
}

// listPackages returns the packages of this module.
func listPackages(t *testing.T) []Package {
	t.Helper()
	openFolders(t, "../..")
	// -e, for a package that does not compile is another test's business.
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e",
		"-json=ImportPath,Module,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = "../.."
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.String())
	}
	var packages []Package
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath                         string
			Module                             struct{ Path string }
			Imports, TestImports, XTestImports []string
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		own := func(paths []string) []string { return ownPaths(p.Module.Path, paths) }
		if match("./tmp/...", own([]string{p.ImportPath})[0]) {
			continue // git ignores it: a place to try things
		}
		packages = append(packages, Package{
			Path:        own([]string{p.ImportPath})[0],
			Imports:     own(p.Imports),
			TestImports: own(slices.Concat(p.TestImports, p.XTestImports)),
		})
	}
	if len(packages) == 0 {
		t.Fatal("go list: no packages")
	}
	return packages
}

// openFolders opens every folder of the tree at root. That tells go test what
// the result depends on: it does not see what the commands read that a test
// runs, and would show a cached result though a file has changed.
func openFolders(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since its folder was read
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ownPaths writes the paths of module's packages as the table does.
func ownPaths(module string, paths []string) []string {
	own := make([]string, len(paths))
	for i, path := range paths {
		if path == module {
			path = "."
		} else if rest, ok := strings.CutPrefix(path, module+"/"); ok {
			path = "./" + rest
		}
		own[i] = path
	}
	return own
}
