package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	restaq "github.com/restaq/restaq/runtime"
)

var demoSecrets = secrets{github: "github_demo", desk: "desk_demo"}

// demoStore returns the store of a demo: a fresh SQLite file unless another
// kind is asked for.
func demoStore(url string) string {
	if strings.HasPrefix(url, "sqlite:") {
		return ""
	}
	return url
}

// runDemo starts the service, sends it real signed requests, and writes what
// happens to w.
func runDemo(ctx context.Context, w io.Writer, storeURL string) (err error) {
	if storeURL == "" {
		dir, err := os.MkdirTemp("", "restaq-demo")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		storeURL = "sqlite:" + filepath.Join(dir, "ship.db")
	}
	store, err := openStore(ctx, storeURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rt, err := restaq.New(store, restaq.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := RegisterHandlers(rt); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- run(ctx, rt, listener, demoSecrets) }()
	d := &demo{w: w, rt: rt, url: "http://" + listener.Addr().String()}
	err = d.tell(ctx)
	stop()
	return errors.Join(err, <-stopped)
}

// demo is what the demonstration's parts share.
type demo struct {
	w   io.Writer
	rt  *restaq.Runtime
	url string
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.w, format+"\n", args...) }

// tell tells the story, in order.
func (d *demo) tell(ctx context.Context) error {
	d.say("Two commits are pushed to main. GitHub sends the event, as a form:\n")
	if _, err := d.deliver(ctx, githubForm(demoSecrets.github, "push", "5d0c1e70-0001", pushEvent)); err != nil {
		return err
	}

	d.say("\nTheir pull request is closed. GitHub sends the event, as JSON:\n")
	if _, err := d.deliver(ctx, githubJSON(demoSecrets.github, "pull_request", "5d0c1e70-0002", pullRequestEvent)); err != nil {
		return err
	}

	d.say("\nThe release desk, a sender of our own, says that a release is approved. One of\nits regions is frozen, and no automatic retry can change that:\n")
	fleet.Freeze("us-east", true)
	id, err := d.deliver(ctx, deskRequest(demoSecrets.desk, releaseEvent))
	if err != nil {
		return err
	}

	d.say("\nThe execution is dead: it waits for a person, who thaws the region and types\n\"restaq retry\". The first region is not deployed to again:\n")
	fleet.Freeze("us-east", false)
	if _, err := d.rt.Retry(ctx, id); err != nil { // as the command does
		return err
	}
	if err := d.show(ctx, id); err != nil {
		return err
	}
	d.say("\ndeployments: eu-west %d, us-east %d", fleet.Deployments("eu-west"), fleet.Deployments("us-east"))

	d.say("\nA release that the desk did not sign is refused:")
	status, body, err := send(ctx, d.url, deskRequest("a guess", releaseEvent))
	if err != nil {
		return err
	}
	d.say("  %d %s", status, body)
	return nil
}

// deliver sends an event and waits for the executions that it makes. It shows
// the one that is not the journal's, and returns its id.
func (d *demo) deliver(ctx context.Context, r request) (string, error) {
	status, body, err := send(ctx, d.url, r)
	if err != nil {
		return "", err
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("delivery was answered %d %s", status, body)
	}
	var answer struct {
		Executions []string `json:"executions"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return "", fmt.Errorf("read answer: %w", err)
	}
	shown := ""
	for _, id := range answer.Executions {
		e, err := d.rt.Wait(ctx, id)
		if err != nil {
			return "", err
		}
		d.say("  %s makes %s: %s", e.Event.Type, e.Handler, e.Status)
		if e.Handler != "ship.journal" {
			shown = id
		}
	}
	d.say("")
	return shown, d.show(ctx, shown)
}

// show prints an execution's history.
func (d *demo) show(ctx context.Context, id string) error {
	h, err := d.rt.Inspect(ctx, id)
	if err != nil {
		return err
	}
	_, err = io.WriteString(d.w, h.Tree())
	return err
}
