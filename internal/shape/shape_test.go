package shape

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

// declare type-checks a package p with the given declarations.
func declare(t *testing.T, decls string) *types.Package {
	t.Helper()
	return checkPackage(t, "example.com/p", "package p\n"+decls, nil)
}

type withExtra struct {
	types.Importer
	extra map[string]*types.Package
}

func (w withExtra) Import(path string) (*types.Package, error) {
	if p := w.extra[path]; p != nil {
		return p, nil
	}
	return w.Importer.Import(path)
}

var (
	fset = token.NewFileSet()
	std  = importer.ForCompiler(fset, "source", nil)
)

func checkPackage(t *testing.T, path, src string, extra map[string]*types.Package) *types.Package {
	t.Helper()
	file, err := parser.ParseFile(fset, path+".go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: withExtra{std, extra}}
	pkg, err := conf.Check(path, fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func shapeOf(t *testing.T, pkg *types.Package, name string) Shape {
	t.Helper()
	s, err := new(Shaper).Of(pkg.Scope().Lookup(name).Type(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func schemaText(t *testing.T, s Shape) string {
	t.Helper()
	data, err := json.Marshal(s.Schema)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSchemas(t *testing.T) {
	tests := []struct{ name, decls, want string }{
		{"kinds", `type T struct{ A bool; B string; C int; D uint8; E float32; F float64; G uint }`,
			`{"properties":{"A":{"type":"boolean"},"B":{"type":"string"},"C":{"type":"integer","format":"int64"},"D":{"type":"integer","format":"uint8"},"E":{"type":"number","format":"float"},"F":{"type":"number","format":"double"},"G":{"type":"integer","format":"uint64"}},"type":"object","required":["A","B","C","D","E","F","G"]}`},
		{"collections", `type T struct{ A []byte; B [2]byte; C []string; D map[string]int8; E map[int32]bool }`,
			`{"properties":{"A":{"type":"string","contentEncoding":"base64"},"B":{"items":{"type":"integer","format":"uint8"},"type":"array","maxItems":2,"minItems":2},"C":{"items":{"type":"string"},"type":"array"},"D":{"additionalProperties":{"type":"integer","format":"int8"},"type":"object"},"E":{"additionalProperties":{"type":"boolean"},"propertyNames":{"format":"int32"},"type":"object"}},"type":"object","required":["A","B","C","D","E"]}`},
		{"pointers may be null", `type T **int`,
			`{"anyOf":[{"type":"integer","format":"int64"},{"type":"null"}]}`},
		{"any is anything", `type T struct{ A any; B *any }`,
			`{"properties":{"A":true,"B":true},"type":"object","required":["A","B"]}`},
		{"tags", "type T struct{ A int `json:\"z,omitempty\"`; B int `json:\"-\"`; C int `json:\"-,\"`; D int `json:\",string\"`; E struct{} `json:\",omitempty\"`; F struct{} `json:\",omitzero\"`; G int `json:\"a\\\"b\"`; h int }",
			`{"properties":{"-":{"type":"integer","format":"int64"},"D":{"type":"string","contentMediaType":"application/json","contentSchema":{"type":"integer","format":"int64"}},"E":{"properties":{},"type":"object"},"F":{"properties":{},"type":"object"},"G":{"type":"integer","format":"int64"},"z":{"type":"integer","format":"int64"}},"type":"object","required":["-","D","E","G"]}`},
		{"embedded fields are flattened, the shallowest wins", `type T struct{ A; *B; X bool }
			type A struct{ X int; Y int; c }; type B struct{ Y string; Z string }; type c struct { W string }`,
			`{"properties":{"W":{"type":"string"},"X":{"type":"boolean"},"Z":{"type":"string"}},"type":"object","required":["W","X","Z"]}`},
		{"of equal depth a tagged one wins", "type T struct{ A; B }; type A struct{ X int `json:\"X\"` }; type B struct{ X string }",
			`{"properties":{"X":{"type":"integer","format":"int64"}},"type":"object","required":["X"]}`},
		{"embedded with a name is a member", "type T struct{ A `json:\"a\"` }; type A struct{ X int }",
			`{"properties":{"a":{"properties":{"X":{"type":"integer","format":"int64"}},"type":"object","required":["X"]}},"type":"object","required":["a"]}`},
		{"standard types", `import ("time"; "encoding/json"; "math/big"; "net/netip")
			type T struct{ A time.Time; B json.RawMessage; C json.Number; D *big.Int; E netip.Addr; F time.Duration }`,
			`{"properties":{"A":{"type":"string","format":"date-time"},"B":{"$ref":"go:encoding/json.RawMessage"},"C":{"type":"number"},"D":{"anyOf":[{"$ref":"go:math/big.Int"},{"type":"null"}]},"E":{"$ref":"go:net/netip.Addr","type":"string"},"F":{"type":"integer","format":"int64"}},"type":"object","required":["A","B","C","D","E","F"]}`},
		{"own methods make a type opaque", `type T struct{ A Amount; B []Word; C Odd }
			type Amount struct{ n int }; func (*Amount) UnmarshalJSON(b []byte) error { return nil }
			type Word string; func (Word) MarshalText() ([]byte, error) { return nil, nil }
			type Odd int; func (Odd) MarshalJSON() string { return "" }`,
			`{"properties":{"A":{"$ref":"go:example.com/p.Amount"},"B":{"items":{"$ref":"go:example.com/p.Word","type":"string"},"type":"array"},"C":{"type":"integer","format":"int64"}},"type":"object","required":["A","B","C"]}`},
		{"constants of a text type are told", `type T struct{ A Tier }; type Tier string; const (Gold Tier = "gold"; basic Tier = "basic"; again = Gold; Other = "x")`,
			`{"properties":{"A":{"type":"string","enum":["basic","gold"]}},"type":"object","required":["A"]}`},
		{"recursion goes by definitions", `type T struct{ Next *T; Kids []*T }`,
			`{"$ref":"#/$defs/T","$defs":{"T":{"properties":{"Kids":{"items":{"anyOf":[{"$ref":"#/$defs/T"},{"type":"null"}]},"type":"array"},"Next":{"anyOf":[{"$ref":"#/$defs/T"},{"type":"null"}]}},"type":"object","required":["Kids","Next"]}}}`},
		{"generic types are named with their arguments", `type T struct{ A, B Page[Item]; C Page[int] }; type Page[E any] struct{ Items []E }; type Item struct{ N int }`,
			`{"$defs":{"Page[Item]":{"properties":{"Items":{"items":{"properties":{"N":{"type":"integer","format":"int64"}},"type":"object","required":["N"]},"type":"array"}},"type":"object","required":["Items"]}},"properties":{"A":{"$ref":"#/$defs/Page[Item]"},"B":{"$ref":"#/$defs/Page[Item]"},"C":{"properties":{"Items":{"items":{"type":"integer","format":"int64"},"type":"array"}},"type":"object","required":["Items"]}},"type":"object","required":["A","B","C"]}`},
		{"an opaque generic type shows its arguments", `type T struct{ X Box[string] }; type Box[E any] struct{ v E }
			func (Box[E]) MarshalJSON() ([]byte, error) { return nil, nil }`,
			`{"properties":{"X":{"$ref":"go:example.com/p.Box","arguments":[{"type":"string"}]}},"type":"object","required":["X"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := schemaText(t, shapeOf(t, declare(t, tt.decls), "T"))
			if got != tt.want {
				t.Errorf("schema:\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestFingerprints compares T with U.
func TestFingerprints(t *testing.T) {
	tests := []struct {
		name, decls string
		equal       bool
	}{
		{"the order of fields does not matter", `type T struct{ A, B int }; type U struct{ B, A int }`, true},
		{"names of types do not matter", `type T struct{ A X }; type U struct{ A Y }; type X struct{ N int }; type Y struct{ N int }`, true},
		{"names of recursive types do not matter", `type T struct{ A *T }; type U struct{ A *U }`, true},
		{"named and plain kinds are alike", `type T struct{ A N }; type U struct{ A int64 }; type N int`, true},
		{"aliases are looked through", `type T struct{ A A }; type U struct{ A int }; type A = int`, true},
		{"unexported fields do not matter", `type T struct{ A int; b string }; type U struct{ A int }`, true},
		{"constants do not matter", `type T struct{ A X }; type U struct{ A Y }; type X string; type Y string; const C X = "c"`, true},
		{"a member's name matters", `type T struct{ A int }; type U struct{ B int }`, false},
		{"a member's type matters", `type T struct{ A int64 }; type U struct{ A int32 }`, false},
		{"a pointer matters", `type T struct{ A int }; type U struct{ A *int }`, false},
		{"omitempty matters", "type T struct{ A int }; type U struct{ A int `json:\",omitempty\"` }", false},
		{"the option string matters", "type T struct{ A int }; type U struct{ A int `json:\",string\"` }", false},
		{"an array's length matters", `type T [2]int; type U [3]int`, false},
		{"arguments of an opaque generic type matter", `type T struct{ A Box[int] }; type U struct{ A Box[string] }
			type Box[E any] struct{ v E }; func (Box[E]) MarshalJSON() ([]byte, error) { return nil, nil }`, false},
		{"kinds behind recursion matter", `type T struct{ A *T; N int }; type U struct{ A *U; N string }`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pkg := declare(t, tt.decls)
			a, b := shapeOf(t, pkg, "T").Fingerprint, shapeOf(t, pkg, "U").Fingerprint
			if (a == b) != tt.equal {
				t.Errorf("fingerprints %s and %s: equal %t, want %t", a, b, a == b, tt.equal)
			}
			if len(a) != 16 {
				t.Errorf("fingerprint %q: want 16 digits", a)
			}
		})
	}
}

// Every keyword that a schema can have shows in its canonical form.
func TestEachKeywordCounts(t *testing.T) {
	two := uint64(2)
	inner := &jsonschema.Schema{Type: "string"}
	properties := jsonschema.NewProperties()
	properties.Set("a", inner)
	seen := map[string]bool{"()": true}
	for _, s := range []*jsonschema.Schema{
		{Type: "a"}, {Format: "a"}, {ContentEncoding: "a"}, {ContentMediaType: "a"}, {Ref: "a"}, {Required: []string{"a"}},
		{Items: inner}, {AdditionalProperties: inner}, {PropertyNames: inner}, {ContentSchema: inner},
		{AnyOf: []*jsonschema.Schema{inner}}, {AnyOf: []*jsonschema.Schema{inner, inner}}, {Properties: properties},
		{Definitions: jsonschema.Definitions{"a": inner}}, {MinItems: &two, MaxItems: &two},
		{Extras: map[string]any{fingerprintKey: "a"}}, {Extras: map[string]any{argumentsKey: []*jsonschema.Schema{inner}}},
	} {
		form := string(canonical(nil, s))
		if seen[form] {
			t.Errorf("%+v: form %s met before", s, form)
		}
		seen[form] = true
	}
}

// A fingerprint, once written to a lock file and to stores, must stay.
func TestAFingerprintStaysForEver(t *testing.T) {
	pkg := declare(t, "type T struct{ ChargeID string `json:\"charge_id\"`; Amount int64; Tags []string; Next *T }")
	if got, want := shapeOf(t, pkg, "T").Fingerprint, "3a6d3582d49544a1"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
}

const eventSource = `package pay
	func Decode(eventType string, payload []byte) (any, error) { return nil, nil }
	const ChargeSucceededType = "pay.charge.succeeded"
	type ChargeSucceeded struct{ Data Charge }
	func (*ChargeSucceeded) chargeEvent() {}
	type ChargeEvent interface{ chargeEvent() }
	type Charge struct{ ID string; Refunds []Refund }
	type Refund struct { AMOUNT int }`

func TestTypesOfEventPackagesAreNamedNotExpanded(t *testing.T) {
	read := func(events, name string) (Shape, *types.Package) {
		pay := checkPackage(t, "example.com/pay", events, nil)
		pkg := checkPackage(t, "example.com/p", `package p; import "example.com/pay"
			type T struct{ Charge pay.Charge }; type U = pay.ChargeEvent; type V struct { E pay.ChargeEvent }`, map[string]*types.Package{"example.com/pay": pay})
		return shapeOf(t, pkg, name), pay
	}
	shape, pay := read(eventSource, "T")
	if !EventPackage(pay) {
		t.Fatal("not seen as an event package")
	}
	text := schemaText(t, shape)
	if !strings.Contains(text, `{"$ref":"go:example.com/pay.Charge","fingerprint":"`) || strings.Contains(text, "AMOUNT") {
		t.Errorf("schema: %s", text)
	}
	changed := strings.ReplaceAll(eventSource, "AMOUNT int", "AMOUNT string")
	for _, name := range []string{"T", "U"} {
		before, _ := read(eventSource, name)
		after, _ := read(changed, name)
		if before.Fingerprint == after.Fingerprint {
			t.Errorf("%s: a changed type behind an event type leaves the fingerprint", name)
		}
	}
}

func TestEventPackageNeedsDecodeAndAConstant(t *testing.T) {
	for _, src := range []string{
		strings.ReplaceAll(eventSource, "func Decode", "func DecodeIt"),
		strings.ReplaceAll(eventSource, "ChargeSucceededType", "Other"),
		strings.ReplaceAll(eventSource, "payload []byte", "payload string"),
	} {
		if EventPackage(checkPackage(t, "example.com/pay", src, nil)) {
			t.Errorf("seen as an event package:\n%s", src)
		}
	}
	if EventPackage(nil) {
		t.Error("nil is an event package")
	}
}

func TestInputsDependOnOrderAndNumber(t *testing.T) {
	s := new(Shaper)
	seen := map[string]bool{}
	for _, inputs := range [][]types.Type{
		{}, {types.Typ[types.Int]}, {types.Typ[types.String]},
		{types.Typ[types.Int], types.Typ[types.String]}, {types.Typ[types.String], types.Typ[types.Int]},
	} {
		print, err := s.Inputs(inputs)
		if err != nil {
			t.Fatal(err)
		}
		if seen[print] {
			t.Errorf("%v: fingerprint met before", inputs)
		}
		seen[print] = true
	}
}

// The compiler refuses such a type, but type errors do not stop the generator.
func TestAnEndlessTypeIsAnError(t *testing.T) {
	file, err := parser.ParseFile(fset, "p.go", "package p; type T struct { N N[int] }; type N[E any] struct { Next *N[[]E] }", 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, []*ast.File{file}, nil)
	if _, err := new(Shaper).Of(pkg.Scope().Lookup("T").Type(), pkg); err == nil || err.Error() != "T nests types without end" {
		t.Errorf("error %v", err)
	}
}

func TestTypesThatContainThemselvesWithoutAStruct(t *testing.T) {
	pkg := declare(t, `type Tree map[string]Tree; type Forest []Tree; type List []*List; type Same map[string]Same; type Node map[string]struct { Kids []Node }`)
	for name, want := range map[string]string{
		"Tree":   `{"$ref":"#/$defs/Tree","$defs":{"Tree":{"additionalProperties":{"$ref":"#/$defs/Tree"},"type":"object"}}}`,
		"Forest": `{"$defs":{"Tree":{"additionalProperties":{"$ref":"#/$defs/Tree"},"type":"object"}},"items":{"$ref":"#/$defs/Tree"},"type":"array"}`,
		"List":   `{"$ref":"#/$defs/List","$defs":{"List":{"items":{"anyOf":[{"$ref":"#/$defs/List"},{"type":"null"}]},"type":"array"}}}`,
		"Node":   `{"$ref":"#/$defs/Node","$defs":{"Node":{"additionalProperties":{"properties":{"Kids":{"items":{"$ref":"#/$defs/Node"},"type":"array"}},"type":"object","required":["Kids"]},"type":"object"}}}`,
	} {
		got, err := json.Marshal(shapeOf(t, pkg, name).Schema)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
	}
	if shapeOf(t, pkg, "Tree").Fingerprint != shapeOf(t, pkg, "Same").Fingerprint || shapeOf(t, pkg, "Tree").Fingerprint == shapeOf(t, pkg, "Forest").Fingerprint {
		t.Error("the fingerprint does not follow the shape")
	}
}

func TestTypesWithoutAJSONFormAreErrors(t *testing.T) {
	pkg := declare(t, `type F struct { R interface{ Foo() } }; type G struct{ I I }; type I interface { foo() }; type A chan int; type B struct{ F func() }; type C map[struct{}]int; type D complex128; type E []chan int`)
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "G"} {
		if _, err := new(Shaper).Of(pkg.Scope().Lookup(name).Type(), pkg); err == nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
