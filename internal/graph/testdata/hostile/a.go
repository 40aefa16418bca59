// Package hostile has texts that are no good for any format.
package hostile

import "context"

type Order struct{ ID string }

//restaq:on shop.order.placed
func texts(ctx context.Context, order Order) error {
	if order.ID == "</title><script>alert(1)</script> & ]]> --> \"quoted\" #quot; %%{init}%% style:#a;" {
		return shipStep(ctx, "a")
	}
	switch order.ID {
	case `a
	b`, "\x00\u202e\n", "end", "subgraph", "]", "}}", "$$x$$", "`md`", "\\N\\G\\l":
		return notifyStep(ctx, "ünïcödé 漢字 🚀")
	case "a very long text, longer than what is shown of it, which is cut somewhere":
		return refundStep(ctx, "b")
	}
	for _, ünï := range []string{"<b>", "&amp;", "'"} {
		_, err := bookStep(ctx, ünï)
		if err != nil {
			return err
		}
	}
	return nil
}

//restaq:step key=id
func book(ctx context.Context, id string) (int, error) { return 0, nil }

//restaq:step key=id
func ship(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func notify(ctx context.Context, id string) error { return nil }

//restaq:step key=id
func refund(ctx context.Context, id string) error { return nil }
