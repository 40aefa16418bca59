package webhook

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	restaq "github.com/restaq/restaq/runtime"
)

func TestFieldsAreFoundWhereverTheyStand(t *testing.T) {
	for name, test := range map[string]struct{ body, path, want string }{
		"first":                       {`{"id":"a","x":1}`, "id", "a"},
		"last":                        {`{"x":1,"id":"a"}`, "id", "a"},
		"only the top level":          {`{"data":{"id":"b"},"list":[{"id":"c"}],"id":"a"}`, "id", "a"},
		"not inside a string":         {`{"x":"\"id\":\"b\"}","id":"a"}`, "id", "a"},
		"after escapes at the end":    {`{"x":"\\","y":"\\\"","id":"a"}`, "id", "a"},
		"with spaces":                 {" {\n\t\"id\" \r: \"a\" , \"x\":1}\r\n", "id", "a"},
		"label with escapes":          {`{"\u0069d":"a"}`, "id", "a"},
		"value with escapes":          {`{"id":"\u00e9\n\"\\\ud83d\ude00"}`, "id", "é\n\"\\😀"},
		"of several, the last":        {`{"id":"a","id":"b"}`, "id", "b"},
		"of several, null last":       {`{"id":"a","id":null}`, "id", ""},
		"spelt exactly":               {`{"ID":"a","Id":"b"}`, "id", ""},
		"integer":                     {`{"id":820982911946154508}`, "id", "820982911946154508"},
		"negative integer":            {`{"id":-1}`, "id", "-1"},
		"nested":                      {`{"event":{"x":{"type":"no"},"type":"yes"}}`, "event.type", "yes"},
		"nested in the last":          {`{"event":{"type":"a"},"event":{"type":"b"}}`, "event.type", "b"},
		"nested in what is no more":   {`{"event":{"type":"a"},"event":1}`, "event.type", ""},
		"nested in a list":            {`{"event":[{"type":"a"}]}`, "event.type", ""},
		"three levels":                {`{"a":{"b":{"c":"x"}}}`, "a.b.c", "x"},
		"absent":                      {`{}`, "id", ""},
		"empty":                       {`{"id":""}`, "id", ""},
		"deep neighbours":             {`{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `,"id":"a"}`, "id", "a"},
		"brackets in strings":         {`{"x":["]","}",{"{":"["}],"id":"a"}`, "id", "a"},
		"literals beside it":          {`{"a":true,"b":false,"c":null,"d":-1.5e+9,"id":"a"}`, "id", "a"},
		"invalid UTF-8 elsewhere":     {"{\"x\":\"\xff\",\"\xfe\":1,\"id\":\"a\"}", "id", "a"},
		"replacement rune, spelt out": {`{"id":"` + "\uFFFD" + `"}`, "id", "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := parseDocument([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := doc.text(test.path); err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestFieldsThatAreNoText(t *testing.T) {
	for name, body := range map[string]string{
		"object": `{"id":{}}`, "list": `{"id":[1]}`, "true": `{"id":true}`, "false": `{"id":false}`,
		"fraction": `{"id":1.0}`, "exponent": `{"id":1e3}`, "upper-case exponent": `{"id":1E3}`,
		"invalid UTF-8": "{\"id\":\"\xff\"}", "lone surrogate": `{"id":"\ud800x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := parseDocument([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := doc.text("id"); !errors.Is(err, restaq.ErrMalformed) {
				t.Errorf("got %q, %v; want malformed", got, err)
			}
		})
	}
}

func TestDocumentsThatAreNone(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "space": " \n", "string": `"{}"`, "list": `[{}]`, "null": "null", "number": "1", "open": `{"id":"a"`,
		"two": "{}{}", "trailing comma": `{"id":"a",}`, "single quotes": `{'id':'a'}`, "comment": "{}//", "BOM": "\ufeff{}",
		"control character in a string": "{\"id\":\"\n\"}", "invalid escape": `{"id":"\x"}`, "leading zero": `{"id":01}`,
		"too deep": strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseDocument([]byte(body)); !errors.Is(err, restaq.ErrMalformed) {
				t.Errorf("error %v, want malformed", err)
			}
		})
	}
}

func FuzzDocument(f *testing.F) {
	for _, body := range []string{
		`{"id":"a","type":"b"}`, `{"a":{"b":[1,"]",{"c":null}]},"a":{"b":true}}`, `{"\u0061":"\ud800","b":"\\\""}`,
		" {\r\n\"b\" : -1.5e9 }\t", "{\"a\":\"\xff\"}", `[]`, `{`, ``, `{"":{"":""}}`, `{"a":820982911946154508}`,
	} {
		f.Add([]byte(body), "a", "b")
	}
	f.Fuzz(func(t *testing.T, body []byte, first, second string) {
		doc, err := parseDocument(body)
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(body, &want)
		if null := wantErr == nil && want == nil; (err == nil) != (wantErr == nil && !null) {
			t.Fatalf("error %v, encoding/json has %v", err, wantErr)
		}
		if err != nil || !utf8.Valid(body) || !utf8.ValidString(first) || !utf8.ValidString(second) ||
			strings.Contains(first+second, ".") || strings.Contains(first+second, "\ufffd") {
			return
		}
		sameValue(t, doc.field(first), want[first])
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(want[first], &inner); err == nil {
			sameValue(t, doc.field(first+"."+second), inner[second])
		}
		var text string
		got, err := doc.text(first)
		if wantErr := json.Unmarshal(want[first], &text); wantErr == nil && err == nil && len(want[first]) > 0 && want[first][0] == '"' && got != text {
			t.Errorf("text %q, encoding/json has %q", got, text)
		}
	})
}

func sameValue(t *testing.T, got []byte, want json.RawMessage) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("field %q, encoding/json has %q", got, want)
	}
}

func FuzzFormField(f *testing.F) {
	for _, body := range []string{
		"payload=%7B%22yo%22%3Atrue%7D", "a=1&payload=x+y&b", "payload", "payload=&payload=", "%70ayload=1", "payload=%zz", "&&=&", "",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := formField(body, "payload")
		if err != nil {
			if !errors.Is(err, restaq.ErrMalformed) {
				t.Fatalf("error %v of another class", err)
			}
			return
		}
		if bytes.IndexByte(body, ';') >= 0 {
			return // net/url refuses them
		}
		// What net/url reads without error must be the same; it also looks at
		// the values of other fields, and limits their number.
		if want, err := url.ParseQuery(string(body)); err == nil {
			if len(want["payload"]) != 1 || want.Get("payload") != string(got) {
				t.Errorf("payload %q, net/url has %q", got, want["payload"])
			}
		}
	})
}

func FuzzStripeHeader(f *testing.F) {
	for _, value := range []string{
		"t=1700000000,v1=00ff", "t=1,v1=00,v1=zz,v0=1", "v1=00,t=1", "t=,v1=", "t=1,t=2,v1=00", "t=+1,v1=00", "t=1,v1=00,", "t=1,v1=a=b", "=", "", "t=99999999999999999999,v1=00",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		h, err := parseStripeHeader(value)
		if err != nil {
			return
		}
		n, err := strconv.ParseUint(h.timestamp, 10, 63)
		if err != nil || !h.signed.Equal(time.Unix(int64(n), 0)) {
			t.Errorf("timestamp %q read as %v", h.timestamp, h.signed)
		}
		if strings.Count(","+value, ",t=") != 1 || !strings.Contains(","+value+",", ",t="+h.timestamp+",") {
			t.Errorf("timestamp %q is not the header's only one", h.timestamp)
		}
		if len(h.signatures) == 0 || len(h.signatures) > maxSignatures {
			t.Errorf("%d signatures", len(h.signatures))
		}
		for _, s := range h.signatures {
			if len(s) == 0 || !strings.Contains(strings.ToLower(value), "v1="+hex.EncodeToString(s)) {
				t.Errorf("signature %x is not in the header", s)
			}
		}
	})
}

func FuzzStandardSignatures(f *testing.F) {
	for _, value := range []string{
		"v1,AAAA", "v1,AAAA v1a,AAAA v2,zz", "v1,AAA", "v1", ",", " ", "", "v1,AB==", "v1,AA==", "v1,AAAA,BBBB", "v1a," + strings.Repeat("A", 86) + "==",
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s, err := parseStandardSignatures(value)
		if err != nil {
			return
		}
		if n := len(s.macs) + len(s.publics); n == 0 || n > maxSignatures {
			t.Errorf("%d signatures", n)
		}
		entries := strings.Fields(value)
		for version, signatures := range map[string][][]byte{"v1": s.macs, "v1a": s.publics} {
			for _, signature := range signatures {
				entry := version + "," + base64.StdEncoding.EncodeToString(signature)
				found := false
				for _, e := range entries {
					found = found || e == entry
				}
				if len(signature) == 0 || !found {
					t.Errorf("signature %q is no entry of %q", entry, value)
				}
			}
		}
	})
}

func TestKeyWithoutBytesMatchesNothing(t *testing.T) {
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte("body"))
	if matchMAC(sha256.New, key{}, [][]byte{mac.Sum(nil)}, []byte("body")) {
		t.Error("an HMAC under the empty key matched")
	}
}
