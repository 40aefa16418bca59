// Package naming turns foreign names into Go identifiers and Go identifiers
// into step names.
//
// The rules and the word lists in this package are part of what users compile
// against: a word added to [initialisms] renames their fields. Add to the lists
// only together with a major version.
//
//	user_id          Exported  UserID
//	charge.succeeded Exported  ChargeSucceeded
//	+1               Exported  PlusOne
//	sendHTTPV2       Kebab     send-http-v2
package naming

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Exported returns the exported Go identifier for a name of any form: snake,
// kebab, dotted or camel case, with symbols, or in another script. It is never
// empty and always legal. Different names may give one identifier; [Scope]
// keeps them apart.
func Exported(name string) string {
	id := Part(name)
	first, _ := utf8.DecodeRuneInString(id)
	switch {
	case unicode.IsDigit(first):
		return "N" + id
	case !unicode.IsUpper(first):
		return "X" + id
	}
	return id
}

// Part returns name as the tail of an exported identifier, to be put behind
// another one: it may begin with a digit or with a letter that has no case. It
// is never empty.
func Part(name string) string {
	words := Words(name)
	var b strings.Builder
	for i, w := range words {
		if i > 0 && joinsDigits(b.String(), w) {
			b.WriteByte('_')
		}
		if i > 0 && (words[i-1] == "plus" || words[i-1] == "minus") && len(w) == 1 && isDigit(w[0]) {
			w = digits[w[0]-'0']
		}
		b.WriteString(capital(w))
	}
	return b.String()
}

var digits = [10]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// joinsDigits reports whether writing w behind s would run two numbers together.
func joinsDigits(s, w string) bool {
	return s != "" && isDigit(s[len(s)-1]) && isDigit(w[0])
}

// Kebab returns a Go identifier in kebab case, which is the default name of a
// step: recordPayment is record-payment, sendHTTPV2 is send-http-v2. The result
// always has the form [a-z0-9][a-z0-9-]*: a letter outside a to z is written as
// u and its code in hexadecimal, as in u00e4.
func Kebab(name string) string {
	words := Words(name)
	for i, w := range words {
		words[i] = ascii(strings.ToLower(w))
	}
	return strings.Join(words, "-")
}

// ascii writes every rune of s outside ASCII as u and its code.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "u%04x", r)
	}
	return b.String()
}

// capital writes one word as it stands inside an exported identifier: known
// initialisms in their own spelling, everything else with a capital first
// letter. Letters behind a digit begin a word of their own (base64url is
// Base64URL).
func capital(word string) string {
	if s, ok := spelling(word); ok {
		return s
	}
	var b strings.Builder
	for len(word) > 0 {
		n := strings.IndexFunc(word, unicode.IsDigit)
		if n < 0 {
			n = len(word)
		}
		letters := word[:n]
		if s, ok := spelling(letters); ok {
			letters = s
		} else if letters != "" {
			r, size := utf8.DecodeRuneInString(letters)
			letters = string(unicode.ToUpper(r)) + letters[size:]
		}
		b.WriteString(letters)
		word = word[n:]
		for len(word) > 0 {
			r, size := utf8.DecodeRuneInString(word)
			if !unicode.IsDigit(r) {
				break
			}
			b.WriteString(word[:size])
			word = word[size:]
		}
	}
	return b.String()
}

// spelling returns the fixed spelling of a word, singular or plural.
func spelling(word string) (string, bool) {
	lower := strings.ToLower(word)
	if s, ok := brands[lower]; ok {
		return s, true
	}
	if initialisms[lower] {
		return strings.ToUpper(lower), true
	}
	if one, ok := strings.CutSuffix(lower, "s"); ok && initialisms[one] {
		return strings.ToUpper(one) + "s", true
	}
	return "", false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
