package main

// markerTable returns the table of markers.
func markerTable() string {
	return `Markers stand in the doc comment of a declaration, without a space around the
colon. An argument that holds spaces is quoted whole: "key=a + b".

//restaq:on TYPE…      on a handler: func(ctx context.Context, event E) error
                       TYPE is an event type, or a pattern whose last segment is *.
                       E is the struct of the one event type, or a pointer to it; a
                       family's interface; a struct of your own; or restaq.Event.

    name=NAME          the handler's stable name; default: package.Func or
                       package.Type.Method
    attempts=N         attempts of an execution; default: Config.Attempts
    backoff=MIN..MAX   wait between attempts, as in 1s..10m; default: Config.Backoff
    timeout=DURATION   of one attempt; default: none
    order=EXPR         executions with equal keys run one at a time

//restaq:step [NAME]   on a step: func(ctx context.Context[, tx], in…) ([out,] error)
                       NAME has the form [a-z0-9][a-z0-9._-]*; default: the
                       function's name, recordPayment is record-payment.
                       tx is a pgx.Tx or *sql.Tx: a transaction of the store, in
                       which the step's writes and its record are committed.

    name=NAME          as NAME
    key=EXPR           tells calls of the step in one execution apart
    attempts=N         tries over all attempts; default: the handler's
    backoff=MIN..MAX   wait after a failure of this step; default: the handler's
    timeout=DURATION   of one try; default: none
    pure               the step has no effect outside its result

//restaq:was OLD…      beside //restaq:step or //restaq:on: names that the step or
                       handler had before, the oldest first. What stands in the
                       store under them is its own: records, idempotency keys,
                       executions. A handler with order= keeps its name instead,
                       by name=.

//restaq:convert STEP  on a function: func(Old) (New, error)
                       It makes today's output of STEP from records of the type
                       that the output had before. An error stops the execution.

//restaq:event TYPE    on a struct: it is the payload of your own event type

//restaq:ignore CHECK REASON
                       silences a check on its own line and the line below, or in
                       the comment of a declaration on the line with its name

EXPR is a Go expression over the function's parameters and the file's imports;
its value is a string, an integer or a fmt.Stringer.
`
}
