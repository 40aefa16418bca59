package corpus

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/fetch"
	"github.com/restaq/restaq/schemas/shopify"
)

// shopifySamples returns Shopify's sample payload of every topic.
func shopifySamples(t *testing.T) []sample {
	t.Helper()
	dir := os.DirFS(filepath.Join(get(t, fetch.Shopify), "metadatas", "2026-07"))
	var samples []sample
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		var topic struct{ Response json.RawMessage }
		if err := json.Unmarshal(data, &topic); err != nil {
			return err
		}
		eventType := "shopify." + strings.ReplaceAll(strings.TrimSuffix(name, ".json"), "/", ".")
		samples = append(samples, sample{name, eventType, topic.Response})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func TestShopifySamples(t *testing.T) {
	samples := shopifySamples(t)
	got := judge(t, shipped(t, "shopify"), samples, here(samples, shopify.Decode, shopify.Validate))
	if want := (tally{samples: 221, valid: 209}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
