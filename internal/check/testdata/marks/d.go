package marks

// int one() { return 1; }
import "C"

import "context"

//restaq:step
func withC(ctx context.Context) (C.int, error) { return C.one(), nil }
