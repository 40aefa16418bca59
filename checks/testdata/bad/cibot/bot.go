// Package cibot builds what is pushed to GitHub, answers commands in comments, and
// keeps pull requests labelled.
package cibot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"

	"example.com/cibot/plan"
)

//go:generate go tool restaqgen

// Bot is one bot for many repositories.
type Bot struct {
	api     *Client
	farm    Farm
	metrics *Metrics
	admins  []string
}

// Release is an event of our own: the release desk sends it.
//
//restaq:event desk.release.cut
type Release struct {
	Repository string    `json:"repository"`
	Tag        string    `json:"tag"`
	Commit     string    `json:"commit"`
	CutAt      time.Time `json:"cutAt"`
}

// Pushed builds what arrives on a branch.
//
//restaq:on github.push order=event.Repository.FullName
func (b *Bot) Pushed(ctx context.Context, event github.PushEvent) error {
	begun := time.Now()
	defer func() { b.metrics.Observe("push", time.Since(begun)) }() // for the metrics alone

	branch, isBranch := strings.CutPrefix(event.Ref, "refs/heads/")
	if !isBranch || event.Deleted || skips(event.Commits) {
		return nil
	}
	return b.build(ctx, event.Repository.FullName, branch, event.After, changed(event.Commits))
}

// skips reports whether the last commit asks for no build.
func skips(commits []github.Commit) bool {
	return len(commits) > 0 && strings.Contains(commits[len(commits)-1].Message, "[skip ci]")
}

// changed returns the files that commits touch, each once, in order.
func changed(commits []github.Commit) []string {
	seen := map[string]bool{}
	var files []string
	for _, c := range commits {
		for _, file := range slices.Concat(c.Added, c.Modified, c.Removed) {
			if !seen[file] {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	slices.Sort(files)
	return files
}

// build runs all jobs of a commit and reports on it. Handlers call it.
func (b *Bot) build(ctx context.Context, repository, branch, commit string, files []string) error {
	config, err := b.readConfigStep(ctx, repository, commit)
	if err != nil {
		return err
	}
	jobs, err := config.Jobs(files)
	if errors.Is(err, plan.ErrNoTargets) {
		return b.reportStep(ctx, repository, commit, "success", "nothing to build")
	}
	if err != nil {
		return b.reportStep(ctx, repository, commit, "error", err.Error())
	}
	err = b.announceStep(ctx, repository, commit, len(jobs))
	results := make(map[string]string, len(jobs))
	for _, job := range jobs {
		result, err := b.runJobStep(ctx, repository, commit, job)
		if err != nil {
			return fmt.Errorf("job %s: %w", job.ID, err)
		}
		results[job.ID] = result.State
		restaq.Logger(ctx).Info("job done", "job", job.ID, "state", result.State, "branch", branch)
	}
	return b.reportStep(ctx, repository, commit, state(results), plan.Summary(results))
}

// state is what the results of all jobs come to. Any order of the map will do.
func state(results map[string]string) string {
	for _, result := range results {
		if result != "success" {
			return "failure"
		}
	}
	return "success"
}

// PullRequest keeps pull requests labelled and previews up.
//
//restaq:on github.pull_request.opened github.pull_request.synchronize github.pull_request.closed
func (b *Bot) PullRequest(ctx context.Context, event github.PullRequestEvent) error {
	switch e := event.(type) {
	case github.PullRequestOpened:
		if err := b.labelStep(ctx, e.Repository.FullName, e.Number, size(e.PullRequest)); err != nil {
			return err
		}
		return b.preview(ctx, e.Repository.FullName, e.Number, e.PullRequest.Head.SHA)
	case *github.PullRequestSynchronize:
		return b.preview(ctx, e.Repository.FullName, e.Number, e.After)
	case github.PullRequestReopened:
		return b.preview(ctx, e.Repository.FullName, e.Number, e.PullRequest.Head.SHA)
	case github.PullRequestClosed:
		err := b.removePreviewStep(ctx, e.Repository.FullName, e.Number)
		if errors.Is(err, errNoPreview) {
			return nil
		}
		return err
	}
	return nil
}

func size(pr github.PullRequest) string {
	switch lines := pr.Additions + pr.Deletions; {
	case lines < 20:
		return "size/S"
	case lines < 400:
		return "size/M"
	}
	return "size/L"
}

func (b *Bot) preview(ctx context.Context, repository string, number int64, commit string) error {
	url, err := restaq.Do(ctx, "deploy-preview", func(ctx context.Context) (string, error) {
		return b.farm.Preview(ctx, repository, number, commit, restaq.IdempotencyKey(ctx))
	})
	var failed *restaq.StepError
	if errors.As(err, &failed) { // a preview is a courtesy
		restaq.Logger(ctx).Warn("no preview", "error", failed)
		return nil
	}
	if err != nil {
		return err
	}
	return b.commentStep(ctx, repository, number, "Preview: "+url)
}

// Command answers commands in comments.
//
//restaq:on github.issue_comment.created
func (b *Bot) Command(ctx context.Context, event github.IssueCommentCreated) error {
	command, found := strings.CutPrefix(strings.TrimSpace(event.Comment.Body), "/bot ")
	if !found {
		return nil
	}
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	switch words[0] {
	case "retest":
		return b.retest(ctx, event)
	case "merge":
		return b.merge(ctx, event)
	}
	return b.commentStep(ctx, event.Repository.FullName, event.Issue.Number, "I do not know "+words[0])
}

func (b *Bot) retest(ctx context.Context, event github.IssueCommentCreated) error {
	head, err := b.head(ctx, event.Repository.FullName, event.Issue.Number)
	if err != nil {
		return err
	}
	return b.build(ctx, event.Repository.FullName, head.Branch, head.Commit, head.Files)
}

func (b *Bot) merge(ctx context.Context, event github.IssueCommentCreated) error {
	defer b.quietly("merge")
	if !slices.Contains(b.admins, event.Comment.User.Login) {
		return restaq.Permanent(fmt.Errorf("%s may not merge", event.Comment.User.Login))
	}
	return b.mergeHeadStep(ctx, event.Repository.FullName, event.Issue.Number)
}

// quietly keeps a panic to itself.
func (b *Bot) quietly(what string) {
	if r := recover(); r != nil {
		b.metrics.Observe("panic in "+what, 0)
	}
}

// Cut publishes a release to one region after the other.
//
//restaq:on desk.release.cut attempts=5 backoff=1m..1h
func (b *Bot) Cut(ctx context.Context, release Release) error {
	deadline := release.CutAt.Add(24 * time.Hour) // by the event's clock
	if err := os.WriteFile("last-release", []byte(release.Tag), 0o666); err != nil {
		return err
	}
	for region := range map[string]bool{"eu": true, "us": true, "ap": true} {
		if err := b.publishStep(ctx, release, region, deadline); err != nil {
			return fmt.Errorf("publish to %s: %w", region, err)
		}
	}
	return nil
}
