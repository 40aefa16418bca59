package sqlite

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
)

// BenchmarkExecution is the store's part of one execution of four steps: look
// up, insert and begin, four records, finish.
func BenchmarkExecution(b *testing.B) {
	for _, n := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint(n, " at once"), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "restaq.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			var ids atomic.Int64
			b.SetParallelism(n) // times GOMAXPROCS
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := execute(b, s, fmt.Sprint("evt_", ids.Add(1))); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
		})
	}
}

func execute(b *testing.B, s *Store, id string) error {
	ctx := b.Context()
	if _, err := s.Lookup(ctx, "acme", id, false); err == nil {
		return fmt.Errorf("event %s is there", id)
	}
	lease := restaq.Lease{Execution: "execution-" + id, Attempt: 1, Token: 1}
	_, _, err := s.Insert(ctx, &restaq.Insertion{
		Event:      &restaq.Event{Source: "acme", Provider: "acme", ID: id, Type: "acme.order", Payload: make([]byte, 1000)},
		Executions: []restaq.NewExecution{{ID: lease.Execution, Handler: "shop.Paid", Begin: true}},
		Owner:      "owner", Lease: time.Minute,
	})
	if err != nil {
		return err
	}
	now := time.Now()
	for seq := range 4 {
		err := s.Record(ctx, lease, &restaq.Progress{Steps: []restaq.StepRow{{
			Attempt: 1, Seq: seq + 1, Name: "step", Func: "example.com/shop.step", Status: restaq.StepCompleted,
			Output: make([]byte, 100), Inputs: make([]byte, 17), Shape: "shape", StartedAt: now, EndedAt: now,
		}}})
		if err != nil {
			return err
		}
	}
	_, err = s.Finish(ctx, lease, &restaq.Outcome{Status: restaq.Completed, Attempt: restaq.AttemptCompleted})
	return err
}
