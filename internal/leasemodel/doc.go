// Package leasemodel is a model of the lease protocol, small enough to look at
// every order in which things can happen.
//
// There is one execution of two steps, with its row of work. Two workers claim
// it, load its records, run its steps, record them, renew their leases, finish
// or give back. They crash at any moment, while a statement of theirs is at the
// server too, and answers of statements that have committed get lost. Time lets
// leases run out. A person restarts and cancels.
//
// A statement is three moments, between which anything else may happen, as in
// PostgreSQL at READ COMMITTED:
//
//	begin    it takes its snapshot; what does not qualify there is left alone
//	lock     it locks the row, or waits, or skips a row that is locked, and
//	         tests again what it has locked
//	commit   what it wrote can be seen, and its locks are gone
//
// Locks conflict as PostgreSQL's do: FOR KEY SHARE (a record), FOR NO KEY
// UPDATE (a renewal, any plain UPDATE), FOR UPDATE (claim, finish, change). A
// step's transaction is a record whose commit takes its time.
//
// Tokens of the past are forgotten as soon as nobody can write with them, so
// the number of states is bounded though the number of claims, crashes and
// wishes is not.
//
// Positions are a model of their own: of the log that a lease has on PostgreSQL,
// where an attempt's records lock nothing and want the same position as whoever
// ends the log. Connections are lost there while their statements go on at the
// server and come late, and an owner that does not know where its log ends looks,
// or ought to. It follows two leases of one execution.
//
// Explore, ExplorePositions for the second, visits all states and returns the
// shortest way to one that breaks a property. The properties are the constants
// of type Property. The tests run them on the protocols as they are, which must
// hold, and on ways to write them wrong, each of which must be found wrong.
package leasemodel
