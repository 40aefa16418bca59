//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fault is what a proxy does to one request of PostgreSQL's protocol: the
// messages of a client up to one that asks for an answer.
type fault int

const (
	none         fault = iota
	loseAnswer         // the server has answered, so committed; the connection breaks before the client hears of it
	cutAnswer          // the connection breaks half-way through the answer
	cutQuestion        // the connection breaks half-way through the request
	swallowReply       // the server commits; the connection stays open and silent
	swallowHalf        // the server hears half of it; the connection stays open and silent
	swallowAll         // the server hears nothing; the connection stays open and silent
	delay              // the request waits
	faults
)

func (f fault) String() string {
	return [...]string{"none", "lose answer", "cut answer", "cut question", "swallow reply", "swallow half", "swallow all", "delay"}[f]
}

// proxy stands between a worker and a server. Its faults come at random.
type proxy struct {
	t      *testing.T
	target string // host:port
	url    string // for the worker
	pick   func() fault

	calm   atomic.Bool            // no more faults
	silent atomic.Bool            // all connections, old and new, are black holes
	commit atomic.Pointer[func()] // called at the next COMMIT, which then gets lost
	counts [faults]atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// newProxy starts a proxy before the server of a database URL, calm at first.
// It ends with t.
func newProxy(t *testing.T, database string, pick func() fault) *proxy {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, target: u.Host, pick: pick, conns: make(map[net.Conn]bool)}
	p.calm.Store(true)
	u.Host = listener.Addr().String()
	p.url = u.String()
	var serving sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for c := range p.conns {
			c.Close()
		}
		p.conns = nil
		p.mu.Unlock()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			if p.keep(client) {
				serving.Go(func() { p.serve(client) })
			}
		}
	})
	return p
}

// keep notes a connection, to be closed at the end at the latest.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// passage is one connection through the proxy.
type passage struct {
	p              *proxy
	client, server net.Conn
	answer         atomic.Int64 // the fault that the next answer meets
}

// serve passes messages on until one side closes.
func (p *proxy) serve(client net.Conn) {
	defer p.drop(client)
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	if !p.keep(server) {
		return
	}
	defer p.drop(server)
	pass := &passage{p: p, client: client, server: server}
	var both sync.WaitGroup
	both.Go(func() {
		pass.questions()
		server.Close() // a client that has gone ends the passage, a silent one too
	})
	both.Go(func() {
		pass.answers()
		if !p.silent.Load() {
			client.Close() // a partition tells nobody
		}
	})
	both.Wait()
}

// readMessage reads one message; the first of a client has no type.
func readMessage(r *bufio.Reader, first bool) ([]byte, error) {
	head := 5
	if first {
		head = 4
	}
	message := make([]byte, head)
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(message[head-4:]))
	if length < 4 || length > 1<<28 {
		return nil, fmt.Errorf("message of %d bytes", length)
	}
	message = append(message, make([]byte, length-4)...)
	_, err := io.ReadFull(r, message[head:])
	return message, err
}

// questions passes the client's requests on. The messages of one are held
// back until it is whole, as they share a segment on the way.
func (s *passage) questions() {
	from := bufio.NewReader(s.client)
	var request []byte
	mute := false
	for first := true; ; first = false {
		message, err := readMessage(from, first)
		if err != nil {
			return
		}
		request = append(request, message...)
		if !first && bytes.IndexByte([]byte("PBDEC"), message[0]) >= 0 {
			continue // Parse, Bind, Describe, Execute, Close: more is to come
		}
		if !first && (message[0] == 'S' || message[0] == 'Q') { // Sync, Query: an answer is wanted
			if message[0] == 'Q' && string(message[5:]) == "commit\x00" {
				if called := s.p.commit.Swap(nil); called != nil {
					(*called)()
					mute = true
				}
			}
			f := none
			if !s.p.calm.Load() {
				f = s.p.pick()
			}
			s.p.counts[f].Add(1)
			switch f {
			case delay:
				<-time.After(time.Duration(rand.N(300)) * time.Millisecond)
			case cutQuestion:
				_, _ = s.server.Write(request[:len(request)/2])
				return
			case swallowHalf:
				_, _ = s.server.Write(request[:len(request)/2])
				mute = true
			case swallowAll:
				mute = true
			default:
				s.answer.Store(int64(f))
			}
		}
		mute = mute || s.p.silent.Load() // what was lost breaks the stream for good
		if !mute {
			if _, err := s.server.Write(request); err != nil {
				return
			}
		}
		request = request[:0]
	}
}

// answers passes the server's messages on.
func (s *passage) answers() {
	from := bufio.NewReader(s.server)
	mute := false
	for {
		message, err := readMessage(from, false)
		if err != nil {
			return
		}
		last := message[0] == 'Z' // ReadyForQuery: the transaction is over
		switch fault(s.answer.Load()) {
		case loseAnswer:
			if last {
				return
			}
			continue
		case cutAnswer:
			if last || rand.N(2) == 0 {
				_, _ = s.client.Write(message[:1+rand.N(len(message)-1)])
				return
			}
		case swallowReply:
			mute = true
		}
		if mute || s.p.silent.Load() {
			mute = true
			continue
		}
		if _, err := s.client.Write(message); err != nil {
			return
		}
	}
}

// sometimes returns one of the faults with a probability of one in n.
func sometimes(n int, of ...fault) func() fault {
	return func() fault {
		if rand.N(n) > 0 {
			return none
		}
		return of[rand.N(len(of))]
	}
}
