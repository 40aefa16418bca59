package restaq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Runtime receives events and runs handlers on one store. A process has one
// per store. All its methods are safe for concurrent use.
//
// A process that only receives registers its handlers and does not call Run:
// its executions are run by the processes that do.
type Runtime struct {
	raw   Store // as it was given to New, with its abilities
	store Store // raw, behind the vault and seen by the observer if there is one
	vault *vault
	cfg   Config
	known *knownErrors

	unseen bool   // there is no observer
	owner  string // of this runtime's leases
	ids    idSource

	mu       sync.Mutex
	registry registry
	sealed   bool // no more registrations

	announce chan struct{} // full while the store is told of the handlers
	told     atomic.Bool   // set by who fills announce
	key      []byte        // of input fingerprints; set once told

	work    work
	turn    int // of registry.claimed, whose handler is claimed first; the claim loop's
	notices notices
	leftOut leftOut

	meterStore Meter // nil if the store is none
	meter      meter
}

// announceTimeout bounds one try of telling the store of the handlers.
const announceTimeout = 10 * time.Second

// New returns a runtime on store. Its error says which field of cfg cannot be
// used.
func New(store Store, cfg Config) (*Runtime, error) {
	if store == nil {
		return nil, errors.New("new runtime: store is nil")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("new runtime: %w", err)
	}
	if err := cfg.Retention.unsupported(store); err != nil {
		return nil, fmt.Errorf("new runtime: %w", err)
	}
	known, err := newKnownErrors(cfg.Errors)
	if err != nil {
		return nil, fmt.Errorf("new runtime: %w", err)
	}
	if c, ok := store.(Clocked); ok {
		c.SetClock(cfg.Now)
	}
	rt := &Runtime{
		raw: store, store: store, cfg: cfg, known: known,
		announce: make(chan struct{}, 1),
		registry: registry{handlers: make(map[string]*handler), steps: make(map[string]*stepPart)},
	}
	if cfg.Observer == nil {
		rt.cfg.Observer, rt.unseen = unseen{}, true
	} else {
		rt.store = observed{rt.store, rt}
		if c, ok := store.(Committer); ok {
			c.SeeCommits(func(writes int) { rt.call("observer", func() { cfg.Observer.Commit(writes) }) })
		}
	}
	rt.vault = &vault{keyring: cfg.Keyring, compressor: cfg.Compressor, above: cfg.CompressAbove}
	rt.store = vaulted{rt.store, rt.vault}
	rt.meterStore, _ = store.(Meter)
	rt.owner = rt.newID()
	rt.work.init(cfg.Concurrency)
	return rt, nil
}

func (rt *Runtime) newID() string { return rt.ids.next(time.Now()) }

// Register adds handlers and steps; generated RegisterHandlers methods call
// it. It must be called before the first delivery and before Run. If it
// returns an error, nothing of parts is registered.
func (rt *Runtime) Register(parts ...Part) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.sealed {
		return fmt.Errorf("register: %w", ErrNotRegistered)
	}
	next, before := rt.registry.clone(), len(rt.registry.names)
	for _, p := range parts {
		if p == nil {
			return errors.New("register: a part is nil")
		}
		if err := p.register(&next); err != nil {
			return fmt.Errorf("register: %w", err)
		}
		if s, ok := p.(stepPart); ok {
			if err := rt.checkTransaction(s.info.Name, s.tx); err != nil {
				return fmt.Errorf("register: %w", err)
			}
		}
	}
	next.describe(next.names[before:], parts)
	rt.registry = next
	return nil
}

// closeRegistry ends registration.
func (rt *Runtime) closeRegistry() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if len(rt.registry.handlers) == 0 {
		return ErrNotRegistered
	}
	rt.sealed = true
	return nil
}

// seal ends registration and tells the store of the handlers.
func (rt *Runtime) seal(ctx context.Context) error {
	if rt.told.Load() {
		return nil
	}
	if err := rt.closeRegistry(); err != nil {
		return err
	}
	select {
	case rt.announce <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-rt.announce }()
	if rt.told.Load() {
		return nil
	}
	key, err := rt.fingerprintKey(ctx)
	if err != nil {
		return fmt.Errorf("read fingerprint key: %w", err)
	}
	rt.key = key
	if dir, ok := rt.raw.(Directory); ok {
		if err := dir.PutHandlers(ctx, rt.registry.infos(rt.cfg.Redact)); err != nil {
			return fmt.Errorf("announce handlers: %w", err)
		}
	}
	rt.told.Store(true)
	return nil
}

// sealUntil is seal, repeated while the store cannot be reached.
func (rt *Runtime) sealUntil(ctx context.Context) error {
	for n := 1; ; n++ {
		try, cancel := context.WithTimeout(ctx, announceTimeout)
		err := rt.seal(try)
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrNotRegistered) {
			return err
		}
		rt.cfg.Logger.Warn("restaq: cannot begin to run", "error", firstLine(errorText(err), 200), "tries", n)
		wait := time.NewTimer(Backoff{50 * time.Millisecond, 5 * time.Second}.Delay(n))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// Handlers returns what is known of handlers, by name: those that any process
// has told the store of, and those that are registered here. It is for tools;
// a handler that no process has any more is among them.
func (rt *Runtime) Handlers(ctx context.Context) ([]HandlerInfo, error) {
	known := make(map[string]HandlerInfo)
	if dir, ok := rt.raw.(Directory); ok {
		infos, err := dir.Handlers(ctx)
		if err != nil {
			return nil, fmt.Errorf("list handlers: %w", err)
		}
		for _, info := range infos {
			known[info.Name] = info
		}
	}
	rt.mu.Lock()
	for _, info := range rt.registry.infos(rt.cfg.Redact) {
		known[info.Name] = info
	}
	rt.mu.Unlock()
	infos := make([]HandlerInfo, 0, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		infos = append(infos, known[name])
	}
	return infos, nil
}

// has reports whether the handler is registered here.
func (rt *Runtime) has(handler string) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.registry.handlers[handler] != nil
}

// mayOrder reports whether the handler's executions may have order keys: if it
// is not registered here, this is not known.
func (rt *Runtime) mayOrder(handler string) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	h := rt.registry.handlers[handler]
	return h == nil || h.order != nil
}

// Invoke runs the function of a registered step from its encoded inputs, and
// returns its encoded output. It neither looks for a record nor makes one: it
// is for engines that run steps in another process than their handler. fn is
// the step's Func; an unknown one is ErrNotFound.
func (rt *Runtime) Invoke(ctx context.Context, fn string, inputs []byte) (output []byte, err error) {
	rt.mu.Lock()
	s := rt.registry.steps[fn]
	rt.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("invoke step function %s: %w", fn, ErrNotFound)
	}
	err = guard(func() error {
		output, err = s.invoke(WithStep(ctx, s.info.Name), inputs)
		return err
	})
	return output, err
}
