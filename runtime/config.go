package restaq

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Config adjusts a Runtime. The zero Config is a good one.
type Config struct {
	// Logger gets the runtime's log lines and is what Logger(ctx) builds on.
	// Default: slog.Default(). No line holds a payload, a key or a secret.
	Logger *slog.Logger

	// Concurrency bounds the executions that run at once in this process.
	// Default: 64. Raise it for handlers that mostly wait.
	Concurrency int

	// Attempts is how many attempts an execution gets before it is dead.
	// Default: 10. A handler or step may say otherwise. More, or a longer
	// Backoff, outlast longer outages of what handlers call.
	Attempts int

	// Backoff is the wait between attempts. Default: 1 s to 10 min. A handler or
	// step may say otherwise.
	Backoff Backoff

	// Lease is how long an execution belongs to this process after its last
	// renewal; it is renewed every third of that. Default: 30 s. A shorter one
	// frees the work of a crashed process sooner and costs more writes. At least
	// 10 ms.
	Lease time.Duration

	// Poll is how often the store is asked for due work that this process has
	// not heard of: retries, and what no notice told. Default: 1 s. A shorter one
	// begins them sooner and costs each process more statements.
	Poll time.Duration

	// HandoverTimeout is how long an execution is left to other processes if it
	// has a record that this build cannot read and may be too old for, as while a
	// deploy is under way. Its clock is the store's. After that the execution is
	// dead, with a ShapeError, and waits for a person. Default: 15 min, more than
	// most deploys take.
	HandoverTimeout time.Duration

	// DeadBlocksKey makes a dead execution keep its order key: those of the
	// same handler and key that were stored after it wait until a person has
	// retried, restarted or cancelled it. Default: they go on without it. One
	// whose key could not be computed has none and blocks nothing. All
	// processes on a store should agree.
	DeadBlocksKey bool

	// ShutdownTimeout is how long Run waits for attempts under way after its
	// context ended, before it cuts them off. Default: 25 s, below the 30 s
	// that orchestrators grant. Attempts that take longer want more of both.
	ShutdownTimeout time.Duration

	// DeliverTimeout bounds the storing of one webhook request; beyond it the
	// answer is 503. Default: 2.5 s, below the shortest deadline of a provider
	// (3 s).
	DeliverTimeout time.Duration

	// Now is the clock for timestamp tolerances and for the times of a memory
	// store. Default: time.Now.
	Now func() time.Time

	// StrictInputs makes it a permanent error that a recorded step is asked
	// for with other inputs. By default history and log say "input changed".
	StrictInputs bool

	// Errors lists the errors that errors.Is and errors.As find again in a
	// permanent step failure that an earlier attempt recorded. A typed nil
	// pointer, such as (*CardError)(nil), or the zero value of another type
	// stands for its type, which is recorded as JSON; any other value is a
	// sentinel, recorded by its text, which must be unique in the list.
	Errors []error

	// Unhandled says what becomes of an event that no handler subscribes to.
	// Default: KeepUnhandled.
	Unhandled Unhandled

	// Redact names the fields of payloads that are masked wherever people look
	// at events of this process's handlers: "email" for every member of that
	// name, "data.object.email" for the one there; package redact has the rules.
	// The store remembers the names for tools. Default: none.
	Redact []string

	// Retention says how long what is over is kept. Default: for ever.
	Retention Retention

	// Keyring has the keys by which payloads, headers, outputs and stacks are
	// encrypted in the store, each for its place. Ids, types, names, times and
	// the texts of errors are not: they are searched. All processes on a store
	// need the same keys. Default: nothing is encrypted.
	Keyring Keyring

	// Compressor makes payloads and outputs of CompressAbove bytes or more
	// smaller; package zstd has one. Default: none. CompressAbove: 256 KiB.
	Compressor    Compressor
	CompressAbove int

	// Hooks are called after deliveries, attempts, steps and deaths. Default:
	// none.
	Hooks Hooks

	// Observer sees what the runtime does, for traces and metrics: package
	// otel has one. Default: none.
	Observer Observer
}

// Unhandled says what becomes of an event that no handler subscribes to. It is
// acknowledged in any case.
type Unhandled int

// What becomes of events that nobody subscribes to.
const (
	KeepUnhandled               Unhandled = iota // stored; ReplayEvent can run it later
	KeepUnhandledWithoutPayload                  // its id and type are stored
	DropUnhandled                                // not stored
)

// withDefaults returns c with its zero fields filled in, or says which field
// cannot be used.
func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	setDefault(&c.Concurrency, 64)
	setDefault(&c.Attempts, 10)
	setDefault(&c.Lease, 30*time.Second)
	setDefault(&c.Poll, time.Second)
	setDefault(&c.CompressAbove, 256<<10)
	setDefault(&c.ShutdownTimeout, 25*time.Second)
	setDefault(&c.DeliverTimeout, 2500*time.Millisecond)
	setDefault(&c.HandoverTimeout, 15*time.Minute)
	c.Backoff = c.Backoff.or(Backoff{time.Second, 10 * time.Minute})
	return c, c.validate()
}

// minLease is the shortest lease: below it renewing would be all that a process
// does.
const minLease = 10 * time.Millisecond

func setDefault[T comparable](field *T, def T) {
	if *field == *new(T) {
		*field = def
	}
}

func (c *Config) validate() error {
	var errs []error
	bad := func(field string, wrong bool) {
		if wrong {
			errs = append(errs, fmt.Errorf("%s: must not be negative", field))
		}
	}
	bad("Concurrency", c.Concurrency < 0)
	bad("Attempts", c.Attempts < 0)
	if c.Lease < minLease {
		errs = append(errs, fmt.Errorf("Lease: must be at least %v", minLease))
	}
	bad("Poll", c.Poll < 0)
	bad("CompressAbove", c.CompressAbove < 0)
	if c.Compressor != nil && (c.Compressor.Name() == "" || len(c.Compressor.Name()) > 32) {
		errs = append(errs, errors.New("Compressor: its name must have 1 to 32 bytes"))
	}
	bad("ShutdownTimeout", c.ShutdownTimeout < 0)
	bad("DeliverTimeout", c.DeliverTimeout < 0)
	bad("HandoverTimeout", c.HandoverTimeout < 0)
	if err := c.Backoff.validate(); err != nil {
		errs = append(errs, fmt.Errorf("Backoff: %w", err))
	}
	if err := c.Retention.validate(); err != nil {
		errs = append(errs, err)
	}
	if c.Unhandled < KeepUnhandled || c.Unhandled > DropUnhandled {
		errs = append(errs, fmt.Errorf("Unhandled: unknown value %d", c.Unhandled))
	}
	return errors.Join(errs...)
}
