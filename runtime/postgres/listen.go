package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	restaq "github.com/restaq/restaq/runtime"
)

const (
	// pingEvery is how long a silent connection is trusted.
	pingEvery = 30 * time.Second

	// maxNotice is the largest payload of a NOTIFY, in bytes. PostgreSQL takes
	// less than 8000.
	maxNotice = 7900
)

var _ restaq.Notifier = (*Store)(nil)

// channel is the name under which the Store's processes talk.
func (s *Store) channel() string { return "restaq:" + s.schema }

// Notify tells all processes that listen on the schema. A notice that is too
// long says only that there is something.
func (s *Store) Notify(ctx context.Context, n restaq.Notice) error {
	if !s.session {
		return nil
	}
	err := s.statement(ctx, func(q querier) error { return s.notify(ctx, q, n) })
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}

// notify tells what n says, by the commit of q's transaction if it is one.
func (s *Store) notify(ctx context.Context, q querier, n restaq.Notice) error {
	payload, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if len(payload) > maxNotice {
		payload = []byte("{}")
	}
	_, err = one[string](ctx, q, `SELECT pg_notify($1::text, $2::text)::text`, s.channel(), string(payload))
	return err
}

// Listen calls fn for each notice until ctx ends, on a connection of its own
// that users' work cannot use up. Whenever it has begun to listen, notices may
// have been missed: it says so by the zero Notice.
func (s *Store) Listen(ctx context.Context, fn func(n restaq.Notice)) {
	if !s.session {
		return
	}
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		s.listenOnce(ctx, fn) // its error is that of a lost connection
		if time.Since(began) > pingEvery {
			failures = 0
		}
		wait := time.NewTimer(rand.N(min(30*time.Second, 100*time.Millisecond<<min(failures, 10))))
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// listenOnce listens until the connection is lost or ctx ends.
func (s *Store) listenOnce(ctx context.Context, fn func(n restaq.Notice)) error {
	conn, err := pgx.ConnectConfig(ctx, s.connConfig().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		conn.Close(ctx)
	}()
	begin, cancel := context.WithTimeout(ctx, deadAfter)
	_, err = conn.Exec(begin, "LISTEN "+quote(s.channel()))
	cancel()
	if err != nil {
		return err
	}
	fn(restaq.Notice{})
	for {
		quiet, cancel := context.WithTimeout(ctx, pingEvery)
		notification, err := conn.WaitForNotification(quiet)
		cancel()
		var timeout net.Error
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			var n restaq.Notice
			if json.Unmarshal([]byte(notification.Payload), &n) != nil {
				n = restaq.Notice{} // a newer version's
			}
			fn(n)
		case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
			ping, cancel := context.WithTimeout(ctx, deadAfter)
			err := conn.Ping(ping)
			cancel()
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}
