package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
)

// kind is a subject that the runtime's rows compare.
type kind struct {
	name string
	open func(ctx context.Context, url string) (subject, error)
	sql  bool // on the Postgres server
}

// The names of kinds are how targets refer to them.
const (
	onPostgres = "restaq, postgres"
	byLoop     = "loop by hand"
	byGroup    = "group commit by hand"
	byDBOS     = "dbos v1.8.0"
	onSQLite   = "restaq, sqlite"
)

var kinds = []kind{
	{onPostgres, openPostgres, true},
	{byLoop, openLoop, true},
	{byGroup, openGroup, true},
	{byDBOS, openDBOS, true},
	{onSQLite, openSQLite, false},
}

// concurrencies are how many executions are under way at once.
var concurrencies = []int{1, 16, 64, 256}

// plan is how long the runtime's rows measure.
type plan struct {
	only   string        // words in the names of the subjects; "" for all
	rounds int           // of each row
	window time.Duration // of each subject in each round
	costs  int           // executions of which the cost is taken

	pending  int // executions beside which the heap is measured
	finished int // executions beside which claims are measured
}

// contest is the subjects, opened on one server, and what was measured.
type contest struct {
	plan     plan
	kinds    []kind
	server   *pgtest.Server
	subjects []subject

	loads      map[int][][]load // by concurrency: for each subject, each round's
	duplicates [][]load
	costs      map[int][]cost // by concurrency; none for a subject without SQL
}

// only returns the kinds that have one of the words in their names; all of
// them if there are no words.
func only(words string) []kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool {
		has := func(word string) bool { return strings.Contains(k.name, word) }
		return words != "" && !slices.ContainsFunc(strings.Fields(words), has)
	})
}

// runtimeRows measures this project against what one would write by hand, and
// against a peer. The subjects take turns of one window each, so that a busy
// moment of the machine falls on all of them.
func runtimeRows(ctx context.Context, out io.Writer, p plan) (err error) {
	server, err := pgtest.Start(ctx, pgtest.Config{Fsync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c := &contest{plan: p, kinds: only(p.only), server: server, loads: make(map[int][][]load), costs: make(map[int][]cost)}
	defer func() { err = errors.Join(err, c.close()) }()
	for i, k := range c.kinds {
		url, err := database(ctx, server, fmt.Sprint("bench_", i))
		if err != nil {
			return err
		}
		s, err := k.open(ctx, url)
		if err != nil {
			return fmt.Errorf("open %s: %w", k.name, err)
		}
		c.subjects = append(c.subjects, s)
	}
	if err := c.measure(ctx); err != nil {
		return err
	}
	c.print(out)
	return nil
}

// database makes a database and returns its address.
func database(ctx context.Context, server *pgtest.Server, name string) (string, error) {
	conn, err := pgx.Connect(ctx, server.URL())
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE DATABASE `+name); err != nil {
		return "", err
	}
	return withDatabase(server.URL(), name)
}

func (c *contest) close() error {
	var errs []error
	for i, s := range c.subjects {
		if err := s.close(); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", c.kinds[i].name, err))
		}
	}
	return errors.Join(errs...)
}

func (c *contest) measure(ctx context.Context) error {
	for i, s := range c.subjects {
		if _, err := execute(ctx, s, 16, c.plan.window/2); err != nil {
			return fmt.Errorf("warm %s up: %w", c.kinds[i].name, err)
		}
	}
	for _, n := range concurrencies {
		loads, err := c.rounds(ctx, func(s subject, _ int) (load, error) { return execute(ctx, s, n, c.plan.window) })
		if err != nil {
			return err
		}
		c.loads[n] = loads
	}
	if err := c.measureDuplicates(ctx); err != nil {
		return err
	}
	return c.measureCosts(ctx)
}

// rounds runs op for each subject in turn, and so round after round.
func (c *contest) rounds(ctx context.Context, op func(s subject, i int) (load, error)) ([][]load, error) {
	loads := make([][]load, len(c.subjects))
	for range c.plan.rounds {
		for i, s := range c.subjects {
			l, err := op(s, i)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", c.kinds[i].name, err)
			}
			loads[i] = append(loads[i], l)
		}
	}
	return loads, ctx.Err()
}

func (c *contest) measureDuplicates(ctx context.Context) (err error) {
	events := make([][]string, len(c.subjects))
	for i, s := range c.subjects {
		var mu sync.Mutex
		_, err := drive(ctx, 16, c.plan.window/2, func(ctx context.Context) error {
			id := newID()
			mu.Lock()
			events[i] = append(events[i], id)
			mu.Unlock()
			return s.run(ctx, id)
		})
		if err != nil {
			return err
		}
	}
	c.duplicates, err = c.rounds(ctx, func(s subject, i int) (load, error) {
		return duplicate(ctx, s, 64, c.plan.window, events[i])
	})
	return err
}

// measureCosts opens each subject once more, through a counter of statements.
func (c *contest) measureCosts(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.server.URL())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE EXTENSION pg_walinspect`); err != nil {
		return err
	}
	for i, k := range c.kinds {
		costs, err := c.costsOf(ctx, conn, k, fmt.Sprint("cost_", i))
		if err != nil {
			return fmt.Errorf("take cost of %s: %w", k.name, err)
		}
		for n, cost := range costs {
			c.costs[n] = append(c.costs[n], cost)
		}
	}
	return nil
}

func (c *contest) costsOf(ctx context.Context, conn *pgx.Conn, k kind, name string) (map[int]cost, error) {
	url, err := database(ctx, c.server, name)
	if err != nil {
		return nil, err
	}
	counter, url, err := startCounter(url)
	if err != nil {
		return nil, err
	}
	defer counter.listener.Close()
	s, err := k.open(ctx, url)
	if err != nil {
		return nil, err
	}
	m := &meter{conn, counter}
	costs := make(map[int]cost)
	for _, n := range []int{1, 64} {
		if _, err = m.measure(ctx, s, c.plan.costs/4, n); err != nil { // warms up
			break
		}
		if costs[n], err = m.measure(ctx, s, c.plan.costs, n); err != nil {
			break
		}
	}
	return costs, errors.Join(err, s.close())
}
