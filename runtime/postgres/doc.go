// Package postgres keeps events and executions in PostgreSQL: 13 or newer,
// tested with 15.
//
//	store, err := postgres.Open(ctx, "postgres://user:password@host/database")
//
// Any number of processes may share a database. Open makes the tables, in a
// schema of their own, or brings them up to date; processes that start
// together wait for each other. A program works with a schema that a newer
// release of the same major version has brought up to date, so that a rolling
// deploy may migrate first.
//
// # Tables
//
// The tables event, execution and entry only grow (until a prune). The table
// work has one row for each execution that is not completed: its status, when it
// is due, who has the lease, the fencing token. It stays small, so claiming costs
// the same however many executions have completed.
//
//	           Insert              Finish
//	(none) ──────────▶ row of work ──────▶ (none: completed)
//	                    ▲      │ ▲             │
//	                    │      └─┘             │ Change
//	                    │  Claim, Renew,       │
//	                    │  Finish, Change      │
//	                    └──────────────────────┘
//
// # Who may write
//
// Each lease has a log, the rows of entry under its token: the steps of the
// attempt, at positions from 1 on without a gap, and last its end.
//
//	token 1   step 1, step 2, lost
//	token 2   step 2, step 3, completed
//
// An entry follows only entries that are committed or commit with it. Whoever
// voids a lease (Claim when it ran out, Change when it cancels) first ends its
// log: it inserts the end at the first free position. An owner inserts its steps
// and its own end there too, without a look at anything else. So both want the
// same position, and the primary key decides: one waits for the other's commit
// and then finds the position taken. A write of the owner's either commits
// before the end, and the next owner sees it, or fails and has written nothing.
// A statement that comes late, however late, finds its position taken in the same
// way.
//
// The owner knows the position: it has been the only one to write. Where it does
// not (an answer was lost, a write failed) it goes the careful way. That locks
// the execution's row of work and tests the token in the same statement, and
// takes the position from the log as it is. What is there already it recognises
// by the numbers of its calls. Record locks FOR KEY SHARE; Claim, Finish and
// Change lock FOR UPDATE, which conflicts with it, and test again what they have
// locked. Renewals lock FOR NO KEY UPDATE and wait for no write; a row that is
// held otherwise is renewed after the others.
//
// # Order keys
//
// A delivery takes its place under an order key by a lock (take_place) that
// belongs to its transaction: whoever takes a later place commits later. So a
// snapshot that shows an execution shows all that stand before it.
//
//	deliveries of a key    take_place: lock, place ──▶ commit, unlock
//	claims of a key        take_turn: lock or pass over, look ──▶ commit, unlock
//
// A claim decides about a key while no other claim does, after a look at what
// those before have left. Ends of attempts need no lock: they only free a key.
// Both locks are advisory, of a transaction, and of keys alone, so executions
// without a key know nothing of them. A claim goes from key to key and looks at
// the first execution of each; what stands behind it costs nothing.
//
// # Shared commits
//
// Lookups, deliveries, records and outcomes that are asked for at once share a
// commit: a statement or a few for each kind, all in one round trip. Nothing
// waits in order to be combined: a call goes at once if no commit is under way,
// else with all that has queued up when that commit ends.
//
//	Lookup, Insert ──┐                    done    ┌──▶ result
//	Record, Finish ──┴──▶ shared commit ──────────┤
//	                       one connection         │ held, there already, special
//	                                              └──▶ the careful way: a
//	                                                   statement of its own
//
// A shared statement does what is plain, and waits 200 ms at most for a lock; if
// it fails, nothing of the commit was done. Whatever is left goes the careful
// way, by its own caller, with the caller's context, on a connection of the pool.
// So a call that fails or waits does so alone. A caller whose context ends leaves
// at once; a commit that is under way goes on for the others. Parameters and
// results are in PostgreSQL's binary format, in buffers that are used again.
//
// # Connections
//
// Beside the pool (Config.MaxConns) a Store has a connection for shared
// commits, one for renewals and one that listens. Nothing that runs in the
// pool, steps with transactions least of all, can use these up.
//
// All of them are made within 5 s, and given up within 10 s when the other side
// is out of reach, by the process and by the server; a transaction whose client
// says nothing for 10 s, or for half a lease in a step, is rolled back. So a
// process that was stopped or cut off holds no lock when a lease of the default
// length runs out. Limits that the URL sets stand:
//
//	connect_timeout, tcp_keepalives_idle, tcp_keepalives_interval,
//	tcp_keepalives_count, tcp_user_timeout, statement_timeout,
//	idle_in_transaction_session_timeout, transaction_timeout
//
// # What can go wrong
//
// Each method is one statement, or one short transaction, at READ COMMITTED,
// whatever the database's default. Transactions that the server rolls back in
// favour of others (a serialization failure, a deadlock) are repeated until
// ctx ends, and no caller hears of them.
//
// A connection that is lost in the middle of a call makes the call fail, and
// those that share its commit: they may or may not have committed. The same
// call may be made again; it recognises what it did before. Idle connections
// are then not used again, as a server that restarts ends them all.
//
// Leases and due times are the server's clock, so the clocks of the processes
// may differ.
//
// The URL option default_query_exec_mode=exec makes do without prepared
// statements and without anything that lasts in a session, as behind PgBouncer
// in transaction mode. Open finds out that it is missing and says so.
package postgres
