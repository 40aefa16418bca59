package events_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/restaq/restaq/internal/events"
)

var update = flag.Bool("update", false, "write the shipped event packages")

// The packages under schemas are what their schemas give.
func TestShippedPackagesAreCurrent(t *testing.T) {
	for _, provider := range []string{"github", "shopify", "slack", "standardwebhooks", "stripe"} {
		t.Run(provider, func(t *testing.T) {
			t.Chdir("../..")
			dir := filepath.Join("schemas", provider)
			files, problems := events.Run(events.Options{Provider: provider, In: []string{dir}, Earlier: os.DirFS(dir)})
			for _, p := range problems {
				if p.Warning {
					t.Log(p)
				} else {
					t.Error(p)
				}
			}
			stale, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
			if err != nil {
				t.Fatal(err)
			}
			left := map[string]bool{}
			for _, name := range stale {
				left[name] = true
			}
			for _, f := range files {
				name := filepath.Join(dir, f.Path)
				delete(left, name)
				got, err := os.ReadFile(name)
				if bytes.Equal(got, f.Content) {
					continue
				}
				if *update {
					err = os.WriteFile(name, f.Content, 0o644)
				} else if err == nil {
					t.Errorf("%s is stale: run make generate", name)
				}
				if err != nil {
					t.Error(err)
				}
			}
			for name := range left {
				if *update {
					if err := os.Remove(name); err != nil {
						t.Error(err)
					}
					continue
				}
				t.Errorf("%s comes from no schema", name)
			}
		})
	}
}
