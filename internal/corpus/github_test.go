package corpus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/restaq/restaq/internal/events"
	"github.com/restaq/restaq/internal/fetch"
	"github.com/restaq/restaq/schemas/github"
)

// githubSamples returns GitHub's own examples.
func githubSamples(t *testing.T) []sample {
	t.Helper()
	var list []struct {
		Name     string
		Examples []json.RawMessage
	}
	readJSON(t, fetch.GitHubExamples, "api.github.com/index.json", &list)
	var samples []sample
	for _, event := range list {
		for i, payload := range event.Examples {
			var body struct{ Action string }
			if err := json.Unmarshal(payload, &body); err != nil {
				t.Fatal(err)
			}
			s := sample{name: event.Name + " " + strconv.Itoa(i), eventType: "github." + event.Name, payload: payload}
			// Whoever sends a dispatch chooses its action.
			if body.Action != "" && event.Name != "repository_dispatch" {
				s.eventType += "." + body.Action
			}
			samples = append(samples, s)
		}
	}
	return samples
}

// readJSON reads a file of a fetched package.
func readJSON(t *testing.T, p fetch.Package, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(get(t, p), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// get fetches a package. Without it there is no test: that is a failure.
func get(t *testing.T, p fetch.Package) string {
	t.Helper()
	dir, err := p.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGitHubExamples(t *testing.T) {
	samples := githubSamples(t)
	got := judge(t, shipped(t, "github"), samples, here(samples, github.Decode, github.Validate))
	if want := (tally{samples: 329, valid: 277, unknown: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// GitHub's OpenAPI file describes the same events in other words.
func TestGitHubExamplesByItsOpenAPI(t *testing.T) {
	spec := filepath.Join(get(t, fetch.GitHubOpenAPI), "generated", "api.github.com.json")
	o := events.Options{Provider: "github", In: []string{spec}}
	samples := githubSamples(t)
	got := judge(t, imported(t, o), samples, elsewhere(t, o, samples))
	if want := (tally{samples: 329, valid: 215, unknown: 107}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
