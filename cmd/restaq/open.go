package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
	"github.com/restaq/restaq/runtime/sqlite"
	"github.com/restaq/restaq/runtime/zstd"
)

// opened is a store that can be closed and migrated.
type opened interface {
	restaq.Store
	io.Closer
	Migrate(ctx context.Context) (applied []string, err error)
}

// errNoStore is an error of the command line.
var errNoStore = errors.New("no store: pass --store sqlite:PATH or --store postgres://…, or set RESTAQ_STORE")

// open opens the store that the flags or the environment name. Its schema is
// left alone unless migrate is set.
func (a *app) open(ctx context.Context, migrate bool) (opened, error) {
	address, schema := a.store, a.schema
	if address == "" {
		address = a.getenv("RESTAQ_STORE")
	}
	if schema == "" {
		schema = a.getenv("RESTAQ_SCHEMA")
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch {
	case address == "":
		return nil, errNoStore
	case scheme == "sqlite" && rest != "":
		if a.schema != "" {
			return nil, errors.New("--schema is for PostgreSQL")
		}
		s, err := sqlite.OpenConfig(sqlite.Config{Path: rest, NoMigrate: !migrate})
		if err != nil {
			return nil, failure{err}
		}
		return s, nil
	case scheme == "postgres" || scheme == "postgresql":
		s, err := postgres.OpenConfig(ctx, postgres.Config{URL: address, Schema: schema, MaxConns: 2, NoMigrate: !migrate})
		if err != nil {
			return nil, failure{err}
		}
		return s, nil
	}
	// The address is not shown: it may hold a password.
	return nil, errors.New("the store is neither sqlite:PATH nor postgres://…")
}

// verb is a cobra.Command.RunE that runs fn with the store's runtime, which has
// no handlers and so runs nothing.
func (a *app) verb(fn func(ctx context.Context, rt *restaq.Runtime, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		cfg, err := a.config()
		if err != nil {
			return err
		}
		store, err := a.open(ctx, false)
		if err != nil {
			return err
		}
		defer store.Close()
		rt, err := restaq.New(store, cfg)
		if err != nil {
			return failure{err}
		}
		if err := fn(ctx, rt, args); err != nil {
			return failure{err}
		}
		return nil
	}
}

// config is that of a runtime which only looks and asks: it has the keys of
// RESTAQ_KEYS, and reads what was compressed.
func (a *app) config() (restaq.Config, error) {
	cfg := restaq.Config{Logger: slog.New(slog.DiscardHandler), Compressor: zstd.New()}
	if text := a.getenv("RESTAQ_KEYS"); text != "" {
		var err error
		if cfg.Keyring, err = restaq.ParseKeys(text); err != nil {
			return cfg, fmt.Errorf("RESTAQ_KEYS: %w", err)
		}
	}
	return cfg, nil
}

// each does fn for each id and prints what it returns. What fails is reported,
// and the rest done all the same.
func (a *app) each(ctx context.Context, ids []string, fn func(ctx context.Context, id string) (restaq.Execution, error)) error {
	var failed error
	for _, id := range ids {
		e, err := fn(ctx, id)
		if err != nil {
			a.report(explain(id, err))
			failed = errReported
			continue
		}
		a.printLine(&e)
	}
	return failed
}

// printLine prints an execution as its id and status.
func (a *app) printLine(e *restaq.Execution) {
	a.print(e.ID + " " + a.paint(word(e), word(e)))
}

// explain says in the command's words what is wrong with the execution id.
func explain(id string, err error) error {
	if errors.Is(err, restaq.ErrNotFound) {
		return errors.New("no execution " + clean(id) + " in this store")
	}
	return err
}
