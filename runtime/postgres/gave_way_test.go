package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
)

// The server gives a transaction up in favour of another one: because of a
// deadlock, or, where somebody has made that the default, of a serialization
// failure. Whichever of the Store's tables that happens at, and in whichever
// call, no caller hears of it.
func TestATransactionThatGaveWayReachesNoCaller(t *testing.T) {
	for _, code := range []string{"40001", "40P01"} {
		t.Run(code, func(t *testing.T) {
			address := pgtest.URL(t)
			serializable(t, address)
			s := open(t, database{address, "restaq"})
			failTwice(t, address, code)
			ctx := t.Context()

			began := insertOne(t, s.Store, "evt_begun", true)
			waits := insertOne(t, s.Store, "evt_waits", false)
			lease := restaq.Lease{Execution: began, Attempt: 1, Token: 1}
			failTwice(t, address, code)
			step := restaq.StepRow{Attempt: 1, Seq: 1, Name: "pay", Status: restaq.StepCompleted}
			if err := s.Record(ctx, lease, &restaq.Progress{Steps: []restaq.StepRow{step}}); err != nil {
				t.Errorf("Record = %v", err)
			}
			failTwice(t, address, code)
			if lost, err := s.Renew(ctx, []restaq.Renewal{{Lease: lease}}, time.Minute); len(lost) > 0 || err != nil {
				t.Errorf("Renew = %v, %v", lost, err)
			}
			failTwice(t, address, code)
			if _, err := s.Finish(ctx, lease, &completed); err != nil {
				t.Errorf("Finish = %v", err)
			}
			failTwice(t, address, code)
			claimed, err := s.Claim(ctx, restaq.Claim{Owner: "me", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 1})
			if err != nil || len(claimed) != 1 || claimed[0].Execution.ID != waits {
				t.Errorf("Claim = %+v, %v", claimed, err)
			}
			failTwice(t, address, code)
			_, changed, err := s.Change(ctx, began, restaq.Change{
				From: []restaq.Status{restaq.Completed}, To: restaq.Pending, Kind: restaq.Restarted,
			})
			if err != nil || !changed {
				t.Errorf("Change = %t, %v", changed, err)
			}
		})
	}
}

// failTwice has the next two statements that write to each of the Store's
// tables fail with code.
func failTwice(t *testing.T, address, code string) {
	t.Helper()
	conn := connect(t, address)
	rows, err := conn.Query(t.Context(), `SELECT tablename::text FROM pg_tables WHERE schemaname = 'restaq'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	for _, table := range tables {
		exec(t, address, fmt.Sprintf(`
CREATE SEQUENCE IF NOT EXISTS fails_%[1]s;
SELECT setval('fails_%[1]s', 1, false);
CREATE OR REPLACE FUNCTION fail_%[1]s() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF nextval('fails_%[1]s') <= 2 THEN RAISE EXCEPTION 'gives way' USING ERRCODE = '%[2]s'; END IF;
	RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER fail BEFORE INSERT OR UPDATE OR DELETE ON restaq.%[1]s EXECUTE FUNCTION fail_%[1]s()`, table, code))
	}
}
