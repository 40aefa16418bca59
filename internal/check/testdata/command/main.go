//go:build unix

package main

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

func main() {}

//restaq:on a.b
func handle(ctx context.Context, e restaq.Event) error { return nil }
