package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/restaq/restaq/schemas/example"
)

// sendFlags are the flags of send.
type sendFlags struct {
	to, secret, data, id string
	dryRun, list         bool
}

func sendCommand(a *app) *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send TYPE --to URL --secret SECRET [flags]",
		Short: "Send a signed example event, while developing",
		Long: `Send an event to a webhook endpoint, signed as its provider would sign it. TYPE
has the provider in front: stripe.charge.succeeded, github.push,
shopify.orders.create, slack.message, standardwebhooks.anything.

The payload is an example with made-up values that fits the provider's schema, or
what --data names, byte for byte ("-" is standard input). Each call sends a new
event; with --id, the same one again, as a redelivery would be. (The id of a
Stripe or a Slack event stands in its payload, so --id leaves --data alone.)
--list prints all event types that begin with TYPE.

The secret is --secret, or else the environment variable RESTAQ_SECRET. It does
not matter to an endpoint that takes unsigned requests (webhook.Insecure).

Prints the status and the body of the answer. The exit status is 1 unless the
answer is 2xx. No store is needed.`,
		Example: `  restaq send stripe.charge.succeeded --to http://localhost:8080/webhooks/stripe --secret whsec_test
  restaq send github.pull_request.opened --to http://localhost:8080/webhooks/github --id 1
  restaq send shopify.orders.create --data order.json --to http://localhost:8080/webhooks/shopify
  restaq send stripe.charge.succeeded --dry-run > charge.json
  restaq send stripe.invoice --list`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		PreRunE: func(*cobra.Command, []string) error {
			if f.list || f.dryRun {
				return nil
			}
			to, err := url.Parse(f.to)
			if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
				return fmt.Errorf("--to %q: want the URL of an endpoint, http://HOST/PATH", f.to)
			}
			if f.secret == "" {
				f.secret = a.getenv("RESTAQ_SECRET")
			}
			if f.secret == "" {
				return errors.New("no secret: pass --secret, or set RESTAQ_SECRET")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if f.list {
				err = a.listTypes(strings.Join(args, ""))
			} else {
				err = a.send(cmd.Context(), args[0], &f)
			}
			if err != nil {
				return failure{err}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.to, "to", "", "the endpoint's `URL`")
	flags.StringVar(&f.secret, "secret", "", "the endpoint's `secret` (default $RESTAQ_SECRET)")
	flags.StringVar(&f.data, "data", "", "send what this `file` holds")
	flags.StringVar(&f.id, "id", "", "the event's `id` (default a new one)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the payload, and send nothing")
	flags.BoolVar(&f.list, "list", false, "print the event types that begin with TYPE")
	return cmd
}

// listTypes prints event types.
func (a *app) listTypes(prefix string) error {
	types, err := example.Types()
	if err != nil {
		return err
	}
	types = slices.DeleteFunc(types, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	for _, name := range types {
		a.print(name)
	}
	if len(types) == 0 {
		a.note("no event type begins with %s", prefix)
	}
	return nil
}

// answerLimit bounds what is read of an answer.
const answerLimit = 64 << 10

// send sends one event.
func (a *app) send(ctx context.Context, eventType string, f *sendFlags) error {
	provider, kind, _ := strings.Cut(eventType, ".")
	s, ok := senders[provider]
	if !ok || kind == "" {
		return fmt.Errorf("event type %s: want one of stripe, github, shopify, slack or standardwebhooks, a dot, and the provider's own type", eventType)
	}
	d := delivery{kind: kind, id: f.id, secret: f.secret, at: time.Now()}
	if d.id == "" {
		d.id = newEventID()
	}
	var err error
	if d.payload, err = a.payload(eventType, s, &d, f.data); err != nil {
		return err
	}
	if f.dryRun {
		a.print(string(d.payload))
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to, bytes.NewReader(d.payload))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if err := s.sign(r.Header, &d); err != nil {
		return err
	}
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	if err != nil {
		return err
	}
	a.print(answer.Status)
	for line := range strings.Lines(string(body)) {
		a.print(clean(strings.TrimRight(line, "\r\n")))
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return errReported
	}
	return nil
}

// payload returns the event's payload: that of the file, or an example.
func (a *app) payload(eventType string, s sender, d *delivery, file string) ([]byte, error) {
	switch file {
	case "":
		if s.example != nil {
			return s.example(d)
		}
		payload, err := example.Event(eventType, s.values(d))
		if errors.Is(err, example.ErrUnknown) {
			return nil, fmt.Errorf("%w: %q prints those that there are", err, "restaq send "+strings.SplitN(eventType, ".", 2)[0]+" --list")
		}
		return payload, err
	case "-":
		return io.ReadAll(a.stdin)
	}
	return os.ReadFile(file)
}
