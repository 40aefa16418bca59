// Package schema reads JSON Schemas of any draft into one model of our own, the
// normal form, and writes the normal form as invopop/jsonschema.
//
// The way is a straight line:
//
//	bytes ─ParseJSON→ *Node ─read→ *Schema ─resolve→ *Set ─Normal→ *jsonschema.Schema
//
// A Node is a JSON value with its position and its members in their order, and
// with numbers as written. A Schema is what the keywords say, draft differences
// removed: definitions and $defs are Defs, a positional items is Prefix, boolean
// exclusive bounds are bounds, nullable and a null among types are Null. Nothing
// is dropped: a keyword that only validates is kept in Rest, a vendor's x- keyword
// in Extensions, and an unknown one is kept in Rest and reported.
//
// invopop's Schema can't be the model, since it reads neither lists of types nor
// positional items, rounds numbers, and has no positions for messages.
package schema
