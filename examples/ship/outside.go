package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// What a real program would call. Package-level handlers and steps reach it
// through package-level variables.
var (
	tracker = new(Tracker)
	builder = new(Builder)
	fleet   = NewFleet()
)

// issueNumber finds the issues that a commit's message names.
var issueNumber = regexp.MustCompile(`#[1-9][0-9]*`)

// errFrozen says that nothing may be deployed to a region.
var errFrozen = errors.New("region is frozen")

// Tracker holds issues and their comments.
type Tracker struct{}

// Link makes a commit appear at an issue; doing it twice changes nothing.
func (*Tracker) Link(ctx context.Context, issue, commit string) error { return ctx.Err() }

// Comment adds a comment to a pull request and returns the comment's id. The
// key lets the tracker drop a second copy.
func (*Tracker) Comment(ctx context.Context, number int64, text, key string) (string, error) {
	return fmt.Sprintf("%d-%s", number, key[:8]), ctx.Err()
}

// Builder builds images.
type Builder struct{}

// Build builds the image of a commit.
func (*Builder) Build(ctx context.Context, repository, commit string) (Image, error) {
	return Image{Repository: repository, Commit: commit}, ctx.Err()
}

// Fleet is the machines, by region. It counts what is deployed to them.
type Fleet struct {
	mu          sync.Mutex
	frozen      map[string]bool
	deployments map[string]int
}

// NewFleet returns a fleet in which nothing is frozen.
func NewFleet() *Fleet {
	return &Fleet{frozen: map[string]bool{}, deployments: map[string]int{}}
}

// Freeze lets nothing be deployed to a region, or with false allows it again.
func (f *Fleet) Freeze(region string, frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen[region] = frozen
}

// Deploy runs image in a region. The key lets the fleet drop a second copy.
func (f *Fleet) Deploy(ctx context.Context, region string, image Image, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.frozen[region] {
		return fmt.Errorf("deploy %s: %w", image.Commit[:7], errFrozen)
	}
	f.deployments[region]++
	return ctx.Err()
}

// Remove takes a region away.
func (f *Fleet) Remove(ctx context.Context, region, repository string) error { return ctx.Err() }

// Deployments returns how often a region was deployed to.
func (f *Fleet) Deployments(region string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.deployments[region]
}
