// Package guard recovers for others.
package guard

import (
	"context"
	"fmt"
	"log"
)

// Quietly swallows.
func Quietly() { // want Quietly:"swallows panics"
	if r := recover(); r != nil {
		log.Print(r)
	}
}

// Into lets the panic out.
func Into(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
}

// Loudly logs and panics again.
func Loudly() {
	if r := recover(); r != nil {
		log.Panicf("again: %v", r)
	}
}

// Safely runs f, whatever it does.
func Safely(ctx context.Context, f func(context.Context) error) { // want Safely:"shields from panics"
	defer Quietly()
	if err := f(ctx); err != nil {
		log.Print(err)
	}
}

// Try runs f, and returns its panic as an error.
func Try(f func() error) (err error) {
	defer Into(&err)
	return f()
}
