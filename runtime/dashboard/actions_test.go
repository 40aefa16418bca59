package dashboard_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/dashboard"
)

func TestAPersonActsOnAnExecution(t *testing.T) {
	shop := openShop(t)
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	e := shop.deliverRefund(t, "evt_1")
	shop.broken.Store(false)
	where, page := s.act("/executions/"+e.ID+"/retry", nil)
	s.holds(page, "The next attempt is asked for.", e.ID)
	if where != "/executions/"+e.ID+"?done=retry" {
		t.Errorf("a retry leads to %s", where)
	}
	if got := shop.wait(t, e); got.Status != restaq.Completed || got.Attempts != 2 {
		t.Errorf("after the retry it is %s, with %d attempts", got.Status, got.Attempts)
	}
	_, page = s.act("/executions/"+e.ID+"/restart", nil)
	s.holds(page, "A restart is asked for.")
	for got := shop.wait(t, e); got.Attempts != 3; got = shop.wait(t, e) { // it may not have begun
	}
	where, page = s.act("/executions/"+e.ID+"/replay", nil)
	replay, ok := strings.CutSuffix(strings.TrimPrefix(where, "/executions/"), "?done=replay")
	if !ok || replay == e.ID {
		t.Errorf("a replay leads to %s", where)
	}
	s.holds(page, "This is the new execution.", "Replay of", e.ID)
	shop.wait(t, restaq.Execution{ID: replay})
	_, page = s.act("/executions/"+e.ID+"/retry", nil)
	s.holds(page, "There was nothing to do: the execution has ended.")

	running := shop.deliver(t, restaq.Event{Type: "github.push", ID: "p1", Payload: []byte(`{}`)})
	_, page = s.act("/executions/"+running.ID+"/cancel", nil)
	s.holds(page, "The execution is cancelled.", "s-cancelled")
	if resp, body := s.post("/executions/"+e.ID+"/cancel", nil); resp.StatusCode != http.StatusConflict || !strings.Contains(body, "has ended for good") {
		t.Errorf("cancelling a completed one: %s", resp.Status)
	}
	audit := s.get("/audit")
	s.holds(audit, ">ann<", "retry", "restart", "replay", "cancel", e.ID, running.ID)
	s.holds(s.get("/audit?person=bob"), "Nobody has asked")
}

func TestAPersonActsOnManyExecutions(t *testing.T) {
	shop := openShop(t)
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act)})
	var dead []restaq.Execution
	for i := range 30 {
		dead = append(dead, shop.deliverRefund(t, fmt.Sprint("evt_", i)))
		shop.deliverCharge(t, fmt.Sprint("evt_c", i))
	}
	shop.broken.Store(false)

	// A preview does nothing.
	filter := "status=dead&handler=" + refunded
	_, page := s.post("/bulk", url.Values{"action": {"retry"}, "scope": {"all"}, "filter": {filter}})
	s.holds(page, "Retry 30 executions?", "status=dead handler="+refunded, "Yes, retry 30", "account_closed")
	untouched(t, shop, dead[0])

	// Of all that matched then: what comes later is not meant.
	frozen := hiddenField(t, page, "filter")
	where, page := s.act("/bulk/run", url.Values{"action": {"retry"}, "scope": {"all"}, "filter": {frozen}})
	s.holds(page, "Retr", "asked for by <b><bdi>ann</bdi></b>")
	page = s.untilOver(where)
	s.holds(page, "Retried 30 executions", "Done.", `done <b>30</b>`, `failed <b>0</b>`)
	for _, e := range dead {
		if got := shop.wait(t, e); got.Status != restaq.Completed {
			t.Errorf("%s is %s", e.ID, got.Status)
		}
	}

	chosen := url.Values{"action": {"replay"}, "scope": {"selected"}, "id": {dead[0].ID, dead[1].ID, "none"}}
	_, page = s.post("/bulk", chosen)
	s.holds(page, "Replay 3 executions?", dead[1].ID)
	where, _ = s.act("/bulk/run", chosen)
	s.holds(s.untilOver(where), "Replayed 2 executions", `nothing to do <b>1</b>`)

	if resp, _ := s.do(s.request(http.MethodGet, "/jobs/none", nil)); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a job that there is not: %s", resp.Status)
	}
	s.holds(s.get("/audit"), "status=dead handler="+refunded, dead[1].ID)
}

func TestManyExecutionsAreStoppedAndBounded(t *testing.T) {
	shop := openShop(t)
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.Act), Refresh: 5 * time.Millisecond})
	for i := range 100 { // 64 of them run and are held, the others wait: so the bulk does
		shop.deliver(t, restaq.Event{Type: "github.push", ID: fmt.Sprint("p", i), Payload: []byte(`{}`)})
	}
	form := url.Values{"action": {"replay"}, "scope": {"all"}, "filter": {"handler=" + pushed}}
	var where []string
	for range 4 {
		at, page := s.act("/bulk/run", form)
		s.holds(page, "Replaying executions", "<progress", "Stop</button>")
		where = append(where, at)
	}
	if resp, body := s.post("/bulk/run", form); resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, "Wait for its end") {
		t.Errorf("a fifth at once: %s", resp.Status)
	}
	for _, at := range where {
		_, page := s.act(at+"/stop", nil)
		s.holds(page, "No more of them is begun.")
		s.holds(s.untilOver(at), "Stopped.")
	}
	at, _ := s.act("/bulk/run", url.Values{"action": {"cancel"}, "scope": {"all"}, "filter": {"handler=" + pushed}})
	s.holds(s.untilOver(at), "Cancelled ", "Done.")
}

// hiddenField returns the value of a hidden field of a page.
func hiddenField(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<input type="hidden" name="`+name+`" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("there is no hidden field %s:\n%s", name, page)
	}
	return strings.NewReplacer("&amp;", "&", "&#43;", "+").Replace(value)
}

// untilOver follows a page until nothing more happens, and returns it.
func (s *site) untilOver(path string) string {
	s.t.Helper()
	stream := s.follow(path)
	defer stream.close()
	for {
		if name, _ := stream.next(); name == "over" {
			return s.get(path)
		}
	}
}

// stream is a page that is followed.
type stream struct {
	t     *testing.T
	close func() error
	lines *bufio.Scanner
}

func (s *site) follow(path string) *stream {
	s.t.Helper()
	resp, err := client.Do(s.request(http.MethodGet, "/live"+path, nil))
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("follow %s: %s %v", path, resp.Status, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 10<<20)
	return &stream{s.t, resp.Body.Close, lines}
}

// next returns the next event.
func (s *stream) next() (name, data string) {
	s.t.Helper()
	for s.lines.Scan() {
		switch line := s.lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):] + "\n"
		case line == "" && name != "":
			return name, data
		}
	}
	s.t.Fatalf("the stream has ended: %v", s.lines.Err())
	return "", ""
}

func TestAPageIsFollowed(t *testing.T) {
	shop := openShop(t)
	s := serve(t, shop.rt, dashboard.Config{Authorize: as("ann", dashboard.View), Refresh: 5 * time.Millisecond})
	e := shop.deliver(t, restaq.Event{Type: "github.push", ID: "p1", Payload: []byte(`{}`)})
	one, list := s.follow("/executions/"+e.ID), s.follow("/executions")
	defer one.close()
	defer list.close()
	_, data := list.next()
	s.holds(data, e.ID, "1 found")
	shop.deliverCharge(t, "evt_1")
	for !strings.Contains(data, "2 found") {
		_, data = list.next()
	}
	shop.release()
	for {
		name, next := one.next()
		if name == "over" {
			break
		}
		data = next
	}
	s.holds(data, "s-completed", `f-completed"><i aria-hidden="true"></i><bdi>deploy</bdi>`)
	s.lacks(data, "<html", "<script")
}

func TestFollowersAreBoundedAndLoseAccess(t *testing.T) {
	shop := openShop(t)
	allowed := make(chan struct{})
	s := serve(t, shop.rt, dashboard.Config{Refresh: 5 * time.Millisecond, Authorize: func(*http.Request) (dashboard.Person, error) {
		select {
		case <-allowed:
			return dashboard.Person{}, nil
		default:
			return dashboard.Person{Name: "ann", Role: dashboard.View}, nil
		}
	}})
	var all []*stream
	for range 64 {
		all = append(all, s.follow("/executions"))
	}
	if resp, _ := s.do(s.request(http.MethodGet, "/live/executions", nil)); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one follower more: %s", resp.Status)
	}
	close(allowed)
	for _, stream := range all {
		for stream.lines.Scan() { // to the end
		}
		if err := stream.lines.Err(); err != nil {
			t.Error(err)
		}
		stream.close()
	}
}
