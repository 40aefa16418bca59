// Methods: value and pointer receivers, several receivers, inputs and outputs of
// any number, steps and handlers over several files.
package main

import (
	"context"
	"errors"

	"github.com/restaq/restaq/internal/generate/testdata/golden/play"
	restaq "github.com/restaq/restaq/runtime"
)

type Order struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

// Shop has pointer receivers and one value receiver.
type Shop struct{ failures int }

//restaq:on shop.order.paid
func (s *Shop) Paid(ctx context.Context, order Order) error {
	if err := s.reserveStep(ctx); err != nil {
		return err
	}
	number, err := s.invoiceStep(ctx, order.ID, order.Cents, []string{"a", "b"}, map[string]int{"x": 1})
	if err != nil {
		return err
	}
	total, err := s.totalStep(ctx, number, order.Cents)
	if err != nil {
		return err
	}
	play.Say("paid", number, total)
	return nil
}

//restaq:step
func (s *Shop) reserve(ctx context.Context) error {
	play.Say("reserve")
	return nil
}

//restaq:step attempts=3 backoff=1ms..2ms timeout=1m30s
func (s *Shop) invoice(ctx context.Context, id string, cents int64, lines []string, counts map[string]int) (string, error) {
	if s.failures++; s.failures == 1 {
		return "", errors.New("printer on fire")
	}
	play.Say("invoice", id, cents, lines, counts)
	return "R-" + id, nil
}

//restaq:step pure
func (Shop) total(ctx context.Context, _ string, cents int64) (int64, error) {
	return cents * 119 / 100, nil
}

func main() {
	shop, desk := &Shop{}, Desk{Name: "front"}
	play.Run([]func(*restaq.Runtime) error{shop.RegisterHandlers, desk.RegisterHandlers},
		play.Event("shop.order.paid", `{"id":"7","cents":1000}`),
		play.Event("desk.bell", `{}`),
	)
}
