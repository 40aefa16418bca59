// Functions: handlers and steps without a receiver, keys of every kind.
package main

import (
	"context"
	"net/netip"
	str "strings"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	restaq "github.com/restaq/restaq/runtime"
)

type Region string

type Level uint8

type Batch struct {
	Names  []string `json:"names"`
	Region Region   `json:"region"`
}

//restaq:on load.batch order=event.Region
func load(ctx context.Context, event Batch) error {
	for i, name := range event.Names {
		if err := byNameStep(ctx, name); err != nil {
			return err
		}
		if err := byLowerStep(ctx, name, event.Region); err != nil {
			return err
		}
		if err := byIndexStep(ctx, i); err != nil {
			return err
		}
		if err := byLevelStep(ctx, Level(i)); err != nil {
			return err
		}
		if err := byAddressStep(ctx, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})); err != nil {
			return err
		}
		if err := byPointerStep(ctx, &event); err != nil {
			return err
		}
		event.Names = event.Names[1:]
	}
	return nil
}

//restaq:step key=name
func byName(ctx context.Context, name string) error { return show("by name", name) }

//restaq:step "key=str.ToLower(name) + suffix(\"-\", region)"
func byLower(ctx context.Context, name string, region Region) error {
	return show("by lower", name, region)
}

//restaq:step "key=index + 1"
func byIndex(ctx context.Context, index int) error { return show("by index", index) }

//restaq:step key=level
func byLevel(ctx context.Context, level Level) error { return show("by level", level) }

//restaq:step key=address
func byAddress(ctx context.Context, address netip.Addr) error { return show("by address", address) }

//restaq:step "key=b.Region + Region(rune('a'+len(b.Names)))"
func byPointer(ctx context.Context, b *Batch) error { return show("by pointer", len(b.Names)) }

func suffix(sep string, r Region) string { return sep + str.ToUpper(string(r)) }

func show(what string, args ...any) error {
	play.Say(append([]any{what}, args...)...)
	return nil
}

func main() {
	play.Run([]func(*restaq.Runtime) error{RegisterHandlers}, play.Event("load.batch", `{"names":["Ada","Bob"],"region":"eu"}`))
}
