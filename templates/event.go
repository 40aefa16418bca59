package templates

import "strings"

// EventPackage is everything that is said in a generated event package.
type EventPackage struct {
	Name     string // the package's name
	Provider string
	Files    []EventFile
	Events   []EventCase // what Decode knows, in the order of its switch
	Table    string      // the schemas, as package runtime/validate reads them
}

// EventFile is one file of an event package. Declarations are emitted in the
// order of the lists.
type EventFile struct {
	Name     string // of the file, ending in _gen.go
	Families []EventFamily
	Structs  []*EventStruct
	Unions   []*EventUnion
	Enums    []*EventEnum
}

// EventFamily is a sealed interface over the events of one prefix.
type EventFamily struct {
	Name   string // PullRequestEvent
	Marker string // isPullRequestEvent
	Prefix string // pull_request
}

// EventCase is one event type and its struct.
type EventCase struct {
	Const, Struct string
}

// EventStruct is an object of a payload, or a whole payload.
type EventStruct struct {
	Name   string
	Doc    []string // paragraphs of our own
	Text   string   // the schema's description, foreign text
	Fields []EventField
	Extra  *EventExtra // nil: members beyond the fields are ignored
	Tuple  bool        // an array in JSON, of an item for each field
	Least  int         // of a tuple: how many items always come

	Markers []string // methods that put it into its families and unions

	// Only of a whole payload.
	Const     string // ChargeSucceededType
	EventType string // stripe.charge.succeeded

	Deprecated bool
}

// EventField is a member of an object.
type EventField struct {
	Name       string
	Member     string // its name in JSON
	Option     string // omitempty, omitzero or nothing
	Type       *EventType
	Text       string // the schema's description, foreign text
	Deprecated bool
	Stand      string // what stands in the tag for a member whose name a tag can't hold; "" for all others
}

// EventExtra is the field that holds the members or items which have none of
// their own.
type EventExtra struct {
	Name string
	Type *EventType // a map, or a tuple's slice; members that do not fit are left out
}

// EventUnion is one of several objects, which a member tells apart.
type EventUnion struct {
	Name     string // Source, a struct
	Value    string // SourceValue, a sealed interface
	Unknown  string // SourceUnknown, an object of another kind
	Marker   string // isSource
	Tag      string // the member that tells, in JSON
	Doc      []string
	Text     string
	Variants []EventVariant

	Deprecated bool
}

// EventVariant is one of the objects of a union.
type EventVariant struct {
	Kinds  []string // values of the tag; a number or boolean as its JSON text
	Struct string
}

// EventEnum is a string type with constants.
type EventEnum struct {
	Name       string
	Doc        []string
	Text       string
	Values     []EventValue
	Deprecated bool

	// Default is the name of one more constant, for the value that counts where
	// none comes, and DefaultOf that of the value; "" if the schema names none.
	Default, DefaultOf string
}

// EventValue is a constant of an enum.
type EventValue struct {
	Name, Value string
}

// EventType is a Go type as event packages use them.
type EventType struct {
	Kind EventKind
	Name string     // of a Basic, Local or Payload type
	Elem *EventType // of all the others, and of a generic Payload type
}

// EventKind says how an EventType is put together.
type EventKind int

// The kinds of types in event packages.
const (
	Basic   EventKind = iota // string, bool, int64, uint64
	Local                    // a type of the package itself
	Payload                  // a type of runtime/payload
	RawJSON                  // json.RawMessage
	Pointer
	Slice
	Map // with string keys
)

// String returns the type as Go source, with package names as imported.
func (t *EventType) String() string {
	switch t.Kind {
	case Payload:
		if t.Elem != nil {
			return "payload." + t.Name + "[" + t.Elem.String() + "]"
		}
		return "payload." + t.Name
	case RawJSON:
		return "json.RawMessage"
	case Pointer:
		return "*" + t.Elem.String()
	case Slice:
		return "[]" + t.Elem.String()
	case Map:
		return "map[string]" + t.Elem.String()
	}
	return t.Name
}

// Taggable reports whether a struct tag can name the JSON member: encoding/json
// ignores a tag that holds anything but letters, digits and the usual signs.
func Taggable(member string) bool {
	if member == "" || strings.ContainsFunc(member, func(r rune) bool { return !tagRune(r) }) {
		return false
	}
	return true
}
