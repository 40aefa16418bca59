// Refresh reads the published specifications of providers again and writes them,
// in normal form and without their prose, to the folders below schemas. Run it by
// make schemas, which generates the event packages, too. The versions that are
// read are pinned in package fetch: change one there to take a newer one in.
//
//	go run ./internal/refresh [provider...]
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/fetch"
)

// specification is where a provider's events are described.
type specification struct {
	provider string
	source   fetch.Package
	in       string // file or folder in the package
}

var specifications = []specification{
	{"github", fetch.GitHubSchemas, "schema.json"},
	{"shopify", fetch.Shopify, "schemas/2026-07"},
	{"stripe", fetch.StripeMock, "embedded/openapi/spec3.beta.sdk.json"},
}

func main() {
	for _, spec := range specifications {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], spec.provider) {
			continue
		}
		if err := spec.refresh(context.Background(), filepath.Join("schemas", spec.provider)); err != nil {
			fmt.Fprintf(os.Stderr, "refresh: %s: %v\n", spec.provider, err)
			os.Exit(1)
		}
	}
}

// refresh makes a folder hold what the specification says, and no other schemas.
func (s specification) refresh(ctx context.Context, dir string) error {
	from, err := s.source.Get(ctx)
	if err != nil {
		return err
	}
	files, problems := events.Import(events.Options{Provider: s.provider, In: []string{filepath.Join(from, s.in)}})
	if problems.Failed() {
		var texts []error
		for _, p := range problems {
			texts = append(texts, errors.New(p.String()))
		}
		return errors.Join(texts...)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Path)
		left = slices.DeleteFunc(left, func(l string) bool { return l == name })
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, f.Content) {
			continue
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(name, f.Content, 0o644); err != nil {
			return err
		}
	}
	for _, name := range left {
		if strings.HasPrefix(filepath.Base(name), "restaq.") {
			continue
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d files from %s@%s\n", s.provider, len(files), s.source.Name, s.source.Version)
	return nil
}
