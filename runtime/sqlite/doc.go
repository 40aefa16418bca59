// Package sqlite keeps events and executions in one SQLite file: the embedded
// store, for a service on one machine.
//
// Any number of processes on that machine may open the file. It is in WAL mode
// with synchronous=FULL: what a call has stored is on the disk before the call
// returns. Beside the file stand others, with the suffixes -wal, -shm and -owners,
// that belong to it. The tables have the prefix restaq_, so that a program may
// keep its own in the same file. The file must be on a local disk.
//
// # Writing
//
// SQLite lets one connection write at a time. Each Store has one connection
// for that and one goroutine, the writer, that owns it. Calls that write queue
// up; the writer takes whatever has queued up while its last commit was under
// way and commits it together:
//
//	callers ──▶ queue ──▶ BEGIN IMMEDIATE ─▶ one call after the other ─▶ COMMIT ──▶ answers
//
// A call that fails before it has written anything fails its caller, and the
// transaction goes on. If one fails later, nothing is stored: the others are
// run again without it, and it alone. If the commit fails, each call is tried
// again in a transaction of its own, so that again each fails for itself.
//
// BEGIN IMMEDIATE takes the lock of the file, so that whatever a transaction
// reads holds until it commits. That is why the statements of this package are
// safe under races in their plain form: no two of the transactions, of any
// process, run at the same time. Reads outside the writer see one snapshot
// each.
//
// The writer remembers the executions that run, as its connection left them:
// a record and an outcome read nothing. SQLite counts the commits of all other
// connections; when a transaction finds that count changed, what was
// remembered is forgotten and read anew.
//
// Writer and readers are connections on SQLite itself and not on database/sql,
// which would take as much time again; see
// docs/decisions/0005-sqlite-without-database-sql.md.
//
// # Steps with a transaction
//
// A step that takes a *sql.Tx gets one on a connection of its own, and the
// writer stands still until it has ended:
//
//	BEGIN IMMEDIATE ─▶ lease ─▶ the step ─▶ record ─▶ COMMIT
//
// A hook of the connection makes a rollback of every commit but the Store's.
// The transaction is rolled back after Config.TxTimeout, even if the step does
// not return. Between two of them the writer commits what has queued up, so
// that a renewal waits for one at most. A call that would write from within,
// and so wait for itself, is an error.
//
// # Processes
//
// A lease that has run out is taken over, as on every store. Here a process
// need not wait for that if the other has ended: each keeps a byte of the file
// with the suffix -owners locked, and a lock that is free proves that its
// owner's leases are void. The file is never removed by the Store; without it,
// on file systems of other machines and where the operating system has no such
// locks (Linux, macOS and Windows have them), leases run out.
//
//	running ──lease runs out, or the lock of its owner is free──▶ taken over
//	   ▲                                                              │
//	   └────────────── next attempt, the old one is lost ◀────────────┘
//
// # Failures
//
// While another process holds the lock, the writer waits for up to 30 seconds;
// a caller waits for as long as its context lets it. A write that the disk
// refuses is an error to its caller, and the Store goes on. Time is the
// machine's clock, as all processes that share the file share the machine.
package sqlite
