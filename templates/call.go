package templates

import (
	"github.com/dave/jennifer/jen"

	"github.com/restaq/restaq/internal/model"
)

// calls are the elements of a descriptor that run the step's function:
//
//	Call: func(ctx context.Context, b *Billing, in recordPaymentIn) (Payment, error) {
//		return b.recordPayment(ctx, in.charge)
//	},
//
// and if it takes a transaction, which the wrapper's caller does not have:
//
//	Tx: "pgx.Tx",
//	CallTx: func(ctx context.Context, tx any, b *Billing, in bookIn) (restaq.None, error) {
//		return restaq.None{}, b.book(ctx, tx.(pgx.Tx), in.payment)
//	},
func (f *file) calls(s *model.Step, receiver *jen.Statement) []jen.Code {
	ctx, recv, fn := s.Ctx, s.RecvParam, jen.Id(s.RecvParam).Dot(s.Name)
	if s.Recv == nil {
		ctx, recv, fn = free(s.Ctx, s.Name), "_", jen.Id(s.Name)
	}
	in := free("in", ctx, recv, s.Name)
	tx := free("tx", ctx, recv, s.Name, in)
	params := []jen.Code{jen.Id(ctx).Add(f.context())}
	args := []jen.Code{jen.Id(ctx)}
	if s.Tx != model.NoTx {
		params = append(params, jen.Id(tx).Any())
		args = append(args, jen.Id(tx).Assert(f.goType(s.TxType)))
	}
	for _, input := range s.Inputs {
		args = append(args, jen.Id(in).Dot(input.Name))
	}
	results := []jen.Code{fn.Call(args...)}
	if s.Output == nil {
		results = append([]jen.Code{f.runtime("None").Values()}, results...)
	}
	if len(s.Inputs) == 0 {
		in = "_"
	}
	params = append(params, jen.Id(recv).Add(receiver), jen.Id(in).Add(f.inputType(s)))
	call := jen.Func().Params(params...).Params(f.outputType(s), jen.Error()).Block(jen.Return(results...))
	switch s.Tx {
	case model.PgxTx:
		return []jen.Code{element("Tx", jen.Lit("pgx.Tx")), element("CallTx", call)}
	case model.SQLTx:
		return []jen.Code{element("Tx", jen.Lit("*sql.Tx")), element("CallTx", call)}
	}
	return []jen.Code{element("Call", call)}
}
