package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
	"github.com/restaq/restaq/runtime/memory"
)

func TestTheOverviewSaysWhatWaitsForAPerson(t *testing.T) {
	shop := openShop(t)
	shop.fill(t)
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.View), Title: "production"})
	page := s.get("/")
	s.holds(page, "production", `<span class="n">5</span> <span class="label">Dead`, `<span class="n">1</span> <span class="label">Running`,
		charged, refunded, pushed, "stripe.charge.refunded", "bank answered 422", "signature does not match", `aria-label="Deliveries: `)
	if !regexp.MustCompile(`aria-label="Duration of attempts of billing.Billing.ChargeSucceeded: between .* and `).MatchString(page) {
		t.Error("there is no chart of durations")
	}
	for _, span := range []string{"24h", "7d", "30d"} {
		s.holds(s.get("/?span="+span), `span=`+span+`" aria-current="true"`)
	}
}

func TestAnEmptyStoreHasItsPages(t *testing.T) {
	rt, err := restaq.New(memory.New(), restaq.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	s.holds(s.get("/"), "No handler has told this store of itself yet", "None. Good.")
	s.holds(s.get("/executions"), "there is no execution in this store yet")
	s.holds(s.get("/audit"), "Nobody has asked for anything yet.")
}

func TestTheListIsFiltered(t *testing.T) {
	shop := openShop(t)
	a := shop.deliverCharge(t, "evt_a")
	b := shop.deliverRefund(t, "evt_b")
	other := shop.deliver(t, restaq.Event{Source: "second account", Provider: "stripe", Type: "stripe.charge.succeeded", ID: "evt_c", Payload: chargePayload("evt_c")})
	shop.wait(t, other)
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.View)})
	for query, want := range map[string][]string{
		"":                          {a.ID, b.ID, other.ID},
		"status=dead":               {b.ID},
		"status=completed&status=":  {a.ID, other.ID},
		"handler=" + refunded:       {b.ID},
		"type=stripe.charge.*":      {a.ID, b.ID, other.ID},
		"type=stripe.charge.failed": {},
		"provider=github":           {},
		"source=second+account":     {other.ID},
		"event=evt_a":               {a.ID},
		"text=account_closed":       {b.ID},
		"text=ann@example":          {},
		"since=1h":                  {a.ID, b.ID, other.ID},
		"until=1h":                  {},
		"since=2026-01-01&until=" + url.QueryEscape(time.Now().Add(time.Hour).Format(time.RFC3339)): {a.ID, b.ID, other.ID},
	} {
		t.Run(query, func(t *testing.T) {
			s := &site{t, s.url}
			page := s.get("/executions?" + query)
			for _, e := range []restaq.Execution{a, b, other} {
				listed := strings.Contains(page, "executions/"+e.ID)
				if wanted := strings.Contains(strings.Join(want, " "), e.ID); listed != wanted {
					t.Errorf("execution of %s is listed: %v, want %v", e.Event.ID, listed, wanted)
				}
			}
			s.holds(page, fmt.Sprintf(`<span class="found">%d found`, len(want)))
		})
	}
	for _, query := range []string{"status=odd", "type=a*", "type=*.a", "type=a..b", "since=yesterday", "until=-3h", "event=%00", "event=%ff", "event=" + strings.Repeat("x", 1025)} {
		if resp, body := s.do(s.request("GET", "/executions?"+query, nil)); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "<h1>Bad Request") {
			t.Errorf("?%s: %s %s", query, resp.Status, body)
		}
	}
}

func TestTheListIsPaged(t *testing.T) {
	shop := openShop(t)
	for i := range 120 {
		shop.deliverCharge(t, fmt.Sprint("evt_", i))
	}
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.View)})
	seen := make(map[string]bool)
	link := regexp.MustCompile(`rel="next" href="\./(executions[^"]+)"`)
	row := regexp.MustCompile(`<tr id="e-([^"]+)"`)
	next := "executions?status=completed"
	for pages := 1; ; pages++ {
		page := s.get("/" + strings.ReplaceAll(next, "&amp;", "&"))
		s.holds(page, "120 found")
		for _, m := range row.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Fatalf("%s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		m := link.FindStringSubmatch(page)
		if m == nil {
			if pages != 3 || len(seen) != 120 {
				t.Errorf("%d executions on %d pages", len(seen), pages)
			}
			return
		}
		next = m[1]
	}
}

func TestAnExecutionIsShownWhole(t *testing.T) {
	shop := openShop(t)
	e := shop.deliverCharge(t, "evt_1")
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	page := s.get("/executions/" + e.ID)
	s.holds(page, charged, "stripe.charge.succeeded", "evt_1", "Attempt 1", "Attempt 2", "i/o timeout",
		`f-completed"><i aria-hidden="true"></i><bdi>notify-fulfillment</bdi>`, // of the graph
		"Runs again, though they completed:", "<li><bdi>send-receipt</bdi></li>",
		`<bdi class="str">&#34;shipment_evt_1&#34;</bdi>`,                              // an output
		`<bdi class="key">&#34;city&#34;</bdi>: <bdi class="str">&#34;Köln&#34;</bdi>`, // of the payload
		"User-Agent", "Stripe/1.0", "├─ Attempt 1", "(skipped - cached)", "from reception to the end")
	s.lacks(page, "Retry now", "Cancel it", "ann@example.org") // it is over; and masked

	found := s.get("/executions/" + e.ID + "?find=K%C3%B6ln")
	s.holds(found, "1 match", `<mark class="str">&#34;Köln&#34;</mark>`)
	s.holds(s.get("/executions/"+e.ID+"?find=nowhere"), "0 matches")

	running := shop.deliver(t, restaq.Event{Type: "github.push", ID: "p1", Payload: []byte(`{}`)})
	page = s.get("/executions/" + running.ID)
	s.holds(page, "s-running", "if push.Deleted", "for _, region := range regions", "Cancel it", "restart")
	dead := shop.deliverRefund(t, "evt_2")
	page = s.get("/executions/" + dead.ID)
	s.holds(page, "Why it is dead", "the error is permanent", "in step <bdi>refund-at-bank", "Retry now", "Runs again, though it completed:")
	if resp, _ := s.do(s.request("GET", "/executions/none", nil)); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an execution that there is not: %s", resp.Status)
	}
}

func TestMaskedFieldsAreShownNowhere(t *testing.T) {
	shop := openShop(t)
	shop.broken.Store(true)
	e := shop.deliverCharge(t, "evt_1")
	raw := shop.deliver(t, restaq.Event{Type: "stripe.charge.refunded", ID: "evt_2", Payload: []byte("email=ann@example.org")})
	shop.wait(t, raw)
	// The shop masks receipt_email, the page the customer.
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act), Redact: []string{"data.object.customer"}})
	for _, path := range []string{"/", "/executions", "/executions/" + e.ID, "/executions/" + e.ID + "/payload", "/executions/" + raw.ID, "/executions?text=bank"} {
		s.lacks(s.get(path), "ann@example.org", "cus_Q8kd")
	}
	s.holds(s.get("/executions/"+e.ID+"/payload"), `"receipt_email": "•••"`, `"customer": "•••"`, `"amount": 2999`)
	s.holds(s.get("/executions/"+raw.ID), "The payload is no JSON. As fields are masked, it is not shown.")
	if resp, _ := s.do(s.request("GET", "/executions/"+raw.ID+"/payload", nil)); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a payload that cannot be masked: %s", resp.Status)
	}
}
