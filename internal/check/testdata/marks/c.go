//go:build !special

package marks

import "context"

//restaq:step
func constrained(ctx context.Context) error { return nil }
