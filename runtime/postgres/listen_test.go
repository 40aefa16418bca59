package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/restaq/restaq/internal/pgtest"
	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/postgres"
)

func TestListeningSurvivesALostConnection(t *testing.T) {
	url := pgtest.URL(t)
	store, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx, cancel := context.WithCancel(t.Context())
	notices := make(chan restaq.Notice, 16)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		store.Listen(ctx, func(n restaq.Notice) { notices <- n })
	}()
	next := func() restaq.Notice {
		t.Helper()
		select {
		case n := <-notices:
			return n
		case <-time.After(20 * time.Second):
			t.Fatal("no notice")
			return restaq.Notice{}
		}
	}
	silent := func(n restaq.Notice) bool { return n.From == "" && len(n.Handlers) == 0 && len(n.Cancelled) == 0 }
	if n := next(); !silent(n) {
		t.Fatalf("first notice %+v, want the zero one: it listens", n)
	}

	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tag, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN %'`)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("terminated %v listeners, %v", tag, err)
	}
	if n := next(); !silent(n) {
		t.Fatalf("after the connection was lost: %+v, want the zero notice", n)
	}
	if err := store.Notify(t.Context(), restaq.Notice{From: "me", Handlers: []string{"h"}, Cancelled: []string{"id"}}); err != nil {
		t.Fatal(err)
	}
	if n := next(); n.From != "me" || len(n.Handlers) != 1 || n.Handlers[0] != "h" || len(n.Cancelled) != 1 {
		t.Errorf("notice %+v", n)
	}
	if err := store.Notify(t.Context(), restaq.Notice{Handlers: []string{strings.Repeat("x", 10_000)}}); err != nil {
		t.Fatal(err)
	}
	if n := next(); !silent(n) {
		t.Errorf("a notice that is too long came as %+v", n)
	}
	cancel()
	<-ended
}

func TestBehindAPoolerThereIsNoListening(t *testing.T) {
	url := pgtest.URL(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	store, err := postgres.Open(t.Context(), url+separator+"default_query_exec_mode=exec")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	store.Listen(t.Context(), func(n restaq.Notice) { t.Errorf("notice %+v", n) }) // returns at once
	if err := store.Notify(t.Context(), restaq.Notice{From: "me"}); err != nil {
		t.Error(err)
	}
}
