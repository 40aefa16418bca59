package events

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/schema"
)

// extensions are those of the files in a folder that are read.
var extensions = []string{".json", ".yaml", ".yml"}

// read returns the schema files, each once, sorted by path.
func (o Options) read(problems *schema.Problems) []schema.File {
	if len(o.In) == 0 {
		return o.readShipped(problems)
	}
	names := map[string]string{} // by path
	for _, in := range o.In {
		info, err := os.Stat(in)
		if err == nil && !info.IsDir() {
			names[filepath.Clean(in)] = filepath.Base(in)
			continue
		}
		var found []string
		if err == nil {
			found, err = schemaFiles(os.DirFS(in))
		}
		switch {
		case err != nil:
			problems.Errorf(schema.Position{File: in}, "read schemas: %v", err)
		case len(found) == 0:
			problems.Errorf(schema.Position{File: in}, "the folder holds no schema: no *.json, *.yaml or *.yml file")
		}
		for _, name := range found {
			if p := filepath.Join(in, name); names[p] == "" {
				names[p] = name
			}
		}
	}
	var files []schema.File
	for p, name := range names {
		data, err := os.ReadFile(p)
		if err != nil {
			problems.Errorf(schema.Position{File: p}, "read schema: %v", err)
			continue
		}
		files = append(files, schema.File{Path: filepath.ToSlash(p), Name: name, Data: data})
	}
	slices.SortFunc(files, func(a, b schema.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// readShipped returns the schemas of the provider that the tool ships.
func (o Options) readShipped(problems *schema.Problems) []schema.File {
	at := schema.Position{File: "restaqgen"}
	var known []string
	if o.Shipped != nil {
		entries, err := fs.ReadDir(o.Shipped, ".")
		if err != nil {
			problems.Errorf(at, "read shipped schemas: %v", err)
		}
		for _, e := range entries {
			if e.IsDir() {
				known = append(known, e.Name())
			}
		}
	}
	if !slices.Contains(known, o.Provider) {
		problems.Errorf(at, "no schema file or folder is given, and there are none of provider %q here, but of: %s", o.Provider, strings.Join(known, ", "))
		return nil
	}
	folder, err := fs.Sub(o.Shipped, o.Provider)
	if err != nil {
		problems.Errorf(at, "read shipped schemas: %v", err)
		return nil
	}
	found, err := schemaFiles(folder)
	if err != nil {
		problems.Errorf(at, "read shipped schemas: %v", err)
	}
	var files []schema.File
	for _, name := range found {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			problems.Errorf(at, "read shipped schema: %v", err)
		}
		files = append(files, schema.File{Path: path.Join("schemas", o.Provider, name), Name: name, Data: data})
	}
	return files
}

// schemaFiles returns the schema files below a folder, with slashes.
func schemaFiles(dir fs.FS) ([]string, error) {
	var found []string
	err := fs.WalkDir(dir, ".", func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && p != "." && (name == "testdata" || name[0] == '.' || name[0] == '_'):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, path.Ext(name)) && name[0] != '.' && name[0] != '_' && !strings.HasPrefix(name, "restaq."):
			found = append(found, p)
		}
		return nil
	})
	return found, err
}
