package checks_test

import (
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/restaq/restaq/checks"
)

func TestChecksAreValidAndSayWhereTheyAreExplained(t *testing.T) {
	all := checks.All()
	if err := analysis.Validate(all); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range all {
		if want := "https://github.com/restaq/restaq/blob/main/docs/checks/" + a.Name + ".md"; a.URL != want {
			t.Errorf("%s: URL %q, want %q", a.Name, a.URL, want)
		}
		if seen[a.Name] {
			t.Errorf("two checks are named %s", a.Name)
		}
		seen[a.Name] = true
	}
}
