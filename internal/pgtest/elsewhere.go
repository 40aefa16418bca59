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

	// Dir is the folder that gets the server's folder.
	Dir string

	// Settings are more of the server's settings, NAME=VALUE.
	Settings []string
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

// Pooler is a PgBouncer.
type Pooler struct{}

// StartPooler fails: on this system there are no poolers.
func StartPooler(context.Context, string, PoolMode) (*Pooler, error) {
	return nil, errors.New("no PgBouncer on this system")
}

// URL returns "".
func (p *Pooler) URL(string) (string, error) { return "", nil }

// Stop does nothing.
func (p *Pooler) Stop() error { return nil }
