package sqlite

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/storetest"
)

// clocks are the clocks of files: what passed on one passed for each handle.
type clocks struct{ byPath sync.Map }

func (c *clocks) of(path string) *atomic.Int64 {
	ahead, _ := c.byPath.LoadOrStore(path, &atomic.Int64{})
	return ahead.(*atomic.Int64)
}

// open opens a Store whose clock is that of its file.
func (c *clocks) open(path string) (*Store, error) {
	s, err := OpenConfig(Config{Path: path, TxTimeout: time.Minute}) // for busy machines
	if err != nil {
		return nil, err
	}
	ahead := c.of(s.path)
	s.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	return s, nil
}

func (c *clocks) mustOpen(t *testing.T, path string) *Store {
	t.Helper()
	s, err := c.open(path)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, s)
	return s
}

func closeAfter(t *testing.T, s *Store) {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestStoreMeetsTheContract(t *testing.T) {
	var c clocks
	storetest.Run(t, storetest.Backend{
		Tx: txs(),
		Open: func(t *testing.T) restaq.Store {
			return c.mustOpen(t, filepath.Join(t.TempDir(), "restaq.db"))
		},
		Reopen: func(t *testing.T, s restaq.Store) restaq.Store {
			return c.mustOpen(t, s.(*Store).path)
		},
		Advance: func(_ *testing.T, s restaq.Store, d time.Duration) {
			c.of(s.(*Store).path).Add(int64(d))
		},
		Contend: func(t *testing.T) func() (restaq.Store, error) {
			path := filepath.Join(t.TempDir(), "restaq.db")
			return func() (restaq.Store, error) {
				s, err := c.open(path)
				if err == nil {
					closeAfter(t, s)
				}
				return s, err
			}
		},
	})
}
