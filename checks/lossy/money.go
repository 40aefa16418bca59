package lossy

import (
	"strings"

	"github.com/restaq/restaq/internal/naming"
)

// money are the words that name a sum of money, and qualifiers those that may
// stand behind one: amountDue, total_eur. Behind any other the word means
// something else: priceRatio, totalSeconds.
var (
	money      = words("amount balance cost fare fee payout price refund revenue salary subtotal total")
	qualifiers = words("aud cad captured charged chf due eur excl gbp gross incl jpy net paid received refunded remaining total usd")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// isMoney reports whether a name is one of a sum of money.
func isMoney(name string) bool {
	parts := naming.Words(name)
	for i := len(parts) - 1; i >= 0; i-- {
		word := strings.ToLower(parts[i])
		if money[word] || money[strings.TrimSuffix(word, "s")] {
			return true
		}
		if !qualifiers[word] {
			return false
		}
	}
	return false
}
