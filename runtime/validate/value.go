package validate

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// typeOf returns the JSON type of a value, "integer" for a number without a
// fraction.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if isInteger(v.String()) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// isInteger reports whether a JSON number has no fraction: 1, 1.0, 1e3, 10e-1.
func isInteger(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	digits, exponent := decimal(text)
	return digits == "0" || exponent >= 0
}

// decimal returns a JSON number as digits, without zeros at either end and with
// a minus in front if it is negative, and the power of ten that they count. It
// takes numbers of any size.
func decimal(text string) (digits string, exponent int) {
	mantissa, power := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, power = text[:i], text[i+1:]
	}
	if power != "" {
		e, err := strconv.Atoi(power)
		if err != nil { // beyond any machine's numbers
			e = 1 << 40
			if power[0] == '-' {
				e = -e
			}
		}
		exponent = e
	}
	sign := ""
	if mantissa != "" && mantissa[0] == '-' {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", 0
	}
	short := strings.TrimRight(digits, "0")
	return sign + short, exponent + len(digits) - len(short)
}

// maxExponent bounds the numbers that are computed with. Beyond, a number of a
// few bytes would fill the memory.
const maxExponent = 5000

// rational returns a JSON number, nil if it is none or too large or small to
// compute with.
func rational(text string) *big.Rat {
	if text == "" {
		return nil
	}
	if digits, exponent := decimal(text); exponent > maxExponent || exponent < -maxExponent || len(digits) > maxExponent {
		return nil
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}

// compare compares a JSON number with a limit.
func compare(text string, limit *big.Rat) int {
	if r := rational(text); r != nil {
		return r.Cmp(limit)
	}
	digits, exponent := decimal(text)
	switch {
	case exponent < 0 && len(digits) < maxExponent: // next to zero
		return -limit.Sign()
	case digits[0] == '-':
		return -1
	}
	return 1
}

// canonical returns a text that equal JSON values share: numbers by value,
// members sorted.
func canonical(v any) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

// canonicalOf is canonical of JSON text.
func canonicalOf(data []byte) (string, error) {
	v, err := parse(data)
	return canonical(v), err
}

func write(b *strings.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		b.WriteString(strconv.Quote(v))
	case json.Number:
		digits, exponent := decimal(v.String())
		b.WriteString(digits + "e" + strconv.Itoa(exponent))
	case []any:
		for i, item := range v {
			b.WriteByte("[,"[min(i, 1)])
			write(b, item)
		}
		b.WriteString("]")
	case map[string]any:
		b.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(strconv.Quote(name) + ":")
			write(b, v[name])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}

// brief returns a value as JSON, shortened.
func brief(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	const most = 60
	if len(data) <= most {
		return string(data)
	}
	n := most
	for n > 0 && !utf8.RuneStart(data[n]) {
		n--
	}
	return string(data[:n]) + "…"
}

// fits reports whether a number is not an integer beyond a Go type. One with a
// fraction is not: that is another deviation.
func fits(text, goType string) bool {
	if !isInteger(text) {
		return true
	}
	r := rational(text)
	if r == nil {
		return false // it is too large to compute with
	}
	if goType == "uint64" {
		return r.Num().IsUint64()
	}
	return r.Num().IsInt64()
}
