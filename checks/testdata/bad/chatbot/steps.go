package chatbot

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

var errRefused = errors.New("refused")

//restaq:step
func openChannel(ctx context.Context, user string) (string, error) {
	var channel struct{ ID string }
	err := chat.call(ctx, "conversations.open", map[string]string{"users": user}, &channel)
	return channel.ID, err
}

// say is called in several places of one handler, which what tells apart.
//
//restaq:step key=what attempts=20
func say(ctx context.Context, channel, thread, what, text string) error {
	return chat.call(ctx, "chat.postMessage", map[string]string{
		"channel": channel, "thread_ts": thread, "text": text, "client_msg_id": restaq.IdempotencyKey(ctx),
	}, nil)
}

//restaq:step
func history(ctx context.Context, channel, thread string) ([]Turn, error) {
	var turns []Turn
	err := chat.call(ctx, "conversations.replies", map[string]string{"channel": channel, "ts": thread}, &turns)
	return turns, err
}

// ask asks two models at once and takes the answer that comes first.
//
//restaq:step key=round timeout=2m backoff=5s..10m
func ask(ctx context.Context, round int, turns []Turn) (Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		answer Answer
		err    error
	}
	outcomes := make(chan outcome, 2)
	for _, model := range []string{"large", "small"} {
		go func() {
			answer, err := chat.complete(ctx, model, turns)
			outcomes <- outcome{answer, err}
		}()
	}
	first := <-outcomes
	if first.err == nil || errors.Is(first.err, errRefused) {
		return first.answer, permanent(first.err)
	}
	second := <-outcomes
	return second.answer, second.err
}

// permanent marks a refusal as final.
func permanent(err error) error {
	if err == nil {
		return nil
	}
	return restaq.Permanent(err)
}

//restaq:step key=call.ID
func useTool(ctx context.Context, call Call) (string, error) {
	switch call.Name {
	case "dice":
		return fmt.Sprint(rand.IntN(6) + 1), nil // a step may roll dice
	case "clock":
		return time.Now().Format(time.Kitchen), nil
	}
	return "", fmt.Errorf("there is no tool %s", call.Name)
}

// countVote writes and counts in the store's own transaction.
//
//restaq:step
func countVote(ctx context.Context, tx *sql.Tx, item, user string, added bool) (total int, err error) {
	statement := `DELETE FROM vote WHERE item = ? AND user = ?`
	if added {
		statement = `INSERT INTO vote (item, user) VALUES (?, ?)`
	}
	if _, err := tx.ExecContext(ctx, statement, item, user); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM vote WHERE item = ?`, item).Scan(&total)
	return total, err
}

//restaq:step
func onCall(ctx context.Context, team string, at time.Time) ([]string, error) {
	var people []string
	err := chat.call(ctx, "usergroups.users.list", map[string]string{"usergroup": team, "at": at.Format(time.RFC3339)}, &people)
	return people, err
}

//restaq:step key=person
func page(ctx context.Context, person, incident, title string) (bool, error) {
	if err := chat.call(ctx, "chat.postMessage", map[string]string{"channel": person, "text": incident + ": " + title}, nil); err != nil {
		return false, err
	}
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case <-chat.answered(person):
		return true, sayStep(ctx, person, "", "thanks", "Thank you!")
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

//restaq:step pure
func note(ctx context.Context, incident, person string) error {
	restaq.Logger(ctx).Info("incident taken", "incident", incident, "by", person)
	return nil
}

// service is the chat and the model behind it.
type service struct {
	client *http.Client
	token  string
	last   *request

	mu      sync.Mutex
	answers map[string]chan struct{}
}

func newChat() *service {
	return &service{client: &http.Client{Timeout: time.Minute}, token: os.Getenv("CHAT_TOKEN"), answers: map[string]chan struct{}{}}
}

// request is a call of the service: its context stays with it.
type request struct {
	ctx    context.Context
	method string
	body   any
}

func (s *service) call(ctx context.Context, method string, body, into any) error {
	s.last = &request{ctx: ctx, method: method, body: body}
	return s.send(s.last, into)
}

func (s *service) send(r *request, into any) error {
	data, err := json.Marshal(r.body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, "https://chat.example.com/api/"+r.method, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", r.method, resp.Status)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

func (s *service) complete(ctx context.Context, model string, turns []Turn) (Answer, error) {
	var answer Answer
	err := s.call(ctx, "complete/"+model, turns, &answer)
	return answer, err
}

func (s *service) answered(person string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers[person] == nil {
		s.answers[person] = make(chan struct{})
	}
	return s.answers[person]
}
