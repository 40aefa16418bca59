package webhook

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// mediaType returns the request's media type without parameters, in lower
// case; "" if it has none or one that cannot be read.
func mediaType(r *http.Request) string {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// isJSON reports whether a media type is JSON's own, or built on it.
func isJSON(media string) bool {
	return media == mediaJSON || strings.HasSuffix(media, "+json")
}

// formField returns the one value that a urlencoded form has under name. Other
// fields are looked at no further than their names.
func formField(body []byte, name string) ([]byte, error) {
	var value []byte
	count := 0
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		rawLabel, rawValue, _ := bytes.Cut(pair, []byte("="))
		label, err := url.QueryUnescape(string(rawLabel))
		if err != nil {
			return nil, malformed("form has an invalid escape in a field's name")
		}
		if label != name {
			continue
		}
		if count++; count > 1 {
			return nil, malformed("form has field %s more than once", name)
		}
		text, err := url.QueryUnescape(string(rawValue))
		if err != nil {
			return nil, malformed("form has an invalid escape in field %s", name)
		}
		value = []byte(text)
	}
	if count == 0 {
		return nil, malformed("form has no field %s", name)
	}
	return value, nil
}
