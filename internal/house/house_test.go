package house

import (
	"slices"
	"testing"
)

func TestViolations(t *testing.T) {
	rules := []Rule{
		{Tree: "."},
		{Tree: "./tool", May: []string{"./parts/..."}, TestsMay: []string{"example.org/script"}},
		{Tree: "./engine/...", May: []string{"./engine/..."}, TestsMay: []string{"./fixture"}},
		{Tree: "./engine/store", May: []string{"./engine", "example.org/driver/v5/..."}},
		{Tree: "./parts/..."},
	}
	for _, test := range []struct {
		name string
		p    Package
		want []string
	}{
		{"standard library", Package{Path: ".", Imports: []string{"fmt", "go/ast"}}, nil},
		{"cgo", Package{Path: ".", Imports: []string{"C"}}, []string{
			`package .: imports C: row "." allows the standard library only`}},
		{"own packages", Package{Path: "./tool", Imports: []string{"./parts", "./parts/a/b"}}, nil},
		{"the other half", Package{Path: "./tool", Imports: []string{"./engine"}}, []string{
			`package ./tool: imports ./engine: row "./tool" allows the standard library, ./parts/...`}},
		{"a name that only begins alike", Package{Path: "./tool", Imports: []string{"./partsman"}}, []string{
			`package ./tool: imports ./partsman: row "./tool" allows the standard library, ./parts/...`}},
		{"the longest tree counts", Package{Path: "./engine/store", Imports: []string{"./engine/web"}}, []string{
			`package ./engine/store: imports ./engine/web: row "./engine/store" allows the standard library, ./engine, example.org/driver/v5/...`}},
		{"a module and what is below it", Package{Path: "./engine/store", Imports: []string{
			"./engine", "example.org/driver/v5", "example.org/driver/v5/pool", "example.org/driver/v6"}}, []string{
			`package ./engine/store: imports example.org/driver/v6: row "./engine/store" allows the standard library, ./engine, example.org/driver/v5/...`}},
		{"tests may more", Package{Path: "./tool", TestImports: []string{"./tool", "./parts/a", "example.org/script", "example.org/files"}}, nil},
		{"only tests may more", Package{Path: "./tool", Imports: []string{"example.org/script", "example.org/files"}}, []string{
			`package ./tool: imports example.org/script: row "./tool" allows the standard library, ./parts/...`,
			`package ./tool: imports example.org/files: row "./tool" allows the standard library, ./parts/...`}},
		{"tests may not all", Package{Path: "./tool", TestImports: []string{"example.org/assert"}}, []string{
			`package ./tool: its tests import example.org/assert: row "./tool" allows them the standard library, ./parts/..., example.org/script, example.org/files`}},
		{"every one is told", Package{Path: "./parts/a", Imports: []string{"./tool", "os", "example.org/x"}}, []string{
			`package ./parts/a: imports ./tool: row "./parts/..." allows the standard library only`,
			`package ./parts/a: imports example.org/x: row "./parts/..." allows the standard library only`}},
		{"a package that no row knows", Package{Path: "./new", Imports: []string{"fmt"}}, []string{
			`package ./new: not in the table of imports: add a row {Tree: "./new", May: …} that says what it may import and why`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Violations(rules, []string{"example.org/files"}, []Package{test.p}); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
