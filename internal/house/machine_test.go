package house

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreign matches what is true on one machine only and so must not stand in a
// file: folders of the one it was written on, and hosts of package registries,
// which every machine is free to replace. Each text is split here, for this
// file is searched too.
var foreign = regexp.MustCompile(
	`(?:^|[^\w./:~-])/(?:wo` + `rk|ro` + `ot|tm` + `p)/` +
		`|proxy\.gol` + `ang\.org|sum\.gol` + `ang\.org|deb\.deb` + `ian\.org|registry\.npm` + `js\.org`)

func TestNoFileNamesTheMachineItWasWrittenOn(t *testing.T) {
	const root = "../.."
	openFolders(t, root)
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if name == ".gitignore" {
			continue // a leading slash is the repository's root there
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range foreignLines(name, content) {
			t.Error(message)
		}
	}
}

// foreignLines returns a message for each line of a file that names a machine.
func foreignLines(name string, content []byte) []string {
	var found []string
	for i, line := range bytes.Split(content, []byte("\n")) {
		if match := foreign.Find(line); match != nil {
			found = append(found, fmt.Sprintf("%s:%d: names a machine: %q", name, i+1, bytes.TrimSpace(match)))
		}
	}
	return found
}

func TestForeignLines(t *testing.T) {
	for line, want := range map[string]int{
		"cd /wo" + "rk/main":                                  1,
		`dir := "/ro` + `ot/x"`:                               1,
		"(/tm" + "p/x)":                                       1,
		"GOPROXY=https://proxy.gol" + "ang.org":               1,
		"see https://example.org/wo" + "rk/list":              0,
		"./tm" + "p/x and ../ro" + "ot/y and $HO" + "ME/tmp/": 0,
		"schemas/ro" + "ot/file.json":                         0,
		"a\n/tm" + "p/x\nb /ro" + "ot/x":                      2,
	} {
		if got := foreignLines("file", []byte(line)); len(got) != want {
			t.Errorf("%q: got %q, want %d", line, got, want)
		}
	}
}
