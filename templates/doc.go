// Package templates emits Go files: into a user's package wrappers, codecs and
// guards, into an event package types and constants. It is the only package
// that knows jennifer.
//
// There is one file per kind of output, and the comment of each emitter shows
// the Go that it emits. An emitter decides nothing: names, order and what is
// allowed come with the data. What is emitted is data and one-line calls; logic
// belongs into the runtime.
package templates
