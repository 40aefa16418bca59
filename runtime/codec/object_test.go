package codec

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

type point struct{ X, Y, Z, Label int }

var pointFields = Fields{Names: []string{"X", "Y", "Z", "Label"}}

func decodePoint(d *Decoder, v *point) {
	for i := d.Object(&pointFields); i >= 0; i = d.Next(&pointFields, i) {
		DecodeInt(d, [...]*int{&v.X, &v.Y, &v.Z, &v.Label}[i])
	}
}

// The order of members is learned from texts: what is learned from one must
// show in no other, whoever reads at the same time.
func TestMembersMayComeInAnyOrder(t *testing.T) {
	members := []string{`"X":1`, `"Y":2`, `"Z" : 3`, `"Label":4`, `"x":5`, `"label":6`, `"lab":7`, ` "Y":8`, `"\u0058":9`, `"":[0]`}
	var readers sync.WaitGroup
	for seed := range uint64(4) {
		readers.Go(func() {
			r, read := rand.New(rand.NewPCG(seed, 0)), Reader(decodePoint)
			for range 2 * maxLearned {
				order := r.Perm(len(members))[:r.IntN(len(members)+1)]
				var list []string
				for _, i := range order {
					list = append(list, members[i])
				}
				text := "{" + strings.Join(list, []string{",", ", ", "\n,"}[r.IntN(3)]) + "}"
				var got, want point
				if err := read([]byte(text), &got); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				if err := json.Unmarshal([]byte(text), &want); err != nil || got != want {
					t.Errorf("%s: have %v, want %v, %v", text, got, want, err)
				}
			}
		})
	}
	readers.Wait()
	if n := pointFields.index.Load().learned.Load(); n < maxLearned || n > maxLearned+4 {
		t.Errorf("learned %d times, want some %d", n, maxLearned)
	}
}
