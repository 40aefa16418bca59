package restaq_test

import (
	"context"
	"reflect"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
)

func TestTheStoreIsToldOfHandlersTheirStepsAndTheirGraph(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		fn := func(_ context.Context, v string) (string, error) { return v, nil }
		pay, send := step("pay", fn), step("send", fn)
		pay.Codec.Reads, pay.Codec.ReadBy, pay.Codec.Earlier = []string{"shape-0"}, []string{"shape-9"}, []string{"shape-8"}
		handle := func(context.Context, restaq.Event) error { return nil }
		ordered := on("shop.Ordered", handle)
		ordered.Graph = `{"steps":["pay","send"]}`

		store := open()
		rt := receive(t, store, quick(), ordered, pay.Bind(struct{}{}), send.Bind(struct{}{}))
		// Generated code hands the graphs of a package on as one text.
		other, unknown := on("shop.Other", handle), on("shop.Unknown", handle)
		other.Graph = `{"//": "…", "handlers": {"shop.Ordered": 1, "shop.Other": {"flow": [ ]}}}`
		unknown.Graph = other.Graph
		if err := rt.Register(other, unknown); err != nil {
			t.Fatal(err)
		}
		if _, err := rt.Deliver(t.Context(), newEvent()); err != nil {
			t.Fatal(err)
		}
		all, err := open().(restaq.Directory).Handlers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []restaq.HandlerInfo{
			{Name: "shop.Ordered", Events: []string{"acme.order.created"}, HandlerDetail: restaq.HandlerDetail{
				Steps: []restaq.StepInfo{
					{
						Name: "pay", Func: "example.com/test.pay", Shape: "shape-1",
						Reads: []string{"shape-0"}, ReadBy: []string{"shape-9"}, Earlier: []string{"shape-8"},
					},
					{Name: "send", Func: "example.com/test.send", Shape: "shape-1"},
				},
				Graph: []byte(`{"steps":["pay","send"]}`),
			}},
			{Name: "shop.Other", Events: []string{"acme.order.created"}, HandlerDetail: restaq.HandlerDetail{Graph: []byte(`{"flow":[]}`)}},
			{Name: "shop.Unknown", Events: []string{"acme.order.created"}},
		}
		if !reflect.DeepEqual(all, want) {
			t.Errorf("the store knows\n%+v, want\n%+v", all, want)
		}

		// A process without handlers sees them all; one's own are the newest.
		cfg := quick()
		cfg.Redact = []string{"email"}
		newer := on("shop.Other", handle)
		tool, err := restaq.New(open(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := tool.Handlers(t.Context()); err != nil || !reflect.DeepEqual(all, want) {
			t.Errorf("a tool sees\n%+v, %v", all, err)
		}
		if err := tool.Register(newer); err != nil {
			t.Fatal(err)
		}
		want[1].HandlerDetail = restaq.HandlerDetail{Redact: []string{"email"}}
		if all, err := tool.Handlers(t.Context()); err != nil || !reflect.DeepEqual(all, want) {
			t.Errorf("a newer build sees\n%+v, %v", all, err)
		}
	})
}
