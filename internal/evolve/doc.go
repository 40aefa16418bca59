// Package evolve judges what a change of the source does to executions in
// flight: to the records that builds before the change have written, and to
// builds from before it that meet records written since, while a deploy rolls.
//
// It compares lock files: one that was committed with one that was made of
// today's source. Every change gets a [Rule] with a stable name, and the rule
// together with what was changed a [Verdict].
//
// A shape is read by another if every value of the one, written as a record,
// becomes the same value of the other: nothing is lost, and no member gets a
// value that was not recorded. A member that may be left out and is not there
// counts as recorded; it stands for its zero value. Where it can't be known,
// types with methods of their own above all, the answer is no.
package evolve
