package postgres_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

var pruneExecutions = flag.Int("prune", 20_000, "how many executions TestPrunedExecutionsLeaveNoBloat stores and prunes")

// Executions come and go in rounds, and the place of those that went is used
// again: the tables grow no further, and claims cost what they did. The
// tables are vacuumed after each round, as autovacuum does by itself.
func TestPrunedExecutionsLeaveNoBloat(t *testing.T) {
	const rounds = 5
	d := database{pgtest.URL(t), "restaq"}
	s := open(t, d)
	conn := connect(t, d.url)
	for i := range 200 { // what stays, and is claimed
		insertOne(t, s, fmt.Sprint("evt_stays_", i), false)
	}
	vacuum(t, conn, "VACUUM ANALYZE")
	before := claimTime(t, s)

	perRound := *pruneExecutions / rounds
	var sizes []int64
	var pruning time.Duration
	for round := range rounds {
		makeOld(t, conn, round, perRound)
		vacuum(t, conn, "ANALYZE")
		begun := time.Now()
		pruned, forgotten := 0, 0
		for {
			done, err := s.Prune(t.Context(), restaq.Prune{OlderThan: time.Hour, Limit: 200})
			if err != nil {
				t.Fatal(err)
			}
			if pruned += done.Executions; done.Executions == 0 {
				break
			}
		}
		for {
			n, err := s.Forget(t.Context(), "stripe", time.Hour, 200)
			if err != nil {
				t.Fatal(err)
			}
			if forgotten += n; n == 0 {
				break
			}
		}
		pruning += time.Since(begun)
		if pruned != perRound || forgotten != perRound {
			t.Fatalf("round %d: pruned %d, forgot %d, want %d", round, pruned, forgotten, perRound)
		}
		vacuum(t, conn, "VACUUM")
		var size int64
		if err := conn.QueryRow(t.Context(), `SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
			WHERE relnamespace = 'restaq'::regnamespace AND relkind = 'r'`).Scan(&size); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, size)
	}
	after := claimTime(t, s)
	vacuum(t, conn, "VACUUM")
	var dead int64
	if err := conn.QueryRow(t.Context(), `SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = 'restaq'`).Scan(&dead); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d executions in %d rounds: %.0f µs to prune and forget each; size after each round %v; dead rows %d; a claim takes %v before, %v after",
		*pruneExecutions, rounds, float64(pruning.Microseconds())/float64(perRound*rounds), sizes, dead, before, after)
	// Index pages that became empty are used again from the second round on.
	if last := sizes[rounds-1]; last > sizes[1]*11/10 {
		t.Errorf("the tables grew from %d bytes after the second round to %d after the last", sizes[1], last)
	}
	if after > 5*before { // other work of the machine may double it
		t.Errorf("a claim took %v before and %v after", before, after)
	}
}

// makeOld makes executions of one step each, as they are a day after their end:
// most completed, every tenth dead.
func makeOld(t *testing.T, conn *pgx.Conn, round, n int) {
	t.Helper()
	for _, sql := range []string{
		`SET statement_timeout = 0`,
		`CREATE TEMP TABLE made AS SELECT i, 'evt_' || $ROUND || '_' || i AS event_id,
			('01800000-0000-7000-8000-' || lpad(to_hex($ROUND::bigint * 100000000 + i), 12, '0'))::uuid AS id
			FROM generate_series(1, $N) AS i`,
		`INSERT INTO restaq.event (source, event_id, provider, type, payload, header, received_at, executions)
			SELECT restaq.term_id('stripe'), event_id, restaq.term_id('stripe'), restaq.term_id('stripe.charge.succeeded'),
				convert_to(repeat('{"n":1}', 40), 'UTF8'), '{}', now() - interval '1 day', ARRAY[id] FROM made`,
		`INSERT INTO restaq.execution (id, created_at, handler, source, event_id)
			SELECT id, now() - interval '1 day', restaq.term_id('shop.Paid'), restaq.term_id('stripe'), event_id FROM made`,
		`INSERT INTO restaq.entry (execution, started_at, ended_at, token, position, func, outcome, name, output)
			SELECT id, now() - interval '1 day', now() - interval '1 day', 1, 1, restaq.term_id('f'), 0, 'charge', '{}' FROM made`,
		`INSERT INTO restaq.entry (execution, started_at, ended_at, token, position, attempt, outcome, kind)
			SELECT id, now() - interval '1 day', now() - interval '1 day', 1, 2, 1, 0, 0 FROM made`,
		`INSERT INTO restaq.work (execution, token, attempts, handler, finished_at, status, error)
			SELECT id, 1, 1, restaq.term_id('shop.Paid'), now() - interval '1 day', 'failed', 'no' FROM made WHERE i % 10 = 0`,
		`DROP TABLE made`,
	} {
		sql = strings.NewReplacer("$ROUND", fmt.Sprint(round), "$N", fmt.Sprint(n)).Replace(sql)
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// vacuum runs a command of this name on the store's tables.
func vacuum(t *testing.T, conn *pgx.Conn, command string) {
	t.Helper()
	for _, sql := range []string{`SET statement_timeout = 0`, command + ` restaq.event, restaq.execution, restaq.entry, restaq.work`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// claimTime is the median time of a claim of one execution.
func claimTime(t *testing.T, s *store) time.Duration {
	t.Helper()
	var times []time.Duration
	for range 60 {
		begun := time.Now()
		claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: newID(), Lease: time.Hour, Handlers: []string{"shop.Paid"}, Limit: 1})
		if err != nil || len(claimed) != 1 {
			t.Fatalf("Claim = %v, %v", claimed, err)
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	return times[len(times)/2]
}
