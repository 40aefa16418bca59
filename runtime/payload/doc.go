// Package payload holds the small types that generated event packages are made
// of, where plain Go types would lose or refuse what a provider sends.
//
//	Nullable[T]    a member that may be absent, null or a value
//	Expandable[T]  an object that usually comes as its id alone
//	OneOrMany[T]   a value, or an array of such values in its place
//	Number         a number, digit for digit, or a string in its place
//	Time           a point in time, in the text or number in which it came
//	Unix           seconds since 1970, as a plain integer
//	Unknown        an object of a kind that the schema does not know
//
// All of them are values: the zero value is useful, they can be copied, and all
// but OneOrMany, and Nullable of an incomparable type, can be compared with ==. They encode back
// exactly what was decoded. None is safe for use while another goroutine decodes
// into it; otherwise they may be shared.
//
// Decoding is tolerant, because a receiver that refuses a live event because of
// one odd member is worse than one that hands it on: null leaves a Number or
// Time at its zero value, a text that is no time stays readable as text. Ask
// Parse, Int64 or Object for an error where the value matters.
package payload
