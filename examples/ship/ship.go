package main

import (
	"context"
	"errors"
	"fmt"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/github"
)

//go:generate go tool restaqgen

// ReleaseApproved is an event of our own: the release desk, a program in our
// house, sends it when a person has approved a release.
//
//restaq:event desk.release.approved
type ReleaseApproved struct {
	Version    string   `json:"version"`
	Repository string   `json:"repository"`
	Commit     string   `json:"commit"`
	Regions    []string `json:"regions"`
}

// Image is what a commit is built into.
type Image struct {
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
}

// pushed builds what arrives on main and deploys it to staging.
//
//restaq:on github.push
func pushed(ctx context.Context, push github.PushEvent) error {
	if push.Ref != "refs/heads/main" || push.Deleted {
		return nil
	}
	for _, commit := range push.Commits {
		if err := linkIssuesStep(ctx, commit.ID, commit.Message); err != nil {
			return err
		}
	}
	image, err := buildImageStep(ctx, push.Repository.FullName, push.After)
	if err != nil {
		return err
	}
	return deployStep(ctx, image, "staging")
}

// pullRequestClosed takes the preview down and thanks whose work was merged.
//
//restaq:on github.pull_request.closed
func pullRequestClosed(ctx context.Context, event github.PullRequestClosed) error {
	pr := event.PullRequest
	if err := removePreviewStep(ctx, event.Repository.FullName, pr.Number); err != nil {
		return err
	}
	if pr.MergedAt == nil {
		return nil
	}
	// Do makes a step of a function literal, without a wrapper.
	comment, err := restaq.Do(ctx, "thank-author", func(ctx context.Context) (string, error) {
		return tracker.Comment(ctx, pr.Number, "Thank you, @"+pr.User.Login+"!", restaq.IdempotencyKey(ctx))
	})
	if err != nil {
		return err
	}
	restaq.Logger(ctx).Info("author thanked", "comment", comment)
	return nil
}

// releaseApproved deploys a release to one region after the other.
//
//restaq:on desk.release.approved
func releaseApproved(ctx context.Context, release ReleaseApproved) error {
	image := Image{Repository: release.Repository, Commit: release.Commit}
	for _, region := range release.Regions {
		if err := deployStep(ctx, image, region); err != nil {
			return err
		}
	}
	return announceStep(ctx, release.Version)
}

// journal notes every event, whatever it is about. It gets the event as it
// came, and an execution of its own beside the other handler's.
//
//restaq:on github.* desk.*
func journal(ctx context.Context, event restaq.Event) error {
	restaq.Logger(ctx).Info("event received", "type", event.Type, "bytes", len(event.Payload))
	return nil
}

// linkIssues is called once for each commit of a push; the key tells the calls
// apart.
//
//restaq:step key=commit
func linkIssues(ctx context.Context, commit, message string) error {
	for _, issue := range issueNumber.FindAllString(message, -1) {
		if err := tracker.Link(ctx, issue, commit); err != nil {
			return fmt.Errorf("link issue %s: %w", issue, err)
		}
	}
	return nil
}

//restaq:step timeout=10m
func buildImage(ctx context.Context, repository, commit string) (Image, error) {
	return builder.Build(ctx, repository, commit)
}

// deploy tries again when a region does not answer. Not when it is frozen: only
// a person can change that.
//
//restaq:step key=region attempts=5 backoff=1s..1m timeout=5m
func deploy(ctx context.Context, image Image, region string) error {
	err := fleet.Deploy(ctx, region, image, restaq.IdempotencyKey(ctx))
	if errors.Is(err, errFrozen) {
		return restaq.Permanent(err)
	}
	return err
}

//restaq:step
func removePreview(ctx context.Context, repository string, number int64) error {
	return fleet.Remove(ctx, fmt.Sprintf("preview-%d", number), repository)
}

//restaq:step
func announce(ctx context.Context, version string) error {
	restaq.Logger(ctx).Info("released", "version", version)
	return nil
}
