package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// cost is what one execution takes.
type cost struct {
	statements float64 // that the server was asked to execute
	commits    float64 // that wrote something
	wal        float64 // bytes, without the images of whole pages after a checkpoint
	allocs     float64 // of this process
	bytes      float64 // allocated by this process
}

// meter counts what executions cost the server and this process.
type meter struct {
	conn    *pgx.Conn
	counter *counter
}

// measure runs n executions, so many at once, and returns the cost of one.
func (m *meter) measure(ctx context.Context, s subject, n, atOnce int) (cost, error) {
	var before, after runtime.MemStats
	from, err := m.position(ctx)
	if err != nil {
		return cost{}, err
	}
	statements := m.counter.statements.Load()
	runtime.ReadMemStats(&before)
	failed := make([]error, atOnce)
	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(n))
	for i := range atOnce {
		group.Go(func() {
			for left.Add(-1) >= 0 && failed[i] == nil {
				failed[i] = s.run(ctx, newID())
			}
		})
	}
	group.Wait()
	runtime.ReadMemStats(&after)
	per := func(total float64) float64 { return total / float64(n) }
	c := cost{
		statements: per(float64(m.counter.statements.Load() - statements)),
		allocs:     per(float64(after.Mallocs - before.Mallocs)),
		bytes:      per(float64(after.TotalAlloc - before.TotalAlloc)),
	}
	for _, err := range failed {
		if err != nil {
			return c, err
		}
	}
	to, err := m.position(ctx)
	if err != nil || from == to {
		return c, err
	}
	var commits, wal float64
	err = m.conn.QueryRow(ctx, `
SELECT coalesce(sum(count) FILTER (WHERE "resource_manager/record_type" LIKE 'Transaction/COMMIT%'), 0)::float8,
	sum(record_size)::float8
FROM pg_get_wal_stats($1::pg_lsn, $2::pg_lsn, true)`, from, to).Scan(&commits, &wal)
	if err != nil {
		return c, fmt.Errorf("read write-ahead log: %w", err)
	}
	c.commits, c.wal = per(commits), per(wal)
	return c, nil
}

// position is where the server's log has been written to.
func (m *meter) position(ctx context.Context) (lsn string, err error) {
	err = m.conn.QueryRow(ctx, `SELECT pg_current_wal_flush_lsn()::text`).Scan(&lsn)
	return lsn, err
}

// counter passes connections on to a server and counts the statements that it
// is asked to execute.
type counter struct {
	listener   net.Listener
	target     string
	statements atomic.Int64
}

// startCounter listens in front of the server at address.
func startCounter(address string) (*counter, string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	c := &counter{listener: listener, target: u.Host}
	u.Host = listener.Addr().String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go c.pass(client)
		}
	}()
	return c, u.String(), nil
}

func (c *counter) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(client, server) // ends when either side closes
		client.Close()
	}()
	c.forward(server, client)
}

// forward copies the client's messages. The first, of the start, has no type.
func (c *counter) forward(server io.Writer, client io.Reader) {
	var head [5]byte
	for start := 1; ; start = 0 {
		if _, err := io.ReadFull(client, head[start:]); err != nil {
			return
		}
		if kind := head[0]; start == 0 && (kind == 'E' || kind == 'Q') {
			c.statements.Add(1)
		}
		if _, err := server.Write(head[start:]); err != nil {
			return
		}
		if _, err := io.CopyN(server, client, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return
		}
	}
}
