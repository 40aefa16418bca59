package cibot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	restaq "github.com/restaq/restaq/runtime"

	"example.com/cibot/plan"
)

var errNoPreview = errors.New("no preview")

// Result is what became of a job.
type Result struct {
	State    string        `json:"state"`
	Log      []byte        `json:"log,omitempty"`
	Took     time.Duration `json:"took"`
	Artifact *Artifact     `json:"artifact,omitempty"`
	Dir      string        `json:"-"`
}

// Artifact is a file that a job made.
type Artifact struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Head is the end of a pull request's branch.
type Head struct {
	Branch string   `json:"branch"`
	Commit string   `json:"commit"`
	Files  []string `json:"files"`
}

//restaq:step
func (b *Bot) readConfig(ctx context.Context, repository, commit string) (plan.Config, error) {
	var config plan.Config
	if err := b.api.Get(ctx, "/repos/"+repository+"/contents/ci.json?ref="+commit, &config); err != nil {
		return plan.Config{}, fmt.Errorf("read ci.json: %w", err)
	}
	if err := config.Validate(); err != nil {
		return plan.Config{}, restaq.Permanent(err)
	}
	return config, nil
}

//restaq:step
func (b *Bot) announce(ctx context.Context, repository, commit string, jobs int) error {
	return b.api.Post(ctx, "/repos/"+repository+"/statuses/"+commit, map[string]any{"state": "pending", "description": jobs})
}

// runJob runs one job in a folder of its own. What it prints is followed while it
// runs, by a goroutine that the step waits for.
//
//restaq:step key=job.ID timeout=30m attempts=3
func (b *Bot) runJob(ctx context.Context, repository, commit string, job plan.Job) (Result, error) {
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	if job.Target.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, job.Target.Timeout)
		defer cancel()
	}
	begun := time.Now()
	reader, writer := io.Pipe()
	cmd := exec.CommandContext(ctx, "build-job", repository, commit, job.Target.Name)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, writer, writer
	var out bytes.Buffer
	followed := make(chan error, 1)
	go func() {
		_, err := io.Copy(&out, reader)
		b.farm.Follow(ctx, job.ID, out.Len())
		followed <- err
	}()
	err = cmd.Run()
	writer.Close()
	result := Result{State: "success", Log: out.Bytes(), Took: time.Since(begun)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		result.State = "failure"
	case err != nil:
		return Result{}, fmt.Errorf("start job: %w", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		result.Artifact = &Artifact{Name: info.Name(), Size: info.Size()}
	}
	return result, nil
}

// report is called in several places, each of which ends the handler.
//
//restaq:step
func (b *Bot) report(ctx context.Context, repository, commit, state, text string) error {
	return b.api.Post(ctx, "/repos/"+repository+"/statuses/"+commit, map[string]any{"state": state, "description": text})
}

//restaq:step
func (b *Bot) label(ctx context.Context, repository string, number int64, label string) error {
	return b.api.Post(ctx, fmt.Sprintf("/repos/%s/issues/%d/labels", repository, number), map[string]any{"labels": []string{label}})
}

//restaq:step
func (b *Bot) removePreview(ctx context.Context, repository string, number int64) error {
	if err := b.farm.Remove(ctx, repository, number); err != nil {
		return err
	}
	return b.commentStep(ctx, repository, number, "The preview is gone.")
}

//restaq:step
func (b *Bot) comment(ctx context.Context, repository string, number int64, text string) error {
	return b.api.Post(ctx, fmt.Sprintf("/repos/%s/issues/%d/comments", repository, number), map[string]any{"body": text})
}

//restaq:step
func (b *Bot) head(ctx context.Context, repository string, number int64) (Head, error) {
	var head Head
	err := b.api.Get(ctx, fmt.Sprintf("/repos/%s/pulls/%d", repository, number), &head)
	return head, err
}

//restaq:step
func (b *Bot) mergeHead(ctx context.Context, repository string, number int64) (err error) {
	defer func() { // the client panics on answers that it cannot read
		if r := recover(); r != nil {
			err = fmt.Errorf("merge: %v", r)
		}
	}()
	return b.api.Post(ctx, fmt.Sprintf("/repos/%s/pulls/%d/merge", repository, number), nil)
}

//restaq:step key=region
func (b *Bot) publish(ctx context.Context, release Release, region string, deadline time.Time) error {
	if time.Now().After(deadline) { // a step may look at the clock
		return restaq.Permanent(errors.New("the release is too old"))
	}
	return b.farm.Publish(ctx, release.Repository, release.Tag, region, restaq.IdempotencyKey(ctx))
}

// Farm is where jobs and previews run.
type Farm interface {
	Preview(ctx context.Context, repository string, number int64, commit, key string) (url string, err error)
	Remove(ctx context.Context, repository string, number int64) error
	Publish(ctx context.Context, repository, tag, region, key string) error
	Follow(ctx context.Context, job string, bytes int)
}

//restaq:step
func (b *Bot) unlabel(ctx context.Context, repository string, number int64) error {
	return b.api.Post(ctx, fmt.Sprintf("/repos/%s/issues/%d/labels", repository, number), map[string]any{"labels": nil})
}

// Client speaks to GitHub.
type Client struct {
	http  http.Client
	base  string
	token string
}

// Get reads JSON.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, nil, into)
}

// Post sends JSON.
func (c *Client) Post(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, bytes.NewReader(data), nil)
}

func (c *Client) do(ctx context.Context, method, path string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden && resp.Header.Get("Retry-After") != "" {
		return restaq.RetryAfter(errors.New("rate limited"), time.Minute)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// Metrics counts.
type Metrics struct {
	mu    sync.Mutex
	took  map[string]time.Duration
	calls atomic.Int64
}

// Observe adds a duration.
func (m *Metrics) Observe(name string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took[name] += d
	m.calls.Add(1)
	slog.Debug("observed", "name", name, "took", d)
}
