package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// scrape runs the service on two events, of which one is refused by the books,
// and returns what it then exports.
func scrape(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, listener) }()
	base := "http://" + listener.Addr().String()
	for _, id := range []string{"evt_good", "evt_bad"} {
		body := fmt.Sprintf(`{"id":%q,"object":"event","type":"charge.succeeded"}`, id)
		response, err := http.Post(base+"/webhooks/stripe", "application/json", strings.NewReader(body))
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("deliver: %v, %v", response, err)
		}
		response.Body.Close()
	}
	get(t, base+"/webhooks/stripe") // which is refused
	if _, status := get(t, base+"/ready"); status != http.StatusOK {
		t.Errorf("/ready: %d", status)
	}
	var text string
	for end := time.Now().Add(30 * time.Second); ; {
		text, _ = get(t, base+"/metrics")
		if strings.Contains(text, `restaq_outcome="dead"`) && strings.Contains(text, `restaq_outcome="completed"`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the executions do not end; exported:\n%s", text)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return text
}

func get(t *testing.T, url string) (body string, status int) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), response.StatusCode
}

// Metrics that nothing happened to yet are not exported: those of retries and
// of lost processes, and, as a memory store commits nothing, those of commits.
var silent = map[string]bool{"restaq_retries_total": true, "restaq_takeovers_total": true, "restaq_commit_writes_sum": true, "restaq_commit_writes_count": true}

func TestRulesAndDashboardReadWhatIsExported(t *testing.T) {
	exported := scrape(t)
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		data, err := os.ReadFile("../../docs/prometheus/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var content any
		if strings.HasSuffix(file, ".json") {
			err = json.Unmarshal(data, &content)
		} else {
			err = yaml.Unmarshal(data, &content)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		metrics := regexp.MustCompile(`\brestaq_\w+_(total|bucket|sum|count)\b`).FindAllString(string(data), -1)
		if len(metrics) < 7 {
			t.Errorf("%s reads %d metrics", file, len(metrics))
		}
		for _, name := range metrics {
			if !silent[name] && !strings.Contains(exported, "\n"+name+"{") {
				t.Errorf("%s reads %s, which is not exported", file, name)
			}
		}
		for _, label := range regexp.MustCompile(`\brestaq_[a-z]+\b`).FindAllString(string(data), -1) {
			if !strings.Contains(exported, label+`="`) && !strings.Contains(exported, "\n"+label+"_") {
				t.Errorf("%s reads label %s, which is not exported", file, label)
			}
		}
	}
	if t.Failed() {
		t.Log(exported)
	}
}
