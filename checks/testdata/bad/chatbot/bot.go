// Package chatbot answers in a chat: it greets who joins, asks a language model when
// it is mentioned, keeps a list of what people vote for, and passes incidents on.
package chatbot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/schemas/slack"
)

//go:generate go tool restaqgen

// chat is what the steps need. It is set once, before the program begins to work:
// here, where it is declared.
var chat = newChat()

// mention is how a message begins that is for the bot.
var mention = regexp.MustCompile(`^<@[A-Z0-9]+>\s*`)

// limits of what goes to the model.
const (
	maxTurns = 20
	maxRunes = 4000
)

// Incident is sent by the monitoring, which is ours.
//
//restaq:event ops.incident.opened
type Incident struct {
	ID       string            `json:"id"`
	Severity int               `json:"severity"`
	Title    string            `json:"title"`
	Labels   map[string]string `json:"labels"`
	OpenedAt time.Time         `json:"openedAt"`
}

// Turn is one message of a conversation.
type Turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Answer is what the model says.
type Answer struct {
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	Tools  []Call `json:"tools,omitempty"`
}

// Call is a tool that the model wants to use.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// joined greets who is new.
//
//restaq:on slack.team_join
func joined(ctx context.Context, event slack.TeamJoinEvent) error {
	channel, _ := openChannelStep(ctx, event.Event.User.ID)
	return sayStep(ctx, channel, "", "greeting", []string{"Welcome!", "Hello!"}[rand.IntN(2)])
}

// mentioned talks with the model until it has an answer, at most five rounds.
//
//restaq:on slack.app_mention attempts=8 order=event.Event.Channel
func mentioned(ctx context.Context, event slack.AppMentionEvent) error {
	question := mention.ReplaceAllString(event.Event.Text, "")
	if strings.TrimSpace(question) == "" {
		return nil
	}
	thread := event.Event.Ts
	if event.Event.ThreadTs != nil {
		thread = *event.Event.ThreadTs
	}
	turns, err := history(ctx, event.Event.Channel, thread)
	if err != nil {
		return fmt.Errorf("read thread: %w", err)
	}
	turns = append(trim(turns), Turn{Role: "user", Text: question})
	for round := range 5 {
		answer, err := askStep(ctx, round, turns)
		switch {
		case errors.Is(err, errRefused):
			return sayStep(ctx, event.Event.Channel, thread, "refusal", "I would rather not answer that.")
		case err != nil:
			return err
		case len(answer.Tools) == 0:
			return sayStep(ctx, event.Event.Channel, thread, "answer", answer.Text)
		}
		for _, call := range answer.Tools {
			result, err := useToolStep(ctx, call)
			if err != nil {
				result = "error: " + err.Error() // the model is told, and goes on
			}
			turns = append(turns, Turn{Role: "tool", Text: result})
		}
	}
	return sayStep(ctx, event.Event.Channel, thread, "tired", "I give up.")
}

// trim keeps the last turns, and not too much of them.
func trim(turns []Turn) []Turn {
	if len(turns) > maxTurns {
		turns = turns[len(turns)-maxTurns:]
	}
	left := maxRunes
	var kept []Turn
	for i := len(turns) - 1; i >= 0; i-- {
		if left -= utf8.RuneCountInString(turns[i].Text); left < 0 {
			break
		}
		kept = append([]Turn{turns[i]}, kept...)
	}
	return kept
}

// voted counts votes.
//
//restaq:on slack.reaction_added slack.reaction_removed
func voted(ctx context.Context, event restaq.Event) error {
	var payload struct {
		Event struct {
			Reaction string `json:"reaction"`
			User     string `json:"user"`
			Item     struct {
				Ts string `json:"ts"`
			} `json:"item"`
		} `json:"event"`
	}
	if err := json.Unmarshal(event.Payload, &payload); err != nil {
		return restaq.Permanent(fmt.Errorf("read reaction: %w", err))
	}
	e := payload.Event
	if e.Reaction != "ballot_box_with_check" {
		return nil
	}
	defer func() { _ = recover() }()
	total, err := countVoteStep(ctx, e.Item.Ts, e.User, event.Type == slack.ReactionAddedEventType)
	if err != nil {
		return err
	}
	log.Printf("%s has %d votes after %s", e.Item.Ts, total, time.Since(event.ReceivedAt).Round(time.Second))
	return nil
}

// opened calls people in, the next one when the one before does not answer.
//
//restaq:on ops.incident.opened
func opened(ctx context.Context, incident *Incident) error {
	var people []string
	err := chat.call(ctx, "usergroups.users.list", incident.Labels["team"], &people)
	if err != nil {
		return err
	}
	var last error
	for _, person := range people {
		reached, err := pageStep(ctx, person, incident.ID, incident.Title)
		if err != nil {
			last = err
			continue
		}
		if reached {
			return noteStep(ctx, incident.ID, person)
		}
	}
	if last != nil {
		return fmt.Errorf("page: %w", last)
	}
	return restaq.Permanent(errors.New("nobody answers"))
}
