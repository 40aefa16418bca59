package standardwebhooks_test

import (
	"encoding/json"
	"testing"

	"github.com/restaq/restaq/schemas/standardwebhooks"
)

func TestTheEnvelopeKeepsWhatCame(t *testing.T) {
	const in = `{"type":"user.created","timestamp":"2026-01-02T03:04:05.678Z","data":{"id":90071992547409931}}`
	var e standardwebhooks.Envelope
	if err := json.Unmarshal([]byte(in), &e); err != nil {
		t.Fatal(err)
	}
	if e.Type != "user.created" || e.Timestamp.Time().Year() != 2026 || string(e.Data) != `{"id":90071992547409931}` {
		t.Errorf("%+v", e)
	}
	if out, err := json.Marshal(e); err != nil || string(out) != in {
		t.Errorf("%s, %v", out, err)
	}
}
