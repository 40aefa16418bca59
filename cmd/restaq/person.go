package main

import (
	"context"
	"os"
	"os/user"

	restaq "github.com/restaq/restaq/runtime"
)

// signed returns a context under which what is asked for is written to the
// store's audit, in the name of who runs the command.
func signed(ctx context.Context) context.Context {
	return restaq.WithPerson(ctx, person())
}

// person is USER@HOST, by what the system knows.
func person() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != "" {
		host = h
	}
	return name + "@" + host
}
