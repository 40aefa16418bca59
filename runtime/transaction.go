package restaq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Transactor is a store in whose transactions steps can write: their writes
// and their record are committed together or not at all. It is an optional
// ability.
type Transactor interface {
	// TxType is the type of the transactions as it is written in Go: "pgx.Tx"
	// or "*sql.Tx".
	TxType() string

	// Transact begins a transaction, calls fn, appends the progress that fn
	// returns as Record does, and commits. The lease is checked in between,
	// under the lock that holds off a take-over until the commit. d is how
	// long a lease lasts: a transaction whose process has stopped ends sooner.
	//
	// Whatever goes wrong, a panic of fn included, rolls back. fn gets a
	// context that ends with the transaction. It is called once at most, and
	// not at all if no transaction could be begun. Its error comes back as it
	// is, unless the transaction ended for a reason of its own, which then
	// comes back. ErrLeaseLost says what it says of Record. A function that
	// ended the transaction by itself makes it ErrTransactionEnded, marked
	// Permanent; one that rolled back and returned an error is let pass.
	//
	// ErrUncertain says that the commit may have been done: Recorded tells.
	// ErrConnectionLost says that the transaction was lost before the commit,
	// by no fault of fn: with its connection, or for want of a disk.
	Transact(ctx context.Context, lease Lease, d time.Duration, fn func(ctx context.Context, tx any) (*Progress, error)) error

	// Recorded reports whether the row seq of the lease's attempt is stored,
	// after it has waited for the end of the transaction that may store it.
	Recorded(ctx context.Context, lease Lease, seq int) (bool, error)
}

// An Outbox is a store that can insert an event in a transaction of its
// users. It is an optional ability.
type Outbox interface {
	// InsertTx is Insert of a new event, none of whose executions begins at
	// once, in a transaction that the caller commits. If the event is there
	// already, created is false and executions are those that its delivery
	// made. After an error the transaction is of no more use.
	InsertTx(ctx context.Context, tx any, in *Insertion) (created bool, executions []Execution, err error)
}

var (
	// ErrTransactionEnded says that a step's function committed or rolled back
	// the transaction that it was given, which is the runtime's to do.
	ErrTransactionEnded = errors.New("the step ended its transaction itself: leave that to the runtime, which commits when the function returns nil and rolls back when it returns an error")

	// ErrUncertain says that the answer to a commit was lost.
	ErrUncertain = errors.New("the answer to the commit was lost")

	// ErrConnectionLost says that a transaction was rolled back because the
	// connection to the database was lost, or the disk under it failed or is
	// full.
	ErrConnectionLost = errors.New("the transaction was rolled back: the connection was lost, or the disk failed, before it was committed")
)

// transactionKey marks the context of a function that has a transaction.
type transactionKey struct{}

// transactionScope is what the runtime knows of a function that has a
// transaction.
type transactionScope struct {
	step string // record name

	mu      sync.Mutex
	pending []string // handlers that have work once it is committed
}

func (s *transactionScope) pend(executions []Execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range executions {
		s.pending = append(s.pending, executions[i].Handler)
	}
}

func transactionFrom(ctx context.Context) *transactionScope {
	s, _ := ctx.Value(transactionKey{}).(*transactionScope)
	return s
}

// checkTransaction reports why the runtime's store cannot run a step.
func (rt *Runtime) checkTransaction(name, tx string) error {
	if tx == "" {
		return nil
	}
	has := "has no transactions for steps"
	if t, ok := rt.raw.(Transactor); ok {
		if t.TxType() == tx {
			return nil
		}
		has = "gives " + t.TxType()
	}
	needed := "a store with such transactions"
	switch tx {
	case "pgx.Tx":
		needed = "a store of package postgres"
	case "*sql.Tx":
		needed = "a store of package sqlite"
	}
	return fmt.Errorf("step %q takes a transaction of type %s and needs %s; %T %s", name, tx, needed, rt.raw, has)
}

// txTry is one try of a step that takes a transaction. To lose touch with the
// database is no failure of the step: the transaction is begun anew.
type txTry struct {
	*attempt
	store Transactor
	step  *stepRun
	row   StepRow
	scope *transactionScope
	lost  time.Time // when the first transaction was

	called    bool // the function was
	output    []byte
	written   Progress
	failure   error // of the step: nothing of it is stored
	uncertain bool  // all of it may be stored
}

// transact runs a step that takes a transaction, in which row is recorded as
// the step's completion. Whatever else comes of it is not recorded yet:
// failure is the step's own, err one that is not.
func (a *attempt) transact(ctx context.Context, r *stepRun, row StepRow) (output []byte, failure, err error) {
	if err := a.rt.checkTransaction(r.name(), r.call.Tx); err != nil {
		return nil, Permanent(err), nil
	}
	t := &txTry{attempt: a, store: a.rt.raw.(Transactor), step: r, row: row}
	ctx, cancel := r.timeout(ctx)
	defer cancel()
	err = a.persist("run transaction", func(store context.Context) error {
		if t.uncertain {
			return t.settle(store)
		}
		return t.transact(ctx)
	})
	if t.failure != nil && context.Cause(ctx) == errStepTimeout {
		t.failure = errStepTimeout
	}
	if err != nil || t.failure != nil {
		return nil, t.failure, err
	}
	a.mu.Lock()
	a.dropWritten(t.written.Steps)
	a.mu.Unlock()
	t.scope.mu.Lock()
	defer t.scope.mu.Unlock()
	for _, handler := range t.scope.pending {
		a.rt.pend(handler)
	}
	return t.output, nil, nil
}

// transact has the store run the function and works out what that came to. An
// error says that it is to be tried again: nothing is stored, or, if uncertain
// is set, that is to be found out.
func (t *txTry) transact(ctx context.Context) error {
	if err := t.ensureLease(); err != nil { // touch may have been lost for long
		return err
	}
	t.called, t.failure, t.scope = false, nil, &transactionScope{step: t.step.name()}
	err := t.store.Transact(ctx, t.lease, t.rt.cfg.Lease, t.call)
	switch {
	case err == nil:
	case t.failure == nil && errors.Is(err, ErrUncertain):
		t.uncertain = true
		return err
	case t.failure == nil && errors.Is(err, ErrLeaseLost):
		return err
	case errors.Is(err, ErrConnectionLost) && ctx.Err() == nil:
		return t.again(err)
	case t.called || ctx.Err() != nil:
		t.failure = err // with the store's reason, if it had one
	default:
		return err
	}
	return nil
}

// again has the function called again after its transaction was lost. A step
// that has been losing its transactions for a whole lease fails: it may be what
// ends the connection.
func (t *txTry) again(err error) error {
	if t.lost.IsZero() {
		t.lost = time.Now()
	}
	if time.Since(t.lost) < t.rt.cfg.Lease {
		t.failure = nil
		return err
	}
	t.failure = err
	return nil
}

// call calls the function and returns what is to be recorded.
func (t *txTry) call(ctx context.Context, tx any) (*Progress, error) {
	t.called = true
	ctx = context.WithValue(ctx, transactionKey{}, t.scope)
	t.failure = guard(func() (err error) {
		t.output, err = t.step.call.RunTx(ctx, tx)
		return err
	})
	if t.failure == nil {
		t.failure = checkOutput(t.output)
	}
	if t.failure == nil {
		t.failure = context.Cause(ctx) // a result after the deadline is none
	}
	if t.failure != nil {
		return nil, t.failure
	}
	t.row.EndedAt = t.now()
	t.step.complete(&t.row, t.output)
	t.written = t.progress(t.step, []StepRow{t.row})
	return t.rt.vault.sealProgress(ctx, t.lease.Execution, &t.written)
}

// settle finds out what became of a commit whose answer was lost.
func (t *txTry) settle(ctx context.Context) error {
	recorded, err := t.store.Recorded(ctx, t.lease, t.row.Seq)
	if err != nil {
		return err
	}
	t.uncertain = false
	if !recorded {
		return t.again(ErrConnectionLost)
	}
	return nil
}

// nested refuses a step inside the transaction of another: its record would be
// committed apart from it, and wait for it where a store writes once at a
// time.
func nested(ctx context.Context, call *StepCall) error {
	scope := transactionFrom(ctx)
	if scope == nil {
		return nil
	}
	return Permanent(fmt.Errorf("step %s is called in the transaction of step %s: call it from the handler", call.Name, scope.step))
}

// DeliverTx is Deliver within a transaction of the caller's, which the caller
// commits: an event of the program's own goes out if and only if the rest of
// the transaction does. tx is a transaction of the store's database, of the
// store's kind: a pgx.Tx or a *sql.Tx, begun by the caller or given to a step.
//
// The event counts as delivered once the transaction is committed, and its
// executions begin then: at once if tx was given to a step or if the store tells
// processes of each other (package postgres), else at the next poll. After a
// rollback there is no such event, the receipt is void, and the event may be
// delivered again. Until either, whoever else delivers the same event waits.
// After an error the transaction can only be rolled back. ErrUnsupported says
// that the store has no such transactions.
func (rt *Runtime) DeliverTx(ctx context.Context, tx any, event Event) (Receipt, error) {
	if err := event.validate(); err != nil {
		return Receipt{}, fmt.Errorf("deliver in transaction: %w: %w", ErrInvalidEvent, err)
	}
	outbox, ok := rt.raw.(Outbox)
	if !ok {
		return Receipt{}, fmt.Errorf("deliver in transaction: %T: %w", rt.raw, ErrUnsupported)
	}
	// The store is not told of the handlers here: that is a write of its own.
	if err := rt.closeRegistry(); err != nil {
		return Receipt{}, fmt.Errorf("deliver in transaction: %w", err)
	}
	event.Header = storedHeader(event.Header)
	if event.Payload == nil {
		event.Payload = []byte{}
	}
	in := &Insertion{Event: &event}
	notice := &Notice{} // of nobody: this process does not know when either
	for _, h := range rt.registry.subscribers(event.Type) {
		in.Executions = append(in.Executions, rt.newExecution(h, &event))
		notice.Handlers = append(notice.Handlers, h.name)
	}
	scope := transactionFrom(ctx)
	if scope == nil && len(in.Executions) > 0 {
		in.Notice = notice
	}
	if len(in.Executions) == 0 {
		switch rt.cfg.Unhandled {
		case DropUnhandled:
			return Receipt{}, nil
		case KeepUnhandledWithoutPayload:
			event.Payload, event.Header = nil, nil
		}
	}
	in, err := rt.vault.sealInsertion(ctx, in)
	if err != nil {
		return Receipt{}, fmt.Errorf("deliver event %s from %s in transaction: %w", event.ID, event.Source, err)
	}
	created, executions, err := outbox.InsertTx(ctx, tx, in)
	if err != nil {
		return Receipt{}, fmt.Errorf("deliver event %s from %s in transaction: %w", event.ID, event.Source, err)
	}
	if scope != nil && created {
		scope.pend(executions)
	}
	return Receipt{Duplicate: !created, Executions: executions}, nil
}
