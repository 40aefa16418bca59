package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/restaq/restaq/bench/workflow"
)

// dbosEngine is DBOS Transact with the workflow's id as the event's.
type dbosEngine struct{ ctx dbos.Context }

func openDBOS(ctx context.Context, url string) (subject, error) {
	engine, err := dbos.NewContext(ctx, dbos.Config{
		AppName: "bench", DatabaseURL: url, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	dbos.RegisterWorkflow(engine, dbosOrderPlaced)
	if err := dbos.Launch(engine); err != nil {
		return nil, err
	}
	return dbosEngine{engine}, nil
}

// dbosOrderPlaced is workflow.Shop.OrderPlaced as a workflow of DBOS's.
func dbosOrderPlaced(ctx dbos.Context, order workflow.Order) (string, error) {
	if _, err := dbos.RunAsStep(ctx, func(context.Context) (string, error) { return "", nil }, dbos.WithStepName("reserve")); err != nil {
		return "", err
	}
	payment, err := dbos.RunAsStep(ctx, func(context.Context) (workflow.Payment, error) {
		return workflow.Payment{Order: order.ID, Amount: order.Amount, Fee: order.Amount/40 + 30}, nil
	}, dbos.WithStepName("charge"))
	if err != nil {
		return "", err
	}
	label, err := dbos.RunAsStep(ctx, func(context.Context) (string, error) { return "label-" + payment.Order, nil }, dbos.WithStepName("pack"))
	if err != nil {
		return "", err
	}
	return dbos.RunAsStep(ctx, func(context.Context) (string, error) { return label, nil }, dbos.WithStepName("ship"))
}

func (e dbosEngine) start(id string) (dbos.WorkflowHandle[string], error) {
	return dbos.RunWorkflow(e.ctx, dbosOrderPlaced, workflow.Order{ID: "order-" + id, Amount: 2000}, dbos.WithWorkflowID(id))
}

func (e dbosEngine) run(_ context.Context, id string) error {
	handle, err := e.start(id)
	if err != nil {
		return err
	}
	_, err = handle.GetResult()
	return err
}

func (e dbosEngine) again(_ context.Context, id string) error {
	_, err := e.start(id)
	return err
}

func (e dbosEngine) close() error { return dbos.Shutdown(e.ctx, 10*time.Second) }
