package marks

import "context"

//restaq:step
func inTest(ctx context.Context) error { return nil }

// restaq:step is not looked at here.
