package evolve

// A Rule names a kind of change.
type Rule string

// The rules for the shape of a step's output.
const (
	FieldAdded          Rule = "field-added"
	FieldRemoved        Rule = "field-removed"
	FieldRenamed        Rule = "field-renamed"
	TypeChanged         Rule = "type-changed"
	NumberWidened       Rule = "number-widened"
	NumberNarrowed      Rule = "number-narrowed"
	StringOptionChanged Rule = "string-option-changed"
	OptionalToRequired  Rule = "optional-to-required"
	RequiredToOptional  Rule = "required-to-optional"
	AbsenceChanged      Rule = "absence-changed"
	NullableAdded       Rule = "nullable-added"
	NullableRemoved     Rule = "nullable-removed"
	EnumValueAdded      Rule = "enum-value-added"
	EnumValueRemoved    Rule = "enum-value-removed"
	TimeFormatChanged   Rule = "time-format-changed"
	LengthChanged       Rule = "length-changed"
	CollectionChanged   Rule = "collection-changed"
	MapKeyChanged       Rule = "map-key-changed"
	EncodingChanged     Rule = "encoding-changed"
	EventTypeChanged    Rule = "event-type-changed"
	OutputAdded         Rule = "output-added"
	OutputRemoved       Rule = "output-removed"
	ShapeUnknown        Rule = "shape-unknown"
)

// The rules for steps.
const (
	StepAdded          Rule = "step-added"
	StepRemoved        Rule = "step-removed"
	StepRenamed        Rule = "step-renamed"
	StepMoved          Rule = "step-moved"
	StepOrderChanged   Rule = "step-order-changed"
	StepOptionsChanged Rule = "step-options-changed"
	KeyChanged         Rule = "key-changed"
	InputsChanged      Rule = "inputs-changed"
)

// The rules for handlers.
const (
	HandlerAdded          Rule = "handler-added"
	HandlerRemoved        Rule = "handler-removed"
	HandlerRenamed        Rule = "handler-renamed"
	HandlerOptionsChanged Rule = "handler-options-changed"
	EventAdded            Rule = "event-added"
	EventDropped          Rule = "event-dropped"
	OrderChanged          Rule = "order-changed"
)

// A Verdict says what a change does to executions in flight. Greater ones are
// worse.
type Verdict int

// The verdicts.
const (
	Safe      Verdict = iota // records are read, and steps found
	Info                     // so they are, but a person may want to know
	Converter                // records are not read: the executions stop
	Breaks                   // steps run again, or executions are not gone on with
)

// String returns the verdict in words.
func (v Verdict) String() string {
	return [...]string{"safe", "info", "needs a converter", "breaks executions in flight"}[v]
}

// remedies say what to do about a change, by rule. %s is the step or handler.
var remedies = map[Rule]string{
	FieldAdded:          "give it omitempty or omitzero, so that it may be missing from records",
	FieldRemoved:        "keep the field until no execution in flight has it",
	FieldRenamed:        "keep the old name in the field's json tag",
	StringOptionChanged: "leave the tag option string as it was",
	NullableRemoved:     "keep the pointer: records may hold null",
	AbsenceChanged:      "what was left out stood for the zero value, and would be another one now: keep the type, or add a field beside it",
	OptionalToRequired:  "keep omitempty or omitzero: what was left out would be another value now",
	EventTypeChanged:    "record a type of your own that has just what later steps need; types of event packages are known by fingerprint alone",
	OutputAdded:         "give the step a new name, if it may run again",
}
