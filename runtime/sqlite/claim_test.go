package sqlite

import (
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

func TestAHandlerNamedTwiceIsClaimedOnce(t *testing.T) {
	s := mustOpen(t, Config{Path: newPath(t)})
	mustInsert(t, s, "evt_1")
	claimed, err := s.Claim(t.Context(), restaq.Claim{
		Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid", "shop.Paid"}, Limit: 5,
	})
	if err != nil || len(claimed) != 1 {
		t.Errorf("Claim took %d executions, %v; want 1", len(claimed), err)
	}
}

func TestAPollThatFindsNothingTakesNoLock(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, Config{Path: path})
	unlock := lock(t, path)
	defer unlock()
	claimed, err := s.Claim(t.Context(), restaq.Claim{Owner: "o", Lease: time.Minute, Handlers: []string{"shop.Paid"}, Limit: 5})
	if err != nil || len(claimed) != 0 {
		t.Errorf("Claim = %v, %v; want nothing", claimed, err)
	}
}
