package lock

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const text = `{
  "//": "` + explanation + `",
  "accepted": [
    "step charge: key $1.ID"
  ],
  "handlers": {
    "shop.Opened": {
      "events": [
        "shop.opened"
      ],
      "options": "attempts=3",
      "order": "$1.ID",
      "steps": [
        "charge",
        "send"
      ],
      "func": "Opened"
    }
  },
  "steps": {
    "charge": {
      "inputs": "00000000000000aa",
      "key": "$1.Name + \"<&>\"",
      "output": "00000000000000bb",
      "schema": {
        "properties": {
          "at": {"type": "string", "format": "date-time"},
          "pages": {"items": {"$ref": "#/$defs/Page[int]"}, "type": "array"}
        },
        "type": "object",
        "required": ["at"]
      },
      "earlier": {
        "00000000000000cc": {
          "read": "yes",
          "schema": true
        },
        "none": {
          "read": "no"
        }
      },
      "func": "Shop.charge"
    },
    "send": {
      "inputs": "00000000000000dd",
      "was": [
        "mail"
      ],
      "output": "none",
      "func": "Shop.send"
    }
  }
}
`

func sample() File {
	return File{
		Accepted: []string{"step charge: key $1.ID"},
		Handlers: map[string]Handler{
			"shop.Opened": {Events: []string{"shop.opened"}, Steps: []string{"charge", "send"}, Options: "attempts=3", Order: "$1.ID", Func: "Opened"},
		},
		Steps: map[string]Step{
			"send": {Inputs: "00000000000000dd", Was: []string{"mail"}, Output: None, Func: "Shop.send"},
			"charge": {
				Inputs: "00000000000000aa", Key: `$1.Name + "<&>"`, Output: "00000000000000bb", Func: "Shop.charge",
				Earlier: map[string]Earlier{"00000000000000cc": {Read: Yes, Schema: json.RawMessage("true")}, None: {Read: No}},
				Schema: json.RawMessage(`{"properties": {"at": {"type": "string","format": "date-time"},
					"pages": {"items":{"$ref":"#/$defs/Page[int]"},"type":"array"}},"type":"object","required":["at"]}`),
			},
		},
	}
}

func TestAFileIsSortedAndBeginsWithAnExplanation(t *testing.T) {
	got, err := sample().Encode()
	if err != nil || string(got) != text {
		t.Fatalf("Encode = %v\n%s\nwant\n%s", err, got, text)
	}
}

func TestParseReadsWhatEncodeWrote(t *testing.T) {
	got, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.Encode()
	if err != nil || string(again) != text {
		t.Fatalf("written again: %v\n%s", err, again)
	}
	want := sample()
	for _, f := range []File{got, want} { // white space in a schema means nothing
		s := f.Steps["charge"]
		s.Schema = nil
		f.Steps["charge"] = s
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Parse = %+v\nwant %+v", got, want)
	}
}

func TestBrokenFilesAreErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"null x", "cannot be read"},
		{"[]", "cannot be read"},
		{text[:len(text)/2], "cannot be read"},
		{text + "}", "text after its end"},
		{"<<<<<<< HEAD\n" + text + "=======\n" + text + ">>>>>>> other\n", "is in a merge conflict"},
		{strings.Replace(text, `"output": "none",`, `"output": "none", "output": "x",`, 1), "has /steps/send/output twice"},
		{strings.Replace(text, `    "send": {`, `    "charge": {"inputs": ""}, "send": {`, 1), "has /steps/charge twice"},
	} {
		if f, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) || !reflect.DeepEqual(f, File{}) {
			t.Errorf("Parse(%.20q) = %+v, %v, want an error that says %q", c.text, f, err, c.want)
		}
	}
	if f, err := Parse([]byte(" \n")); err != nil || !reflect.DeepEqual(f, File{}) {
		t.Errorf("an empty file: %+v, %v", f, err)
	}
}

// mergeFile merges two changes of a file, as git does.
func mergeFile(t *testing.T, base, ours, theirs File) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"merge-file", "-p"}
	for i, f := range []File{ours, base, theirs} {
		data, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		t.Fatalf("git merge-file: %v\n%s", err, out)
	}
	return string(out)
}

// Whatever two branches do to different steps and handlers, the files merge, and
// the merged file is that of both changes.
func TestBranchesThatChangeDifferentStepsMergeWithoutAConflict(t *testing.T) {
	schema := func(n string) json.RawMessage { return json.RawMessage(`{"type":"integer","format":"` + n + `"}`) }
	step := func(n string) Step {
		return Step{Inputs: "in" + n, Output: "out" + n, Schema: schema(n), Func: "f"}
	}
	none := Step{Inputs: "in", Output: None, Func: "f"}
	changes := map[string]func(f File, step string){
		"all of it": func(f File, name string) {
			f.Steps[name] = Step{Inputs: "x", Key: "$1", Options: "pure", Was: []string{"old"}, Output: "y", Schema: schema("z"), Func: "f",
				Earlier: map[string]Earlier{"out": {Read: Yes, Schema: schema("1")}}}
		},
		"its inputs": func(f File, name string) { s := f.Steps[name]; s.Inputs = "other"; f.Steps[name] = s },
		"its output": func(f File, name string) {
			s := f.Steps[name]
			s.Output, s.Schema = "other", schema("other")
			f.Steps[name] = s
		},
		"gone": func(f File, name string) { delete(f.Steps, name) },
		"a new one behind it": func(f File, name string) {
			f.Steps[name+"x"] = none
		},
		"its handler": func(f File, name string) {
			f.Handlers["h."+name] = Handler{Events: []string{"other"}, Steps: []string{name, "more"}, Func: "h"}
		},
	}
	fresh := func() File {
		f := File{Handlers: map[string]Handler{}, Steps: map[string]Step{}}
		for _, name := range []string{"a", "b", "c"} {
			f.Steps[name] = step("1")
			f.Handlers["h."+name] = Handler{Events: []string{"e"}, Steps: []string{name}, Func: "h"}
		}
		f.Steps["b"], f.Steps["c"] = none, none
		return f
	}
	names := []string{"a", "b", "c"}
	places := map[string]bool{"gone": true, "a new one behind it": true}
	for what1, change1 := range changes {
		for what2, change2 := range changes {
			for i, one := range names {
				for j, other := range names {
					if i == j || what1 == "gone" && places[what2] || what2 == "gone" && places[what1] {
						continue // neighbours that go, or come and go, at one place
					}
					ours, theirs, both := fresh(), fresh(), fresh()
					change1(ours, one)
					change2(theirs, other)
					change1(both, one)
					change2(both, other)
					want, err := both.Encode()
					if err != nil {
						t.Fatal(err)
					}
					if got := mergeFile(t, fresh(), ours, theirs); got != string(want) {
						t.Errorf("%s of %s and %s of %s: merged\n%s\nwant\n%s", what1, one, what2, other, got, want)
					}
				}
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte(`{"steps":{"a":{"schema":{"$defs":{"x":true},"type":7}}}}`))
	f.Add([]byte(`{"steps":{"a":{"schema":[{}, {"properties":{}}],"earlier":{"":{}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err != nil {
			return
		}
		written, err := file.Encode()
		if err != nil {
			t.Fatalf("a file that was read cannot be written: %v", err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("a file that was written cannot be read: %v\n%s", err, written)
		}
		if twice, err := again.Encode(); err != nil || string(twice) != string(written) {
			t.Fatalf("written\n%s\nthen\n%s\n%v", written, twice, err)
		}
	})
}

// gitIn runs git in a folder, as somebody.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

func TestCommittedFilesAreThoseOfHead(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	dirs := []string{filepath.Join(root, "a b"), filepath.Join(root, "fresh blob 5"), filepath.Join(root, "broken"), outside}
	write := func(dir, text string) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, Name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, root, "init", "-q")
	files, problems := Committed(t.Context(), dirs)
	if len(files) != 3 || len(problems) != 0 || !reflect.DeepEqual(files[dirs[0]], File{}) {
		t.Errorf("before the first commit: %v, %v", files, problems)
	}
	write(dirs[0], strings.ReplaceAll(text, "\n", "\r\n"))
	write(dirs[2], text[:100])
	gitIn(t, root, "add", ".")
	gitIn(t, root, "commit", "-qm", "one")
	for _, dir := range dirs {
		write(dir, "{}")
	}
	files, problems = Committed(t.Context(), dirs)
	if s := files[dirs[0]].Steps["charge"]; s.Output != "00000000000000bb" {
		t.Errorf("committed: %+v", s)
	}
	if f, ok := files[dirs[1]]; !ok || len(f.Steps) > 0 {
		t.Errorf("not committed: %v, %t", f, ok)
	}
	if _, ok := files[dirs[2]]; ok || len(problems) != 1 || !strings.Contains(problems[dirs[2]].Error(), "the file that is committed cannot be read") {
		t.Errorf("broken: %v", problems)
	}
	if _, ok := files[outside]; ok {
		t.Error("there is a file where there is no repository")
	}

	write(dirs[0], text)
	gitIn(t, root, "commit", "-qam", "two")
	at, err := At(t.Context(), "HEAD~1", dirs[:2])
	if err != nil || at[dirs[0]].Steps["charge"].Output != "00000000000000bb" || len(at) != 2 {
		t.Errorf("at HEAD~1: %v, %v", at, err)
	}
	for _, c := range []struct {
		revision string
		dirs     []string
		want     string
	}{
		{"HEAD~1", dirs, "is in no git repository"},
		{"HEAD", dirs[2:3], ""},
		{"HEAD~1", dirs[2:3], "at HEAD~1 cannot be read"},
		{"nowhere", dirs[:1], "git has no commit nowhere: fetch it first"},
		{"--help", dirs[:1], "git has no commit --help"},
	} {
		if _, err := At(t.Context(), c.revision, c.dirs); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("at %s: %v, want an error that says %q", c.revision, err, c.want)
		}
	}
}

// Where git is not there or fails, it is said, and the file on disk has to do.
func TestAGitThatFailsIsAProblemAndNoFile(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: nowhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if files, problems := Committed(t.Context(), []string{root}); len(files) != 0 || len(problems) != 1 {
		t.Errorf("a broken repository: %v, %v", files, problems)
	}
	gitDir := t.TempDir()
	gitIn(t, gitDir, "init", "-q")
	t.Setenv("PATH", t.TempDir())
	if files, problems := Committed(t.Context(), []string{gitDir}); len(files) != 0 || len(problems) != 1 {
		t.Errorf("without git: %v, %v", files, problems)
	}
}
