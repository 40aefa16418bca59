package shop

import (
	"context"

	restaq "github.com/restaq/restaq/runtime"
)

//restaq:on acme.order.paid
func Paid(ctx context.Context, event restaq.Event) error {
	if err := pay(ctx); err != nil { //restaq:ignore directcall on the line itself
		return err
	}
	//restaq:ignore directcall on the line above
	if err := pay(ctx); err != nil {
		return err
	}
	//restaq:ignore directcall too far up // want `^//restaq:ignore: silences nothing: directcall has nothing to say of line 18 or 19 \(ignore\)\n\thint: remove it$`

	if err := payStep(ctx); err != nil { //restaq:ignore directcal misspelled // want `^//restaq:ignore: there is no check directcal \(ignore\)\n\thint: did you mean directcall\?$`
		return err
	}
	//restaq:ignore nothing of the kind // want `there is no check nothing \(ignore\)$`
	return nil
}

//restaq:step
func pay(ctx context.Context) error { return nil }
