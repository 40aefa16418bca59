package leasemodel

import (
	"strings"
	"testing"
)

func TestTheProtocolHolds(t *testing.T) {
	r := Explore(Real())
	if r.Broken != "" {
		t.Fatalf("broken: %s, by\n\t%s", r.Broken, strings.Join(r.Way, "\n\t"))
	}
	t.Logf("%d states", r.States)
	// What does not happen shows nothing.
	for _, worker := range names {
		for _, what := range []string{
			"worker W sends claim", "worker W skips the locked row", "worker W finds that the row is not due any more",
			"claim of worker W commits", "claim of worker W commits, unheard", "worker W loads the records",
			"worker W starts a step", "worker W is refused", "worker W is refused after it waited",
			"record of worker W commits", "record of worker W commits, unheard",
			"renewal of worker W commits", "renewal of worker W commits, unheard", "renewal of worker W is refused",
			"finish of worker W commits", "finish of worker W commits, unheard", "worker W learns that it has finished",
			"return of worker W commits", "lease over by the clock of W", "worker W crashes",
			"lease over by the database's clock", "the person's restart commits", "the person's cancel commits",
		} {
			if what = strings.ReplaceAll(what, "W", worker); r.Moves[what] == 0 {
				t.Errorf("never happened: %s", what)
			}
		}
	}
}

// Each way to write the protocol wrong breaks the properties that it is about.
func TestWrongProtocolsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		wrong  func(p *Protocol)
		breaks []Property
	}{
		{"a record tests its token in its snapshot", func(p *Protocol) { p.recordLock = noLock },
			[]Property{OnlyTheLiveTokenWrites, NoRecordAfterLoad, NoStepRunsAgain}},
		{"take-over by plain UPDATE, records lock FOR KEY SHARE", func(p *Protocol) { p.claimLock = noKeyUpdate },
			[]Property{OnlyTheLiveTokenWrites, NoRecordAfterLoad, NoStepRunsAgain}},
		{"cancel by plain UPDATE, records lock FOR KEY SHARE", func(p *Protocol) { p.changeLock = noKeyUpdate },
			[]Property{OnlyTheLiveTokenWrites}},
		{"a claim does not repeat its condition on the locked row", func(p *Protocol) { p.claimRechecks = false },
			[]Property{OnlyDueIsTaken, FinalStays}},
		{"a finish reads the wish in its snapshot", func(p *Protocol) { p.finishLocksWish = false },
			[]Property{NoWishIsLost}},
		{"a finish does not test the locked row", func(p *Protocol) { p.finishTestsRow = false },
			[]Property{OnlyTheLiveTokenWrites, FinalStays, AttemptsEndOnce}},
		{"a change reads the status in its snapshot", func(p *Protocol) { p.changeLock = noLock },
			[]Property{NoWishIsLost, FinalStays, AttemptsEndOnce}},
		{"a renewal names the execution, not the token", func(p *Protocol) { p.renewTestsToken = false },
			[]Property{OnlyTheLiveTokenWrites}},
		{"a step starts without a look at the clock", func(p *Protocol) { p.startsOnLease = false },
			[]Property{NoStepOnALostLease}},
		{"nobody claims", func(p *Protocol) { p.noneClaimed = true },
			[]Property{NothingIsStuck}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Real()
			test.wrong(&p)
			for _, property := range test.breaks {
				r := Explore(p, property)
				if r.Broken != property {
					t.Errorf("holds in all of %d states: %s", r.States, property)
					continue
				}
				t.Logf("broken after %d states: %s, by\n\t%s", r.States, property, strings.Join(r.Way, "\n\t"))
			}
		})
	}
}

func TestPositionsHold(t *testing.T) {
	r := ExplorePositions(RealPositions())
	if r.Broken != "" {
		t.Fatalf("broken: %s, by\n\t%s", r.Broken, strings.Join(r.Way, "\n\t"))
	}
	t.Logf("%d states", r.States)
	for _, what := range []string{
		"worker one sends record", "worker one sends a careful record", "worker one sends a careful finish",
		"record of worker one commits, unheard", "record of worker one finds its position filled",
		"record of worker one finds its token gone",
		"late record finds its position filled", "late record commits", "late finish commits", "late finish finds its token gone",
		"claim of worker two finds its position filled", "claim of worker two skips the locked row",
		"the person's cancel finds its position filled", "the person's cancel commits",
		"worker one learns that it has finished", "worker one is refused", "worker two crashes",
	} {
		if r.Moves[what] == 0 {
			t.Errorf("never happened: %s", what)
		}
	}
}

func TestWrongPositionsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		wrong  func(p *Positions)
		breaks []Property
	}{
		{"a take-over and a cancel leave the log open", func(p *Positions) { p.endsLogs = false },
			[]Property{OnlyTheLiveTokenWrites, NoRecordAfterLoad}},
		{"a take-over takes what it could not end", func(p *Positions) { p.endsFirst = false },
			[]Property{OnlyTheLiveTokenWrites, NoRecordAfterLoad}},
		{"an owner that does not know goes on past what it has sent", func(p *Positions) { p.looks = false },
			[]Property{OnlyTheLiveTokenWrites, NoRecordAfterLoad, LogsHaveNoGap}},
		{"an owner does not recognise its own steps", func(p *Positions) { p.finds = false },
			[]Property{StepsAreWrittenOnce}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := RealPositions()
			test.wrong(&p)
			for _, property := range test.breaks {
				r := ExplorePositions(p, property)
				if r.Broken != property {
					t.Errorf("holds in all of %d states: %s", r.States, property)
					continue
				}
				t.Logf("broken after %d states: %s, by\n\t%s", r.States, property, strings.Join(r.Way, "\n\t"))
			}
		})
	}
}
