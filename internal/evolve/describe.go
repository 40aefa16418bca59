package evolve

import (
	"strconv"
	"strings"
)

// describe says in a word or two what a node is.
func describe(n *node) string {
	if n == nil {
		return ""
	}
	switch n.kind {
	case anything:
		return "any"
	case pointed:
		return "*" + describe(n.elem)
	case raw:
		return "json.RawMessage"
	case boolean:
		return "bool"
	case text:
		return "string"
	case integer:
		return n.format
	case number:
		switch n.format {
		case "float":
			return "float32"
		case "double":
			return "float64"
		}
		return "json.Number"
	case moment:
		return "time.Time"
	case base64:
		return "[]byte"
	case list:
		if n.length >= 0 {
			return "[" + strconv.Itoa(n.length) + "]" + describeElem(n.elem)
		}
		return "[]" + describeElem(n.elem)
	case mapping:
		keys := "string"
		if n.keys != nil {
			keys = describe(n.keys)
		}
		return "map[" + keys + "]" + describeElem(n.elem)
	case object:
		return "struct"
	case quoted:
		return describe(n.elem) + " as a string"
	case opaque:
		return n.name[strings.LastIndexByte(n.name, '/')+1:]
	}
	return "something unknown"
}

// describeElem describes an element without looking further into a type that
// may contain itself.
func describeElem(n *node) string {
	switch n.kind {
	case list, mapping:
		return "…"
	case pointed:
		if n.elem.kind == list || n.elem.kind == mapping {
			return "*…"
		}
	}
	return describe(n)
}
