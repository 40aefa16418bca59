// Package cases has type switches over families of events.
package cases

import (
	"context"
	"fmt"

	"github.com/restaq/restaq/schemas/github"
)

type (
	Opened = github.PullRequestOpened
	event  = github.PullRequestEvent
)

//restaq:on github.pull_request.opened github.pull_request.closed
func some(ctx context.Context, event github.PullRequestEvent) error {
	switch e := event.(type) {
	case Opened:
		fmt.Println(e.Number)
	case *github.PullRequestClosed: // want `handler cases.some: asks for \*github.PullRequestClosed, and events come as values \(wrongevent\)\n\thint: ask for github.PullRequestClosed`
		fmt.Println(e.Number)
	case github.PullRequestLabeled, *github.PullRequestLocked: // want `asks for github.PullRequestLabeled, and is not subscribed to github.pull_request.labeled` `asks for github.PullRequestLocked, and is not subscribed to github.pull_request.locked`
	case fmt.Stringer:
	case nil:
	default:
	}
	if _, ok := event.(*github.PullRequestOpened); ok { // want `asks for \*github.PullRequestOpened, and events come as values`
		return nil
	}
	if _, ok := event.(github.PullRequestEdited); ok { // want `is not subscribed to github.pull_request.edited`
		return nil
	}
	return nil
}

//restaq:on github.pull_request.*
func all(ctx context.Context, e event) error {
	func() {
		switch e.(type) {
		case github.PullRequestLabeled, github.PullRequestOpened:
		case (*github.PullRequestClosed): // want `asks for \*github.PullRequestClosed`
		}
	}()
	var other any = e
	switch other.(type) { // what a variable holds is not known
	case *github.PullRequestOpened:
	}
	return nil
}
