package github_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/restaq/restaq/schemas/github"
)

func decode(t *testing.T, name string) any {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	event, err := github.Decode("github."+strings.TrimSuffix(filepath.Base(name), ".json"), data)
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// The payloads leave out much that the schema requires. What they hold comes
// back.
func TestNothingIsLost(t *testing.T) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		t.Fatal("no payloads", err)
	}
	for _, name := range names {
		in, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(decode(t, name))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, value(t, in), value(t, out))
	}
}

func value(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// compare reports what in holds and out does not.
func compare(t *testing.T, at string, in, out any) {
	t.Helper()
	switch in := in.(type) {
	case map[string]any:
		got, _ := out.(map[string]any)
		for name, v := range in {
			compare(t, at+"."+name, v, got[name])
		}
	case []any:
		got, _ := out.([]any)
		if len(got) != len(in) {
			t.Errorf("%s: %v became %v", at, in, out)
			return
		}
		for i := range in {
			compare(t, at+"[]", in[i], got[i])
		}
	default:
		if !reflect.DeepEqual(in, out) {
			t.Errorf("%s: %v became %v", at, in, out)
		}
	}
}

func TestAPullRequestReadsWell(t *testing.T) {
	event, ok := decode(t, "testdata/pull_request.closed.json").(github.PullRequestClosed)
	if !ok || event.PullRequest.Merged == nil || !*event.PullRequest.Merged || event.PullRequest.MergedBy.Login != "jonas" || event.PullRequest.State != github.PullRequestStateClosed {
		t.Errorf("%+v", event)
	}
	if at := event.PullRequest.MergedAt.Time(); at.Day() != 3 {
		t.Errorf("merged at %v", at)
	}
	var _ github.PullRequestEvent = event
}

func TestAPushReadsWell(t *testing.T) {
	event, ok := decode(t, "testdata/push.json").(github.PushEvent)
	if !ok || event.Ref != "refs/heads/main" || len(event.Commits) != 1 || event.Commits[0].Author.Name != "Mette" {
		t.Errorf("%+v", event)
	}
	// The same member is text in some events and a number in a push.
	if at := event.Repository.CreatedAt.Time(); at.Year() != 2024 {
		t.Errorf("created at %v", at)
	}
}

func TestReactionsHaveNames(t *testing.T) {
	event, ok := decode(t, "testdata/issue_comment.created.json").(github.IssueCommentCreated)
	if !ok || event.Comment.Reactions.PlusOne != 2 || event.Comment.Reactions.MinusOne != 1 || event.Issue.ID != 90071992547409931 {
		t.Errorf("%+v", event)
	}
}
