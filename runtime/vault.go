package restaq

import (
	"bytes"
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Keyring has the keys by which payloads, headers, outputs and stacks are
// encrypted in the store. It is safe for concurrent use. Its methods are called
// often: one that asks a service keeps the answers.
type Keyring interface {
	// Current returns the key to encrypt with, of 32 bytes, and its id: letters,
	// digits, ".", "-" and "_", at most 64 bytes, never given to another key.
	Current(ctx context.Context) (id string, key []byte, err error)

	// Key returns the key with an id, or ErrNotFound.
	Key(ctx context.Context, id string) ([]byte, error)
}

// ParseKeys reads a keyring from text: "id:key,id:key", each key 32 bytes in
// base64. The first is the current one; the others are for what was encrypted
// before.
func ParseKeys(text string) (Keyring, error) {
	keys := make(map[string][]byte)
	current := ""
	for i, part := range strings.Split(text, ",") {
		id, encoded, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			return nil, fmt.Errorf("parse keys: part %d is not of the form id:key", i+1)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case err != nil:
			return nil, fmt.Errorf("parse keys: key %q is not base64", id) // whose error would show some of it
		case keys[id] != nil:
			return nil, fmt.Errorf("parse keys: key %q is there twice", id)
		}
		if err := checkKey(id, key); err != nil {
			return nil, fmt.Errorf("parse keys: %w", err)
		}
		keys[id] = key
		if i == 0 {
			current = id
		}
	}
	return &staticKeys{current, keys}, nil
}

// staticKeys is a keyring that does not change.
type staticKeys struct {
	current string
	keys    map[string][]byte
}

func (s *staticKeys) Current(context.Context) (string, []byte, error) {
	return s.current, s.keys[s.current], nil
}

func (s *staticKeys) Key(_ context.Context, id string) ([]byte, error) {
	if key := s.keys[id]; key != nil {
		return key, nil
	}
	return nil, ErrNotFound
}

const (
	keySize  = 32
	maxKeyID = 64
)

func checkKey(id string, key []byte) error {
	switch {
	case id == "" || len(id) > maxKeyID || strings.ContainsFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_", r))
	}):
		return fmt.Errorf(`key id %q: want 1 to %d letters, digits, ".", "-" or "_"`, id, maxKeyID)
	case len(key) != keySize:
		return fmt.Errorf("key %q has %d bytes, want %d", id, len(key), keySize)
	}
	return nil
}

// A Compressor makes large payloads and outputs smaller in the store: package
// zstd has one. It is safe for concurrent use.
type Compressor interface {
	// Name names the format, for ever: up to 32 letters and digits.
	Name() string

	// Compress appends src, compressed, to dst.
	Compress(dst, src []byte) ([]byte, error)

	// Decompress appends what src holds to dst, and fails if that is more than
	// limit bytes.
	Decompress(dst, src []byte, limit int) ([]byte, error)
}

// SealError says that a value of the store could not be opened: its key or its
// compressor is missing, or it is not what was stored. The value is still there.
type SealError struct {
	Value      string // "payload", "header", "output" or "detail"
	Key        string // id of the key; "" if it is not encrypted
	Compressor string // name of the compressor; "" if it is not compressed
	Err        error
}

// Error says what, and what to do.
func (e *SealError) Error() string {
	switch {
	case errors.Is(e.Err, ErrNotFound) && e.Key != "":
		return fmt.Sprintf("open %s: key %q is not in Config.Keyring", e.Value, e.Key)
	case errors.Is(e.Err, ErrNotFound):
		return fmt.Sprintf("open %s: it is compressed by %q, which Config.Compressor is not", e.Value, e.Compressor)
	}
	return fmt.Sprintf("open %s: %v", e.Value, e.Err)
}

// Unwrap returns the cause.
func (e *SealError) Unwrap() error { return e.Err }

// vault seals what goes to the store and opens what comes from it. A value that
// is neither compressed nor encrypted is stored as it is; another is stored as
//
//	magic | name length, compressor | id length, key id | rest
//
// rest is the value, compressed if there is a compressor, then, if there is a
// key, encrypted by AES-256-GCM with a random nonce in front. What stands before
// it is authenticated with it, as is where the value belongs: it cannot be moved
// to another row.
type vault struct {
	keyring    Keyring
	compressor Compressor
	above      int // size from which values are compressed

	ciphers sync.Map // by key id: cipher.AEAD
}

// sealMagic begins a sealed value. JSON never begins so; other values that do are
// sealed, plain as they are.
const sealMagic = "\x00rq\x01"

// passes reports whether a value is stored as it is.
func (v *vault) passes(value []byte) bool {
	return value == nil || v.keyring == nil && (v.compressor == nil || len(value) < v.above) && !bytes.HasPrefix(value, []byte(sealMagic))
}

// seal returns value as it is to be stored at a place.
func (v *vault) seal(ctx context.Context, value []byte, place string) ([]byte, error) {
	if v.passes(value) {
		return value, nil
	}
	rest, compressor := value, ""
	if v.compressor != nil && len(value) >= v.above {
		packed, err := v.compressor.Compress(nil, value)
		if err != nil {
			return nil, fmt.Errorf("compress by %s: %w", v.compressor.Name(), err)
		}
		if len(packed) < len(value) {
			compressor, rest = v.compressor.Name(), packed
		}
	}
	if v.keyring == nil && compressor == "" && !bytes.HasPrefix(value, []byte(sealMagic)) {
		return value, nil // which does not become smaller
	}
	head := append(append([]byte(sealMagic), byte(len(compressor))), compressor...)
	if v.keyring == nil {
		return append(append(head, 0), rest...), nil
	}
	id, key, err := v.keyring.Current(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the current key: %w", err)
	}
	aead, err := v.cipher(id, key)
	if err != nil {
		return nil, err
	}
	head = append(append(head, byte(len(id))), id...)
	return aead.Seal(head, nil, rest, associated(head, place)), nil
}

// associated is what is authenticated beside a value.
func associated(head []byte, place string) []byte { return append(slices.Clip(head), place...) }

// cipher returns the cipher of a key.
func (v *vault) cipher(id string, key []byte) (cipher.AEAD, error) {
	if aead, ok := v.ciphers.Load(id); ok {
		return aead.(cipher.AEAD), nil
	}
	if err := checkKey(id, key); err != nil {
		return nil, fmt.Errorf("keyring: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	v.ciphers.Store(id, aead)
	return aead, nil
}

// sealedHead is what stands before a sealed value.
type sealedHead struct {
	compressor, key string
	text, rest      []byte
}

// parseSealed reads a value's head; ok is false if it is not sealed.
func parseSealed(value []byte) (h sealedHead, ok bool, err error) {
	rest, ok := bytes.CutPrefix(value, []byte(sealMagic))
	if !ok {
		return h, false, nil
	}
	for _, text := range []*string{&h.compressor, &h.key} {
		if len(rest) == 0 || len(rest) <= int(rest[0]) {
			return h, true, errors.New("it is cut off")
		}
		n := int(rest[0])
		*text, rest = string(rest[1:1+n]), rest[1+n:]
	}
	h.text, h.rest = value[:len(value)-len(rest)], rest
	return h, true, nil
}

// open returns a stored value of a kind as it was before seal. It is at most
// limit bytes.
func (v *vault) open(ctx context.Context, value []byte, kind, place string, limit int) ([]byte, error) {
	h, sealed, err := parseSealed(value)
	if !sealed {
		return value, nil
	}
	plain := h.rest
	if err == nil && h.key != "" {
		plain, err = v.decrypt(ctx, h, place)
	}
	if err == nil && h.compressor != "" {
		h.key = "" // which was right
		plain, err = v.decompress(h.compressor, plain, limit)
	}
	if err != nil {
		return nil, &SealError{Value: kind, Key: h.key, Compressor: h.compressor, Err: err}
	}
	if plain == nil {
		plain = []byte{}
	}
	return plain, nil
}

func (v *vault) decrypt(ctx context.Context, h sealedHead, place string) ([]byte, error) {
	if v.keyring == nil {
		return nil, ErrNotFound
	}
	var key []byte
	if _, known := v.ciphers.Load(h.key); !known {
		var err error
		if key, err = v.keyring.Key(ctx, h.key); err != nil {
			return nil, err
		}
	}
	aead, err := v.cipher(h.key, key)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, h.rest, associated(h.text, place))
	if err != nil {
		return nil, fmt.Errorf("key %q does not fit: it is not the one of this id, or the row was changed", h.key)
	}
	return plain, nil
}

func (v *vault) decompress(name string, packed []byte, limit int) ([]byte, error) {
	if v.compressor == nil || v.compressor.Name() != name {
		return nil, ErrNotFound
	}
	plain, err := v.compressor.Decompress(nil, packed, limit)
	if err != nil {
		return nil, fmt.Errorf("decompress by %s: %w", name, err)
	}
	return plain, nil
}

// The places of values.
func payloadPlace(e *Event) string { return "payload\x00" + e.Source + "\x00" + e.ID }
func headerPlace(e *Event) string  { return "header\x00" + e.Source + "\x00" + e.ID }
func rowPlace(kind, execution string, attempt, seq int) string {
	return kind + "\x00" + execution + "\x00" + strconv.Itoa(attempt) + "\x00" + strconv.Itoa(seq)
}

// sealedHeader is the one field of a header that is sealed.
const sealedHeader = "Restaq-Sealed"

// sealEvent returns the event as it is to be stored.
func (v *vault) sealEvent(ctx context.Context, e *Event) (*Event, error) {
	if e == nil || v.keyring == nil && v.passes(e.Payload) {
		return e, nil
	}
	sealed := *e
	var err error
	if sealed.Payload, err = v.seal(ctx, e.Payload, payloadPlace(e)); err != nil {
		return nil, fmt.Errorf("seal payload: %w", err)
	}
	if v.keyring == nil || len(e.Header) == 0 {
		return &sealed, nil
	}
	header, err := json.Marshal(e.Header)
	if err != nil {
		return nil, fmt.Errorf("seal header: %w", err)
	}
	if header, err = v.seal(ctx, header, headerPlace(e)); err != nil {
		return nil, fmt.Errorf("seal header: %w", err)
	}
	sealed.Header = http.Header{sealedHeader: {base64.StdEncoding.EncodeToString(header)}}
	return &sealed, nil
}

// openEvent opens the event as it was stored.
func (v *vault) openEvent(ctx context.Context, e *Event) error {
	payload, err := v.open(ctx, e.Payload, "payload", payloadPlace(e), maxPayload)
	if err != nil {
		return err
	}
	if text := e.Header[sealedHeader]; len(e.Header) == 1 && len(text) == 1 {
		if e.Header, err = v.openHeader(ctx, text[0], headerPlace(e)); err != nil {
			return err
		}
	}
	e.Payload = payload
	return nil
}

func (v *vault) openHeader(ctx context.Context, text, place string) (h http.Header, err error) {
	value, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		if value, err = v.open(ctx, value, "header", place, maxPayload); err != nil {
			return nil, err
		}
		err = json.Unmarshal(value, &h)
	}
	if err != nil {
		return nil, &SealError{Value: "header", Err: err}
	}
	return h, nil
}

// passesSteps reports whether rows are stored as they are.
func (v *vault) passesSteps(rows []StepRow) bool {
	if v.keyring != nil {
		return len(rows) == 0
	}
	for i := range rows {
		if !v.passes(rows[i].Output) {
			return false
		}
	}
	return true
}

// sealSteps returns the rows as they are to be stored.
func (v *vault) sealSteps(ctx context.Context, execution string, rows []StepRow) ([]StepRow, error) {
	if v.passesSteps(rows) {
		return rows, nil
	}
	sealed := slices.Clone(rows)
	for i := range sealed {
		r := &sealed[i]
		var err error
		if r.Output, err = v.seal(ctx, r.Output, rowPlace("output", execution, r.Attempt, r.Seq)); err != nil {
			return nil, fmt.Errorf("seal output: %w", err)
		}
		if r.Detail, err = v.sealDetail(ctx, r.Detail, rowPlace("detail", execution, r.Attempt, r.Seq)); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// sealDetail is seal for what holds stacks and errors: JSON, so without a key it
// stays as it is.
func (v *vault) sealDetail(ctx context.Context, detail []byte, place string) ([]byte, error) {
	if v.keyring == nil {
		return detail, nil
	}
	sealed, err := v.seal(ctx, detail, place)
	if err != nil {
		return nil, fmt.Errorf("seal detail: %w", err)
	}
	return sealed, nil
}

// openHistory opens what was stored of an execution. Of what cannot be opened,
// sealed says why.
func (v *vault) openHistory(ctx context.Context, h *StoredExecution) {
	h.Event.sealed = v.openEvent(ctx, &h.Event)
	id := h.Execution.ID
	for i := range h.Steps {
		r := &h.Steps[i]
		detail, err := v.open(ctx, r.Detail, "detail", rowPlace("detail", id, r.Attempt, r.Seq), maxPayload)
		output, err2 := v.open(ctx, r.Output, "output", rowPlace("output", id, r.Attempt, r.Seq), maxPayload)
		r.Detail, r.Output, r.sealed = detail, output, cmp.Or(err, err2)
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		detail, err := v.open(ctx, a.Detail, "detail", rowPlace("detail", id, a.Number, 0), maxPayload)
		a.Detail, h.sealed = detail, cmp.Or(h.sealed, err)
	}
}

// vaulted is a store behind a vault.
type vaulted struct {
	Store
	vault *vault
}

func (s vaulted) Lookup(ctx context.Context, source, eventID string, payload bool) (*StoredEvent, error) {
	e, err := s.Store.Lookup(ctx, source, eventID, payload)
	if err == nil && payload {
		e.Event.sealed = s.vault.openEvent(ctx, &e.Event)
	}
	return e, err
}

func (s vaulted) Insert(ctx context.Context, in *Insertion) (bool, []Execution, error) {
	in, err := s.vault.sealInsertion(ctx, in)
	if err != nil {
		return false, nil, err
	}
	return s.Store.Insert(ctx, in)
}

// sealInsertion returns the insertion as it is to be stored.
func (v *vault) sealInsertion(ctx context.Context, in *Insertion) (*Insertion, error) {
	event, err := v.sealEvent(ctx, in.Event)
	if err != nil || event == in.Event {
		return in, err
	}
	sealed := *in
	sealed.Event = event
	return &sealed, nil
}

func (s vaulted) Claim(ctx context.Context, c Claim) ([]Claimed, error) {
	claimed, err := s.Store.Claim(ctx, c)
	for i := range claimed {
		claimed[i].Event.sealed = s.vault.openEvent(ctx, &claimed[i].Event)
	}
	return claimed, err
}

// sealProgress returns the progress as it is to be stored.
func (v *vault) sealProgress(ctx context.Context, execution string, p *Progress) (*Progress, error) {
	if v.passesSteps(p.Steps) {
		return p, nil
	}
	steps, err := v.sealSteps(ctx, execution, p.Steps)
	if err != nil {
		return nil, err
	}
	return &Progress{Steps: steps, Current: p.Current}, nil
}

func (s vaulted) Record(ctx context.Context, lease Lease, p *Progress) error {
	p, err := s.vault.sealProgress(ctx, lease.Execution, p)
	if err != nil {
		return err
	}
	return s.Store.Record(ctx, lease, p)
}

func (s vaulted) Renew(ctx context.Context, renewals []Renewal, d time.Duration) ([]string, error) {
	if !slices.ContainsFunc(renewals, func(r Renewal) bool { return !s.vault.passesSteps(r.Progress.Steps) }) {
		return s.Store.Renew(ctx, renewals, d)
	}
	sealed := make([]Renewal, len(renewals))
	for i, r := range renewals {
		p, err := s.vault.sealProgress(ctx, r.Lease.Execution, &r.Progress)
		if err != nil {
			// A lease is worth more than rows that can wait for the next write:
			// the caller sees that they were not written.
			renewals[i].Progress.Steps = nil
			p = &renewals[i].Progress
		}
		sealed[i] = Renewal{Lease: r.Lease, Progress: *p}
	}
	return s.Store.Renew(ctx, sealed, d)
}

func (s vaulted) Finish(ctx context.Context, lease Lease, o *Outcome) (*Execution, error) {
	if s.vault.keyring == nil && s.vault.passesSteps(o.Steps) {
		return s.Store.Finish(ctx, lease, o)
	}
	sealed := *o
	var err error
	if sealed.Steps, err = s.vault.sealSteps(ctx, lease.Execution, o.Steps); err != nil {
		return nil, err
	}
	if sealed.Detail, err = s.vault.sealDetail(ctx, o.Detail, rowPlace("detail", lease.Execution, lease.Attempt, 0)); err != nil {
		return nil, err
	}
	return s.Store.Finish(ctx, lease, &sealed)
}

func (s vaulted) History(ctx context.Context, id string) (*StoredExecution, error) {
	h, err := s.Store.History(ctx, id)
	if err == nil {
		s.vault.openHistory(ctx, h)
	}
	return h, err
}

// fingerprintSecret is the name of the store's secret for input fingerprints,
// sealed.
const fingerprintSecret = "fingerprint.sealed"

// fingerprintKey returns the key of input fingerprints. It never changes; with a
// keyring it is stored sealed, and the plain one that was there before is
// deleted.
func (rt *Runtime) fingerprintKey(ctx context.Context) ([]byte, error) {
	keyed, ok := rt.raw.(Keyed)
	if !ok {
		return nil, nil
	}
	secrets, ok := rt.raw.(Secrets)
	if !ok {
		return keyed.FingerprintKey(ctx)
	}
	for {
		sealed, err := secrets.Secret(ctx, fingerprintSecret)
		if err != nil {
			return nil, err
		}
		if sealed != nil {
			return rt.vault.open(ctx, sealed, "fingerprint key", fingerprintSecret, maxPayload)
		}
		key, err := keyed.FingerprintKey(ctx)
		if err != nil || rt.vault.keyring == nil {
			return key, err
		}
		if sealed, err = rt.vault.seal(ctx, key, fingerprintSecret); err != nil {
			return nil, err
		}
		if _, err := secrets.SwapSecret(ctx, fingerprintSecret, nil, sealed); err != nil {
			return nil, err
		}
		if _, err := secrets.SwapSecret(ctx, "fingerprint", key, nil); err != nil {
			return nil, err
		}
		// Whoever sealed it first, this one's or another process's, is read.
	}
}
