package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
)

func TestIdsAreReadAsPostgresReadsThem(t *testing.T) {
	const id = "0192f0c1-9abc-7def-8123-456789abcdef"
	for _, text := range []string{
		id, strings.ToUpper(id), strings.ReplaceAll(id, "-", ""), "00000000-0000-0000-0000-000000000000",
		"", "x", id[:35], id + "0", "g" + id[1:], id[:35] + "-", id[:14] + "-" + id[15:],
	} {
		var want pgtype.UUID
		valid := want.Scan(text) == nil
		if got, ok := parseID(text); ok != valid || ok && got != want {
			t.Errorf("%q: %v, %v; want %v, %v", text, got, ok, want, valid)
		}
	}
	if n := testing.AllocsPerRun(10, func() { parseID(id) }); n != 0 {
		t.Errorf("%v allocations to read an id, want none", n)
	}
}
