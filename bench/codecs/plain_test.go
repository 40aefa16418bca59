//go:build !easyjson

package codecs

var easyjson []library

func receiptTwin() any { return new(Receipt) }
