// Package chaos shows the guarantees with real processes and a real server. It
// has tests only: a test binary that runs itself again as the worker processes.
//
// A fleet is a database, a ledger and the worker processes on it, each with the
// real runtime, a real store and an HTTP server. Senders post webhooks to the
// workers and, like a provider, post again until they get a 2xx. The steps
// write to the ledger, an append-only file that no store knows of: when they
// begin, what they return, and what their wrappers return. Meanwhile something
// bad happens. At the end the ledger, the senders' acknowledgements and the
// histories in the store are laid side by side:
//
//   - every acknowledged event has one execution, the one that every receipt
//     named, and it has finished;
//   - no step began again after its record was there, restarts aside;
//   - what a wrapper returned is what was recorded, and what was recorded is
//     what a step returned;
//   - what a step wrote in the store's transaction is there exactly once if it
//     has a record, and not at all if it has none;
//   - attempts are numbered without a gap, one follows the other, and those cut
//     off are marked lost or interrupted;
//   - no row that was ever read has changed or gone;
//   - what a person asked for has happened.
//
// What is done to them, and by which tests:
//
//	kill -9 of workers, at points and at random       TestKillAtEveryPoint, TestKillAtRandom
//	kill -9 of the server, all connections ended      TestServerIsKilledAndStartsAgain, TestConnectionsAreTerminated
//	full disks                                        TestDiskIsFullSQLite, TestDiskIsFullPostgres
//	answers lost, cut, swallowed, delayed             TestAnswersAreLost, TestNetworkFails, TestPartition
//	a database that is silent                         TestSilentDatabaseRefusesDeliveriesInTime
//	silence of a client before COMMIT                 TestSilenceBeforeACommitHoldsNothingUp
//	SIGSTOP beyond the lease, SIGCONT                 TestStoppedWorkerIsRefusedWhenItWakesUp, TestWorkersStopAtRandom
//	SIGSTOP of whoever writes to an SQLite file       TestStoppedWriterOfAFileIsInEverybodysWay
//	clocks and time zones apart                       TestClocksDiffer, TestRetryIsDueByTheDatabasesClock
//	one event to two workers at once                  TestTwinDeliveries
//	SIGTERM in a step; workers come and go            TestTerminatedWorkerGivesItsWorkBack, TestWorkersComeAndGo
//	a downstream that says when to come back          TestRetryStorm
//	PgBouncer; a serializable default                 TestBehindPgBouncer, TestSerializableByDefault
//
// A step whose process died between its return and its record may run once
// more; nothing else may.
//
// Go test runs each scenario for some seconds. With RESTAQ_SOAK set to a
// duration, those that go on at random share that time; make soak does so.
package chaos
