//go:build !(linux || darwin || freebsd)

package pgtest

import (
	"context"
	"errors"
)

// Config says how a private server is started.
type Config struct {
	// Fsync makes commits wait for the disk.
	Fsync bool
}

// Server is a PostgreSQL server.
type Server struct{ url string }

// URL returns the address of the server's database postgres.
func (s *Server) URL() string { return s.url }

// Start fails: on this system there are no private servers.
func Start(context.Context, Config) (*Server, error) {
	return nil, errors.New("no private PostgreSQL server on this system: set " + Env + " to the URL of one")
}

// Stop does nothing.
func (s *Server) Stop() error { return nil }
