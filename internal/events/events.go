package events

import (
	"go/token"
	"io/fs"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/schema"
	"github.com/restaq/restaq/templates"
)

// Options say what to generate.
type Options struct {
	// Provider is the first word of every event type. Required.
	Provider string

	// In are schema files, in JSON or YAML, or folders whose *.json, *.yaml and
	// *.yml files are read, subfolders included. Hidden folders, testdata and
	// restaq.*.json are passed over. Default: the provider's schemas in Shipped.
	In []string

	// Shipped has a folder of schemas for each provider that the tool knows.
	Shipped fs.FS

	// Only are patterns of event types, in which * stands for any text and ? for
	// any character; the provider may stand before them. Event types that match
	// none are left out, and with them the types that they alone reach. Default:
	// all.
	Only []string

	// Earlier is the folder with the package as an earlier run left it: what has a
	// name there keeps it, whatever is added to the schemas. Default: nothing.
	Earlier fs.FS

	// Package is the name of the package. Default: the provider's letters and
	// digits.
	Package string
}

// File is a generated file.
type File struct {
	Path    string // relative to the output folder
	Content []byte
}

// Run reads schemas and returns the files of the event package, sorted by name.
// It writes nothing. Files are nil if the problems have Failed. The same input
// gives the same bytes.
func Run(o Options) ([]File, schema.Problems) {
	var problems schema.Problems
	pkg := o.check(&problems)
	files := o.read(&problems)
	if problems.Failed() {
		return nil, problems.Sorted()
	}
	o.Package = pkg
	return Generate(o, files)
}

// Generate is Run on files that were read already. o.In has no part in it.
func Generate(o Options, in []schema.File) ([]File, schema.Problems) {
	set, problems := schema.Load(in)
	if problems.Failed() {
		return nil, problems
	}
	built, problems := o.build(set, problems)
	if problems.Failed() {
		return nil, problems.Sorted()
	}
	files, err := emit(built)
	if err != nil {
		problems.Errorf(schema.Position{File: o.Package}, "%v", err)
		return nil, problems
	}
	return files, problems.Sorted()
}

// build builds the package, once more if names from before belong to nothing any
// longer: they are free then.
func (o Options) build(set *schema.Set, before schema.Problems) (templates.EventPackage, schema.Problems) {
	names := readEarlier(o.Earlier)
	for {
		problems := slices.Clone(before)
		b := newBuilder(o.Provider, o.Package, set, &problems)
		b.only, b.earlier = newFilter(o.Provider, o.Only), names
		built := b.build()
		if problems.Failed() || !names.prune() {
			return built, problems
		}
	}
}

// check returns the package name.
func (o Options) check(problems *schema.Problems) string {
	at := schema.Position{File: "restaqgen"}
	if !providerLegal(o.Provider) {
		problems.Errorf(at, "provider %q: it must be one word of lower-case letters, digits, - and _, and begin with a letter", o.Provider)
	}
	pkg := o.Package
	if problems.Failed() {
		return pkg
	}
	if pkg == "" {
		pkg = strings.NewReplacer("-", "", "_", "").Replace(o.Provider)
		if token.IsKeyword(pkg) {
			pkg += "events"
		}
	}
	if !token.IsIdentifier(pkg) || pkg == "_" || pkg == "main" {
		problems.Errorf(at, "package %q: it can't be the name of an imported package", pkg)
	}
	return pkg
}

func providerLegal(s string) bool {
	for i, r := range s {
		if !(r >= 'a' && r <= 'z' || i > 0 && (r >= '0' && r <= '9' || r == '-' || r == '_')) {
			return false
		}
	}
	return s != ""
}

// emit writes the files of a package.
func emit(pkg templates.EventPackage) ([]File, error) {
	names := map[string]bool{}
	for _, f := range pkg.Files {
		names[f.Name] = true
	}
	var files []File
	add := func(name string, write func(name string) ([]byte, error)) error {
		content, err := write(name)
		files = append(files, File{name, content})
		return err
	}
	free := func(name string) string {
		whole := name
		for names[whole] {
			whole = name[:len(name)-len("_gen.go")] + "_" + whole
		}
		names[whole] = true
		return whole
	}
	err := add(free("decode_gen.go"), func(name string) ([]byte, error) { return templates.EmitEventDecode(pkg, name) })
	if err != nil {
		return nil, err
	}
	err = add(free("validate_gen.go"), func(name string) ([]byte, error) { return templates.EmitEventTable(pkg, name) })
	if err != nil {
		return nil, err
	}
	for _, f := range pkg.Files {
		if err := add(f.Name, func(string) ([]byte, error) { return templates.EmitEventFile(pkg, f) }); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}
