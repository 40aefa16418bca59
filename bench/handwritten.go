package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// handwrittenSchema is the least that someone writes who does without a
// toolkit but wants to see what happened: an event with its state, and its
// steps with what they returned and how long they took.
const handwrittenSchema = `
CREATE TABLE event (
	source      text NOT NULL,
	id          text NOT NULL,
	type        text NOT NULL,
	payload     bytea NOT NULL,
	status      text NOT NULL,
	received_at timestamptz NOT NULL DEFAULT now(),
	finished_at timestamptz,
	PRIMARY KEY (id, source)
);
CREATE TABLE step (
	source     text NOT NULL,
	event      text NOT NULL,
	seq        integer NOT NULL,
	name       text NOT NULL,
	status     text NOT NULL,
	output     bytea,
	started_at timestamptz NOT NULL,
	ended_at   timestamptz NOT NULL,
	PRIMARY KEY (event, source, seq)
)`

// handwrittenStep is a step of the workflow as a loop by hand has it.
type handwrittenStep struct {
	name   string
	output string
}

// handwrittenSteps are the workflow's steps and what they return, as the codecs
// of package workflow encode it.
func handwrittenSteps(id string) [4]handwrittenStep {
	return [4]handwrittenStep{
		{"reserve", `null`},
		{"charge", `{"order":"order-` + id + `","amount":2000,"fee":80}`},
		{"pack", `"label-order-` + id + `"`},
		{"ship", `null`},
	}
}

// openHandwritten connects and makes the tables.
func openHandwritten(ctx context.Context, url string, conns int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(conns)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, handwrittenSchema); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// loop is a hand-written loop of six single-row statements.
type loop struct{ pool *pgxpool.Pool }

func openLoop(ctx context.Context, url string) (subject, error) {
	pool, err := openHandwritten(ctx, url, 64)
	return loop{pool}, err
}

func (l loop) run(ctx context.Context, id string) error {
	if err := l.insert(ctx, id); err != nil {
		return err
	}
	for i, step := range handwrittenSteps(id) {
		if _, err := l.pool.Exec(ctx, `
INSERT INTO step (source, event, seq, name, status, output, started_at, ended_at)
VALUES ('bench', $1, $2, $3, 'completed', $4, $5, now())`, id, i+1, step.name, []byte(step.output), time.Now()); err != nil {
			return err
		}
	}
	_, err := l.pool.Exec(ctx, `UPDATE event SET status = 'completed', finished_at = now() WHERE id = $1 AND source = 'bench'`, id)
	return err
}

func (l loop) insert(ctx context.Context, id string) error {
	_, err := l.pool.Exec(ctx, `
INSERT INTO event (source, id, type, payload, status) VALUES ('bench', $1, $2, $3, 'running')
ON CONFLICT DO NOTHING`, id, orderType, payload(id))
	return err
}

func (l loop) again(ctx context.Context, id string) error { return l.insert(ctx, id) }

func (l loop) close() error {
	l.pool.Close()
	return nil
}

// group is a hand-written group commit of the same rows: one writer, which
// takes what has queued up while the last commit was under way.
type group struct {
	pool *pgxpool.Pool
	done chan struct{}

	mu     sync.Mutex
	queue  []write
	closed bool
	wake   chan struct{} // capacity 1
}

// write is a row to be written: an event if seq is 0, a step, or an end if seq
// is -1.
type write struct {
	event   string
	seq     int
	step    handwrittenStep
	started time.Time
	err     chan error
}

func openGroup(ctx context.Context, url string) (subject, error) {
	pool, err := openHandwritten(ctx, url, 1)
	if err != nil {
		return nil, err
	}
	g := &group{pool: pool, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	go g.work(context.WithoutCancel(ctx))
	return g, nil
}

func (g *group) run(ctx context.Context, id string) error {
	if err := g.write(write{event: id}); err != nil {
		return err
	}
	for i, step := range handwrittenSteps(id) {
		if err := g.write(write{event: id, seq: i + 1, step: step, started: time.Now()}); err != nil {
			return err
		}
	}
	return g.write(write{event: id, seq: -1})
}

func (g *group) again(ctx context.Context, id string) error { return g.write(write{event: id}) }

func (g *group) write(w write) error {
	w.err = make(chan error, 1)
	g.mu.Lock()
	g.queue = append(g.queue, w)
	g.mu.Unlock()
	g.signal()
	return <-w.err
}

func (g *group) signal() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// work commits what queues up.
func (g *group) work(ctx context.Context) {
	defer close(g.done)
	for range g.wake {
		g.mu.Lock()
		writes, closed := g.queue, g.closed
		g.queue = nil
		g.mu.Unlock()
		if len(writes) > 0 {
			err := g.commit(ctx, writes)
			for _, w := range writes {
				w.err <- err
			}
		}
		if closed {
			return
		}
	}
}

// commit writes rows of each kind in one statement, all in one round trip.
func (g *group) commit(ctx context.Context, writes []write) error {
	var (
		events, stepEvents, names, ends []string
		payloads, outputs               [][]byte
		seqs                            []int32
		started                         []time.Time
	)
	for _, w := range writes {
		switch w.seq {
		case 0:
			events, payloads = append(events, w.event), append(payloads, payload(w.event))
		case -1:
			ends = append(ends, w.event)
		default:
			stepEvents, seqs = append(stepEvents, w.event), append(seqs, int32(w.seq))
			names, outputs = append(names, w.step.name), append(outputs, []byte(w.step.output))
			started = append(started, w.started)
		}
	}
	var batch pgx.Batch
	if len(events) > 0 {
		batch.Queue(`
INSERT INTO event (source, id, type, payload, status)
SELECT 'bench', id, $3, payload, 'running' FROM unnest($1::text[], $2::bytea[]) AS n (id, payload)
ON CONFLICT DO NOTHING`, events, payloads, orderType)
	}
	if len(stepEvents) > 0 {
		batch.Queue(`
INSERT INTO step (source, event, seq, name, status, output, started_at, ended_at)
SELECT 'bench', event, seq, name, 'completed', output, started_at, now()
FROM unnest($1::text[], $2::integer[], $3::text[], $4::bytea[], $5::timestamptz[]) AS n (event, seq, name, output, started_at)`,
			stepEvents, seqs, names, outputs, started)
	}
	if len(ends) > 0 {
		batch.Queue(`UPDATE event SET status = 'completed', finished_at = now() WHERE id = ANY ($1::text[]) AND source = 'bench'`, ends)
	}
	if err := g.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("commit %d rows: %w", len(writes), err)
	}
	return nil
}

func (g *group) close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.signal()
	select {
	case <-g.done:
	case <-time.After(time.Minute):
		return fmt.Errorf("the writer did not end")
	}
	g.pool.Close()
	return nil
}
