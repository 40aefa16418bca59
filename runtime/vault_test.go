package restaq_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	restaq "github.com/restaq/restaq/runtime"
	"github.com/restaq/restaq/runtime/memory"
	"github.com/restaq/restaq/runtime/zstd"
)

// keys returns a keyring with these ids, the first of which is current.
func keys(t *testing.T, ids ...string) restaq.Keyring {
	t.Helper()
	var parts []string
	for _, id := range ids {
		key := bytes.Repeat([]byte(id[:1]), 32)
		parts = append(parts, id+":"+base64.StdEncoding.EncodeToString(key))
	}
	ring, err := restaq.ParseKeys(strings.Join(parts, ","))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// secretive is a handler whose event, step and failure hold a secret.
func secretive(fail func() error) restaq.Handler[restaq.Event] {
	return on("h", func(ctx context.Context, event restaq.Event) error {
		if event.Header.Get("X-Secret") != "header secret" || !strings.Contains(string(event.Payload), "payload secret") {
			return restaq.Permanent(errors.New("the event came back changed"))
		}
		out, err := restaq.Do(ctx, "one", func(context.Context) (string, error) { return "output secret", nil })
		if err != nil {
			return err
		}
		if out != "output secret" {
			return restaq.Permanent(errors.New("the output came back changed"))
		}
		return fail()
	})
}

func secretEvent() restaq.Event {
	e := newEvent()
	e.Payload = []byte(`{"card":"payload secret"}`)
	e.Header = http.Header{"X-Secret": {"header secret"}}
	return e
}

func TestWhatIsStoredIsEncrypted(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		cfg := quick()
		cfg.Keyring, cfg.Attempts = keys(t, "a"), 1
		rt, stop := start(t, store, cfg, secretive(func() error { panic("stop") }))
		event := secretEvent()
		e := deliver(t, rt, event)
		wait(t, rt, e.ID, "dead")
		if again, err := rt.Deliver(t.Context(), event); err != nil || !again.Duplicate {
			t.Errorf("redelivery: %+v, %v", again, err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		raw, err := store.History(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		for what, value := range map[string][]byte{
			"payload": raw.Event.Payload, "output": raw.Steps[0].Output, "stack": raw.Attempts[0].Detail,
		} {
			if len(value) == 0 || bytes.Contains(value, []byte("secret")) || bytes.Contains(value, []byte("goroutine")) {
				t.Errorf("the %s is stored as %q", what, value)
			}
		}
		if len(raw.Event.Header) != 1 || strings.Contains(raw.Event.Header.Get("Restaq-Sealed"), "secret") {
			t.Errorf("the header is stored as %v", raw.Event.Header)
		}
		secret, err := store.(restaq.Secrets).Secret(t.Context(), "fingerprint")
		if err != nil || secret != nil {
			t.Errorf("the plain fingerprint key is still there: %d bytes, %v", len(secret), err)
		}

		// Whoever has the key reads all of it, after a rotation too.
		cfg.Keyring = keys(t, "b", "a")
		rt, _ = start(t, store, cfg, secretive(func() error { return nil }))
		h, err := rt.Inspect(t.Context(), e.ID)
		if err != nil || h.Sealed != "" || string(h.Payload) != string(event.Payload) || string(h.Tries[0].Steps[0].Output) != `"output secret"` || !strings.Contains(h.Tries[0].Stack, "goroutine") {
			t.Errorf("with the key: %+v, %v", h, err)
		}
		if e, err := rt.Retry(t.Context(), e.ID); err != nil || e.Status != restaq.Completed {
			t.Errorf("retry under a rotated key: %+v, %v", e, err)
		}
		h, err = rt.Inspect(t.Context(), e.ID)
		if err != nil || h.Tries[1].Steps[0].Status != restaq.StepSkipped || h.Tries[1].Steps[0].InputChanged {
			t.Errorf("the record under the old key was not used: %+v, %v", h, err)
		}
	})
}

func TestAMissingKeyLosesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		store := open()
		cfg := quick()
		cfg.Keyring = keys(t, "a")
		sender := receive(t, store, cfg, secretive(nil))
		e := deliver(t, sender, secretEvent())

		cfg.HandoverTimeout = 1 // it waits for no other process
		cfg.Keyring = keys(t, "b")
		var failures int
		wrong, stop := start(t, noSecrets{store}, cfg, secretive(func() error { failures++; return nil }))
		dead := wait(t, wrong, e.ID, "dead")
		if dead.StoppedBy != restaq.StoppedByKey || !strings.Contains(dead.Error, `key "a" is not in Config.Keyring`) || failures != 0 {
			t.Errorf("without the key: %+v", dead)
		}
		h, err := wrong.Inspect(t.Context(), e.ID)
		if err != nil || h.Payload != nil || !strings.Contains(h.Sealed, `key "a"`) {
			t.Errorf("inspect without the key: %+v, %v", h, err)
		}
		if replay, err := wrong.Replay(t.Context(), e.ID); err != nil {
			t.Errorf("replay: %+v, %v", replay, err)
		} else {
			wait(t, wrong, replay.ID, "dead")
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		cfg.Keyring = keys(t, "b", "a")
		right, _ := start(t, store, cfg, secretive(func() error { return nil }))
		if done, err := right.Retry(t.Context(), e.ID); err != nil || done.Status != restaq.Completed {
			t.Errorf("with the key: %+v, %v", done, err)
		}
	})
}

// noSecrets hides the store's secrets, of which the fingerprint key would be the
// first that cannot be opened.
type noSecrets struct{ restaq.Store }

func TestAProcessWithoutTheKeyOfFingerprintsDoesNotBegin(t *testing.T) {
	store := memory.New()
	cfg := quick()
	cfg.Keyring = keys(t, "a")
	deliver(t, receive(t, store, cfg, secretive(nil)), secretEvent())
	for _, ring := range []restaq.Keyring{nil, keys(t, "b")} {
		cfg.Keyring = ring
		_, err := receive(t, store, cfg, secretive(nil)).Deliver(t.Context(), secretEvent())
		var sealed *restaq.SealError
		if !errors.As(err, &sealed) || sealed.Key != "a" {
			t.Errorf("delivery: %v, want a SealError for key a", err)
		}
	}
}

func TestRowsThatWereChangedOrMovedAreRefused(t *testing.T) {
	for name, change := range map[string]func(a, b *restaq.StoredExecution){
		"a bit of the payload": func(a, _ *restaq.StoredExecution) { a.Event.Payload[len(a.Event.Payload)-1] ^= 1 },
		"another's payload":    func(a, b *restaq.StoredExecution) { a.Event.Payload = b.Event.Payload },
		"another's header":     func(a, b *restaq.StoredExecution) { a.Event.Header = b.Event.Header },
		"a shorter payload":    func(a, _ *restaq.StoredExecution) { a.Event.Payload = a.Event.Payload[:7] },
		"another's output":     func(a, b *restaq.StoredExecution) { a.Steps[0].Output = b.Steps[0].Output },
	} {
		t.Run(name, func(t *testing.T) {
			store := &altered{Store: memory.New()}
			cfg := quick()
			cfg.Keyring = keys(t, "a")
			rt, _ := start(t, store, cfg, secretive(func() error { return nil }))
			a, b := deliver(t, rt, secretEvent()), deliver(t, rt, secretEvent())
			wait(t, rt, a.ID, "completed")
			wait(t, rt, b.ID, "completed")
			other, err := store.Store.History(t.Context(), b.ID)
			if err != nil {
				t.Fatal(err)
			}
			store.change = func(h *restaq.StoredExecution) { change(h, other) }
			h, err := rt.Inspect(t.Context(), a.ID)
			if err != nil || h.Sealed == "" || strings.Contains(h.Sealed, "secret") {
				t.Errorf("sealed: %q, %v", h.Sealed, err)
			}
		})
	}
}

// altered changes histories on their way.
type altered struct {
	restaq.Store
	change func(h *restaq.StoredExecution)
}

func (s *altered) History(ctx context.Context, id string) (*restaq.StoredExecution, error) {
	h, err := s.Store.History(ctx, id)
	if err == nil && s.change != nil {
		s.change(h)
	}
	return h, err
}

func TestLargeValuesAreCompressed(t *testing.T) {
	eachStore(t, func(t *testing.T, open func() restaq.Store) {
		for _, ring := range []restaq.Keyring{nil, keys(t, "a")} {
			store := open()
			cfg := quick()
			cfg.Compressor, cfg.CompressAbove, cfg.Keyring = zstd.New(), 1000, ring
			text := strings.Repeat("all work and no play ", 1000)
			rt, stop := start(t, store, cfg, on("h", func(ctx context.Context, event restaq.Event) error {
				out, err := restaq.Do(ctx, "one", func(context.Context) (string, error) { return text, nil })
				if err == nil && (out != text || string(event.Payload) != `"`+text+`"`) {
					err = restaq.Permanent(errors.New("it came back changed"))
				}
				return err
			}))
			event := newEvent()
			event.Payload = []byte(`"` + text + `"`)
			e := deliver(t, rt, event)
			wait(t, rt, e.ID, "completed")
			if e, err := rt.Restart(t.Context(), e.ID); err != nil || e.Status != restaq.Completed {
				t.Errorf("restart, which reads the payload: %+v, %v", e, err)
			}
			raw, err := store.History(t.Context(), e.ID)
			if err != nil || len(raw.Event.Payload) > 1000 || len(raw.Steps[0].Output) > 1000 {
				t.Errorf("stored: payload %d bytes, output %d bytes, %v", len(raw.Event.Payload), len(raw.Steps[0].Output), err)
			}
			if err := stop(); err != nil { // it has no keys for the next one's executions
				t.Errorf("run: %v", err)
			}
			cfg.Compressor = nil
			h, err := receive(t, store, cfg, on("h", func(context.Context, restaq.Event) error { return nil })).Inspect(t.Context(), e.ID)
			if err != nil || !strings.Contains(h.Sealed, `compressed by "zstd"`) {
				t.Errorf("without the compressor: %q, %v", h.Sealed, err)
			}
		}
	})
}

func TestValuesThatLookSealedComeBackAsTheyAre(t *testing.T) {
	for _, payload := range []string{"\x00rq\x01", "\x00rq\x01\x00\x00plain", "\x00rq\x01\xff", "\x00rq\x01\x04zstd\x00x", "\x00rq\x01\x00\x01a" + strings.Repeat("x", 40)} {
		for _, ring := range []restaq.Keyring{nil, keys(t, "a")} {
			cfg := quick()
			cfg.Keyring = ring
			var got string
			rt, _ := start(t, memory.New(), cfg, on("h", func(_ context.Context, event restaq.Event) error { got = string(event.Payload); return nil }))
			event := newEvent()
			event.Payload = []byte(payload)
			e := deliver(t, rt, event)
			wait(t, rt, e.ID, "completed")
			if _, err := rt.Restart(t.Context(), e.ID); err != nil || got != payload {
				t.Errorf("%q came back as %q, %v", payload, got, err)
			}
		}
	}
}

func TestKeysThatCannotBeUsedAreRefused(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for _, text := range []string{
		"", "a", "a:", "a:short", "a:" + good + ",a:" + good, "a:" + base64.StdEncoding.EncodeToString(make([]byte, 16)),
		":" + good, "a b:" + good, "a:" + good + ",", strings.Repeat("a", 65) + ":" + good,
	} {
		_, err := restaq.ParseKeys(text)
		if err == nil {
			t.Errorf("ParseKeys(%q) succeeded", text)
		} else if strings.Contains(err.Error(), good) {
			t.Errorf("the error shows a key: %v", err)
		}
	}
}
