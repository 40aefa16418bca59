package naming

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go custom writes in capitals. Frozen: see the
// package comment.
var initialisms = set("acl api ascii aws bic cpu css csv cvc db dns eof gpg gps guid hmac html http https iban id ip jpg json jwt md5 mfa os pdf php pin png qps qr ram rpc sdk sepa sha sla sms smtp sql ssh sso svg tcp tls ttl udp ui uid uri url utf8 uuid vat vm xml xss yaml")

// brands are the words with a spelling of their own.
var brands = map[string]string{
	"oauth": "OAuth", "github": "GitHub", "graphql": "GraphQL", "ipv4": "IPv4", "ipv6": "IPv6",
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// symbols are the names of characters that carry meaning: always, or only in a
// name that has no letter and no digit.
var symbols = map[rune]struct {
	word   string
	always bool
}{
	'+': {"plus", true}, '<': {"less", true}, '>': {"greater", true}, '=': {"equal", true}, '&': {"and", true}, '%': {"percent", true},
	'-': {"minus", false}, '*': {"star", false}, '!': {"not", false}, '?': {"query", false}, '#': {"hash", false}, '@': {"at", false},
	'$': {"dollar", false}, '.': {"dot", false}, ',': {"comma", false}, ':': {"colon", false}, ';': {"semicolon", false},
	'/': {"slash", false}, '\\': {"backslash", false}, '|': {"pipe", false}, '~': {"tilde", false}, '^': {"caret", false},
	'_': {"underscore", false}, ' ': {"space", false}, '\t': {"tab", false}, '\n': {"newline", false}, '"': {"quote", false},
	'\'': {"apostrophe", false}, '(': {"paren", false}, '[': {"bracket", false}, '{': {"brace", false},
}

// Words splits a name into its words, in the letters of the source except that
// symbols are spelled out. The result is never empty: the empty name is the word
// "empty", and characters without a name are "symbol".
func Words(name string) []string {
	if name == "" {
		return []string{"empty"}
	}
	rs := []rune(name)
	plain := !strings.ContainsFunc(name, wordRune)
	var words []string
	for i := 0; i < len(rs); {
		r := rs[i]
		if wordRune(r) {
			n := i
			for n < len(rs) && (wordRune(rs[n]) || dropped(rs[n])) {
				n++
			}
			words = append(words, split(rs[i:n])...)
			i = n
			continue
		}
		sign := r == '-' && i == 0 && len(rs) > 1 && unicode.IsDigit(rs[1])
		if s, ok := symbols[r]; ok && (s.always || plain || sign) {
			words = append(words, s.word)
		}
		i++
	}
	if len(words) == 0 {
		return []string{"symbol"}
	}
	return words
}

// wordRune reports whether r may stand in a Go identifier, the underscore aside.
func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// dropped reports whether r vanishes without ending a word: won't is one word.
func dropped(r rune) bool { return r == '\'' || r == '’' || unicode.Is(unicode.Mn, r) }

// split splits a run of letters and digits at its camel-case humps.
func split(run []rune) []string {
	rs := make([]rune, 0, len(run))
	for _, r := range run {
		if !dropped(r) {
			rs = append(rs, r)
		}
	}
	var words []string
	for start := 0; start < len(rs); {
		n := wordEnd(rs, start)
		words = append(words, initials(string(rs[start:n]))...)
		start = n
	}
	return words
}

// wordEnd returns where the word that begins at start ends.
func wordEnd(rs []rune, start int) int {
	if n := brandEnd(rs, start); n > 0 {
		return n
	}
	for i := start + 1; i < len(rs); i++ {
		if brandEnd(rs, i) > 0 && unicode.IsUpper(rs[i]) {
			return i
		}
		if !unicode.IsUpper(rs[i]) {
			continue
		}
		next := i + 1
		switch prev := rs[i-1]; {
		case unicode.IsUpper(prev):
			// The last capital of a run begins the next word: HTTPServer.
			if next < len(rs) && unicode.IsLower(rs[next]) && !plural(rs, next) {
				return i
			}
		case unicode.IsDigit(prev):
			// B2B is one word; oauth2SHA and V2Payment are two.
			if lowerBeforeDigits(rs, start, i) || next < len(rs) && unicode.IsLower(rs[next]) && !plural(rs, next) {
				return i
			}
		default:
			return i
		}
	}
	return len(rs)
}

// plural reports whether the letter at i is the s behind a run of capitals, as in URLs.
func plural(rs []rune, i int) bool {
	return rs[i] == 's' && i >= 2 && unicode.IsUpper(rs[i-2]) && (i+1 == len(rs) || !unicode.IsLower(rs[i+1]))
}

func lowerBeforeDigits(rs []rune, start, i int) bool {
	for i--; i >= start && unicode.IsDigit(rs[i]); i-- {
	}
	return i >= start && !unicode.IsUpper(rs[i])
}

// brandEnd returns the end of a word with its own mixed spelling that begins at
// start, or 0.
func brandEnd(rs []rune, start int) int {
	for _, b := range brands {
		n := start + len(b)
		if n <= len(rs) && string(rs[start:n]) == b && (n == len(rs) || !unicode.IsLower(rs[n])) {
			return n
		}
	}
	return 0
}

// initials splits a word in capitals into the initialisms that it is made of,
// and a version at its end: HTTPV2, APIURLs.
func initials(word string) []string {
	if strings.IndexFunc(word, unicode.IsLower) >= 0 && !strings.HasSuffix(word, "s") {
		return []string{word}
	}
	if n := strings.LastIndexByte(word, 'V'); n > 0 && n+1 < len(word) && allDigits(word[n+1:]) {
		return append(initials(word[:n]), word[n:])
	}
	if parts := cover(word); parts != nil {
		return parts
	}
	return []string{word}
}

func allDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// cover returns word as a sequence of two or more initialisms, or nil. Only
// capitals take part: "ideas" is one word.
func cover(word string) []string {
	if len(word) < 2 || word[0] < 'A' || word[0] > 'Z' || word[1] < 'A' || word[1] > 'Z' {
		return nil
	}
	for n := len(word) - 1; n >= 2; n-- {
		if !initialisms[strings.ToLower(word[:n])] {
			continue
		}
		rest := word[n:]
		if _, ok := spelling(rest); ok {
			return []string{word[:n], rest}
		}
		if parts := cover(rest); parts != nil {
			return append([]string{word[:n]}, parts...)
		}
	}
	return nil
}
