package generate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/generate"
	"github.com/restaq/restaq/internal/load"
)

// randomTypes is for how many random types codecs are generated, besides the
// structs inside them.
const randomTypes = 60

// TestCodecsOfRandomTypes generates codecs for types made at random, builds
// them, and compares them with encoding/json on random values and on damaged
// texts.
func TestCodecsOfRandomTypes(t *testing.T) {
	dir, err := os.MkdirTemp("testdata", "random-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("types.go", randomPackage(rand.New(rand.NewPCG(seed, 0))))
	result, problems := generate.Packages(context.Background(), load.Config{Dir: dir, Patterns: []string{"."}}, generate.Options{Fuzz: true, Fresh: true})
	for _, p := range problems {
		t.Error(p)
	}
	for _, f := range result.Files {
		if len(f.Content) > 0 {
			write(filepath.Base(f.Path), string(f.Content))
		}
	}
	write("codecs_test.go", `package random

import (
	"testing"

	"github.com/restaq/restaq/runtime/codec/codectest"
)

func TestCodecs(t *testing.T) { codectest.Test(t, 30, restaqCodecs...) }
`)
	for _, args := range [][]string{{"vet", "."}, {"test", "-run", "TestCodecs", "."}} {
		if out, err := command(dir, "go", args...).CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%.4000s", args[0], err, out)
		}
	}
}

// randomPackage is the source of a package with random types, each of which a
// step takes and returns.
func randomPackage(r *rand.Rand) string {
	m := maker{r: r}
	var b strings.Builder
	b.WriteString(randomHeader)
	for i := range randomTypes {
		m.known = i
		fmt.Fprintf(&b, "\ntype T%d %s\n", i, m.declared())
		fmt.Fprintf(&b, "\n//restaq:step\nfunc step%d(ctx context.Context, v T%d) (*T%d, error) { return &v, nil }\n", i, i, i)
	}
	return b.String()
}

const randomHeader = `package random

import (
	"context"
	"encoding/json"
	"math/big"
	"net/netip"
	"time"

	"github.com/restaq/restaq/runtime/codec/codectest/corpus/foreign"
	"github.com/restaq/restaq/runtime/payload"
)

var (
	_ json.RawMessage
	_ big.Int
	_ netip.Addr
	_ time.Time
	_ foreign.Open
	_ payload.Unix
)

type (
	E0 struct {
		Deep string
		ID   int "json:\"id\""
	}
	E1 struct {
		E0
		Name string "json:\"name,omitempty\""
	}
	E2 struct {
		*E1
		Deep int
	}
)
`

// maker makes random types.
type maker struct {
	r     *rand.Rand
	known int // how many types are declared already
}

var scalars = []string{
	"bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "string", "string", "string",
	"any", "time.Time", "json.RawMessage", "json.Number", "[]byte", "time.Duration", "foreign.Open", "foreign.Closed", "foreign.Embeds", "foreign.Color", "foreign.Cents",
	"foreign.Shy", "foreign.Day", "foreign.Level", "foreign.Key", "foreign.Code", "foreign.Half", "netip.Addr", "big.Int", "payload.Number", "payload.Time", "payload.Unix", "payload.Expandable[foreign.Open]",
}

var keys = []string{"string", "string", "int", "int8", "uint16", "foreign.Color", "foreign.Level", "foreign.Key", "foreign.Code", "netip.Addr"}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// declared is what a type is declared as.
func (m *maker) declared() string {
	if m.r.IntN(8) == 0 {
		return []string{"[]" + m.typ(1), "map[" + pick(m.r, keys) + "]" + m.typ(1), "[3]" + m.typ(1), pick(m.r, []string{"string", "int16", "float64", "bool"})}[m.r.IntN(4)]
	}
	return m.structure(0)
}

// typ is any type.
func (m *maker) typ(depth int) string {
	if depth > 3 {
		return pick(m.r, scalars)
	}
	switch m.r.IntN(14) {
	case 0:
		return "[]" + m.typ(depth+1)
	case 1:
		return "map[" + pick(m.r, keys) + "]" + m.typ(depth+1)
	case 2:
		return "*" + m.typ(depth+1)
	case 3:
		return fmt.Sprintf("[%d]%s", m.r.IntN(3), m.typ(depth+1))
	case 4:
		return m.structure(depth + 1)
	case 5, 6:
		if m.known > 0 {
			return fmt.Sprintf("T%d", m.r.IntN(m.known))
		}
	case 7: // a type that may contain itself
		return fmt.Sprintf("[]*T%d", m.r.IntN(m.known+1))
	case 8:
		return "payload.Nullable[" + m.typ(depth+1) + "]"
	}
	return pick(m.r, scalars)
}

var names = []string{"a", "b", "id", "ID", "Id", "name", "kind", "a_b", "größe", "k", "url", "<x>", "value", "type"}

var options = []string{"", "", "", ",omitempty", ",omitzero", ",omitempty,omitzero", ",string", ",string,omitempty"}

// structure is a struct type. The names of its members differ from each other
// but not from those of structs it embeds.
func (m *maker) structure(depth int) string {
	var b strings.Builder
	b.WriteString("struct {\n")
	used := map[string]bool{}
	for i := range 1 + m.r.IntN(7) {
		name := pick(m.r, names)
		if m.r.IntN(3) == 0 || used[name] {
			name = ""
		}
		used[name] = true
		tag := name + pick(m.r, options)
		if tag != "" {
			tag = fmt.Sprintf(" `json:%q`", tag)
		}
		fmt.Fprintf(&b, "\tF%d_%d %s%s\n", depth, i, m.typ(depth+1), tag)
	}
	if depth == 0 && m.known > 0 && m.r.IntN(3) == 0 {
		fmt.Fprintf(&b, "\t%s\n", []string{"E", "*E"}[m.r.IntN(2)]+fmt.Sprint(m.r.IntN(3)))
	}
	b.WriteString("}")
	return b.String()
}
