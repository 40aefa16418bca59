package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/restaq/restaq/internal/pgtest"
	"github.com/restaq/restaq/runtime/restaqtest"
)

const story = `A charge succeeds, and Stripe delivers it three times, twice at once:
  200 accepted, execution ID
  200 duplicate, execution ID
  200 duplicate, execution ID

One execution was made. Its first attempt failed: the mailer timed out. The
second skipped what was done, and finished:

Execution: ID | Status: completed | Attempts: 2
├─ Attempt 1
│  ├─ record-payment: completed
│  ├─ calculate-fee: completed
│  └─ send-receipt: failed (timeout)
└─ Attempt 2
   ├─ record-payment: (skipped - cached)
   ├─ calculate-fee: (skipped - cached)
   ├─ send-receipt: completed
   └─ notify-fulfillment: completed

payments 1, fees 1, receipts sent 1 (tried 2), shipments 1

A request that Stripe did not sign is refused:
  401 {"error":"ERROR"}

A restart runs all four steps again:

Execution: ID | Status: completed | Attempts: 3
├─ Attempt 1
│  ├─ record-payment: completed
│  ├─ calculate-fee: completed
│  └─ send-receipt: failed (timeout)
├─ Attempt 2
│  ├─ record-payment: (skipped - cached)
│  ├─ calculate-fee: (skipped - cached)
│  ├─ send-receipt: completed
│  └─ notify-fulfillment: completed
└─ Attempt 3 (restart)
   ├─ record-payment: completed
   ├─ calculate-fee: completed
   ├─ send-receipt: completed
   └─ notify-fulfillment: completed

payments 2, fees 2, receipts sent 2 (tried 3), shipments 2
`

func TestDemo(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	}
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := runDemo(t.Context(), &out, url(t)); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			got := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllString(out.String(), "ID")
			got = regexp.MustCompile(`"error":"[^"]*signature[^"]*"`).ReplaceAllString(got, `"error":"ERROR"`)
			if got != story {
				t.Errorf("the demo told:\n%s\nwant:\n%s", got, story)
			}
		})
	}
}

func TestFeeArithmetic(t *testing.T) {
	for amount, want := range map[int64]Fee{
		2999: {FeeAmount: 117, NetAmount: 2882}, // 86.971 + 30, rounded
		0:    {FeeAmount: 30, NetAmount: -30},
		1000: {FeeAmount: 59, NetAmount: 941},
		50:   {FeeAmount: 31, NetAmount: 19}, // 1.45 + 30, rounded
	} {
		b := &Billing{ledger: new(Ledger)}
		got, err := b.calculateFeeStep(restaqtest.Context(t), Payment{Amount: amount})
		if err != nil || got != want {
			t.Errorf("fee of %d: %+v, %v; want %+v", amount, got, err, want)
		}
	}
}
