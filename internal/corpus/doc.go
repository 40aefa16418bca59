// Package corpus holds the event packages that are shipped, and those that are
// generated from other specifications, to payloads that providers have published.
// It has tests alone. The payloads are fetched, see package fetch: they are not
// ours to commit.
//
// Every payload decodes by its event type. One that satisfies the schema is the
// same JSON value when it is encoded again, with each number in the digits that
// it came in. Of another one nothing that the schema knows is lost, except that
// null in the place of a string or number is its zero value.
package corpus
