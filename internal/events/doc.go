// Package events turns JSON Schemas into Go packages of event types. It is the
// whole of the verb "restaqgen events", writing files aside.
//
//	files ─schema.Load→ set ─shape→ what each schema is ─build→ templates.EventPackage ─emit→ Go files
//
// # Which schemas are events
//
// A schema that says x-restaq-events, a list of event types without the
// provider, is the payload of each of them. It may be the root of a file or an
// entry of the root's $defs. A file whose root is an object with properties and
// that has no x-restaq-events anywhere is the payload of the one event type that
// the file is named for: order.created.json.
//
// # What becomes of a schema
//
//	object with properties        struct; shared if it stands in $defs, else named after its place
//	  and typed members besides     a field Extra beside them, a map
//	object of additionalProperties map[string]T
//	array, tuple of one type       []T
//	tuple of several types         a struct with Item1, Item2 …
//	string                         string; with enum a type with constants; date-time: payload.Time
//	integer                        int64, uint64 or payload.Number, as bounds and values ask; unix-time: payload.Unix
//	number                         payload.Number, which keeps every digit
//	number or string               payload.Number; with date-time: payload.Time
//	string or object               payload.Expandable
//	value or array of such         payload.OneOrMany
//	one of several objects         if const or enum of a member tells them apart, a struct with a Value,
//	                               a sealed interface over their structs; else one struct with the members of all
//	everything else                json.RawMessage, with a warning where the schema says more
//
// Required and nullable are spelled as the package comment of every generated
// package says. An optional slice or map is nil when absent, and empty when it
// came empty; a required one that is null is nil. Only types that an event
// reaches are written.
//
// # Names
//
// Users compile against the names, so a name that was given stays: the package
// from before is read first (earlier). What is new is named after its own place in
// the schemas, and chooses among what is left.
//
// # Validate
//
// Decoding is tolerant. What the schemas say beyond Go types, and all that they
// say strictly, goes into the package as a table that runtime/validate reads
// (tabler).
package events
