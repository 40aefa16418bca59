package shape

import (
	"go/types"
	"strings"
	"testing"
)

func TestGuardedTypes(t *testing.T) {
	item := checkPackage(t, "example.com/item", `package item
		type Item struct{ N Count; Of *Box[Count] }
		type Count int
		type Box[T any] struct{ V T }
		type Hidden struct{ n int; M Behind }
		type Behind []string
		type unexported struct{ N int }
		type Shows struct{ U unexported }`, nil)
	lib := checkPackage(t, "other.org/lib", `package lib
		import "example.com/item"
		type Lib struct { I item.Box[string] }`, map[string]*types.Package{"example.com/item": item})
	pay := checkPackage(t, "example.com/pay", eventSource, nil)
	pkg := checkPackage(t, "example.com/p", `package p
		import ("example.com/item"; "example.com/pay"; "other.org/lib"; "time")
		type T struct {
			When time.Time; own own; Items map[string][]item.Item; H item.Hidden; S item.Shows
			L lib.Lib; C pay.Charge; A Alias; M Marshals; Any any; self *T; un struct { X Level }
		}
		type own struct { f func(own) chan int }
		type Alias = Level
		type Level uint8
		type Marshals struct { F Level2 }
		type Level2 int
		func (Marshals) MarshalJSON() ([]byte, error) { return nil, nil }`,
		map[string]*types.Package{"example.com/item": item, "other.org/lib": lib, "example.com/pay": pay})
	inModule := func(p *types.Package) bool { return strings.HasPrefix(p.Path(), "example.com/") }
	var got []string
	for _, n := range Guarded(pkg, inModule, []types.Type{pkg.Scope().Lookup("T").Type()}, nil) {
		got = append(got, types.TypeString(n, (*types.Package).Name))
	}
	want := "p.Level p.T p.own item.Behind item.Box[item.Count] item.Box[string] item.Count item.Item"
	if strings.Join(got, " ") != want {
		t.Errorf("Guarded = %s\nwant      %s", strings.Join(got, " "), want)
	}
}

func TestInternalFolders(t *testing.T) {
	for _, tt := range []struct {
		path, from string
		want       bool
	}{
		{"example.com/a/b", "example.com/c", true},
		{"example.com/a/internal/b", "example.com/a", true},
		{"example.com/a/internal/b", "example.com/a/c", true},
		{"example.com/a/internal", "example.com/ab", false},
		{"example.com/a/internal/b", "example.com/c", false},
		{"example.com/internal/b/internal/c", "example.com/internal/d", false},
		{"internal/x", "example.com/c", true}, // the module's own, if it has no dot
	} {
		if got := importable(tt.path, tt.from); got != tt.want {
			t.Errorf("importable(%q, %q) = %t, want %t", tt.path, tt.from, got, tt.want)
		}
	}
}
