package keys

import "context"

// A comment that silences the check lets the steps through.

//restaq:ignore loopkey the loop ends with the first
//restaq:step
func silenced(ctx context.Context, id string) error { return nil }

//restaq:ignore directcall another check
//restaq:step
func notSilenced(ctx context.Context, id string) error { return nil }

func callsSilenced(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if err := silencedStep(ctx, id); err != nil {
			return notSilencedStep(ctx, id)
		}
		if err := notSilencedStep(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
