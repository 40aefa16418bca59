package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/restaqtest"
)

const story = `Two commits are pushed to main. GitHub sends the event, as a form:

  github.push makes ship.pushed: completed
  github.push makes ship.journal: completed

Execution: ID | Status: completed | Attempts: 1
└─ Attempt 1
   ├─ link-issues[81e4f7d20b9c56a3471fe8d05c2a6b93f4d7081e]: completed
   ├─ link-issues[c27b90e41f6a835de0924c71b5d83fa60e19b74d]: completed
   ├─ build-image: completed
   └─ deploy[staging]: completed

Their pull request is closed. GitHub sends the event, as JSON:

  github.pull_request.closed makes ship.pullRequestClosed: completed
  github.pull_request.closed makes ship.journal: completed

Execution: ID | Status: completed | Attempts: 1
└─ Attempt 1
   ├─ remove-preview: completed
   └─ thank-author: completed

The release desk, a sender of our own, says that a release is approved. One of
its regions is frozen, and no automatic retry can change that:

  desk.release.approved makes ship.releaseApproved: failed
  desk.release.approved makes ship.journal: completed

Execution: ID | Status: failed | Attempts: 1
└─ Attempt 1
   ├─ deploy[eu-west]: completed
   └─ deploy[us-east]: failed (deploy c27b90e: region is frozen)

The execution is dead: it waits for a person, who thaws the region and types
"restaq retry". The first region is not deployed to again:

Execution: ID | Status: completed | Attempts: 2
├─ Attempt 1
│  ├─ deploy[eu-west]: completed
│  └─ deploy[us-east]: failed (deploy c27b90e: region is frozen)
└─ Attempt 2
   ├─ deploy[eu-west]: (skipped - cached)
   ├─ deploy[us-east]: completed
   └─ announce: completed

deployments: eu-west 1, us-east 1

A release that the desk did not sign is refused:
  401 {"error":"ERROR"}
`

func TestDemo(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	}
	for name, url := range stores {
		t.Run(name, func(t *testing.T) { // one after the other: they share the fleet
			fleet = NewFleet()
			var out strings.Builder
			if err := runDemo(t.Context(), &out, url(t)); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			got := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`).ReplaceAllString(out.String(), "ID")
			got = regexp.MustCompile(`"error":"[^"]*signature[^"]*"`).ReplaceAllString(got, `"error":"ERROR"`)
			if got != story {
				t.Errorf("the demo told:\n%s\nwant:\n%s", got, story)
			}
		})
	}
}

func TestFrozenRegionIsNotTriedAgain(t *testing.T) {
	fleet = NewFleet()
	fleet.Freeze("eu-west", true)
	image := Image{Repository: "acme/shop", Commit: "c27b90e41f6a835de0924c71b5d83fa60e19b74d"}
	ctx := restaqtest.Context(t)
	if err := deployStep(ctx, image, "eu-west"); !restaq.IsPermanent(err) || !errors.Is(err, errFrozen) {
		t.Errorf("deploy to a frozen region: %v; want a permanent error", err)
	}
	if err := deployStep(ctx, image, "us-east"); err != nil {
		t.Errorf("deploy to another region: %v", err)
	}
}
