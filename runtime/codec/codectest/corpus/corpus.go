// Package corpus holds types on which JSON codecs are known to leave
// encoding/json, as inputs and outputs of steps, so that the codecs that are
// generated for them can be compared with encoding/json.
package corpus

//go:generate go tool restaqgen -fuzz

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"time"

	"github.com/restaq/restaq/runtime/codec/codectest/corpus/foreign"
	"github.com/restaq/restaq/runtime/payload"
)

// Omitted has fields that are left out when they are empty.
type Omitted struct {
	Int      int             `json:"int,omitempty"`
	Uint     uint8           `json:"uint,omitempty"`
	Float    float64         `json:"float,omitempty"`
	Float32  float32         `json:"float32,omitempty"`
	String   string          `json:"string,omitempty"`
	Bool     bool            `json:"bool,omitempty"`
	Slice    []int           `json:"slice,omitempty"`
	Map      map[string]int  `json:"map,omitempty"`
	None     [0]int          `json:"none,omitempty"`
	Two      [2]int          `json:"two,omitempty"`
	Empty    struct{}        `json:"empty,omitempty"`
	Time     time.Time       `json:"time,omitempty"`
	Any      any             `json:"any,omitempty"`
	Pointer  *int            `json:"pointer,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
	RawPtr   *json.RawMessage
	Bytes    []byte    `json:"bytes,omitempty"`
	Last     Level     `json:"last,omitempty"`
	LastFlag NamedFlag `json:"flag,omitempty"`
}

// Zeros has fields that are left out when they are zero.
type Zeros struct {
	Int     int                    `json:"int,omitzero"`
	Float   float64                `json:"float,omitzero"`
	String  Word                   `json:"string,omitzero"`
	Bool    bool                   `json:"bool,omitzero"`
	Slice   []int                  `json:"slice,omitzero"`
	Map     map[string]int         `json:"map,omitzero"`
	None    [0]int                 `json:"none,omitzero"`
	Two     [2]float64             `json:"two,omitzero"`
	Empty   struct{}               `json:"empty,omitzero"`
	Time    time.Time              `json:"time,omitzero"`
	Any     any                    `json:"any,omitzero"`
	Pointer *int                   `json:"pointer,omitzero"`
	Day     foreign.Day            `json:"day,omitzero"`
	Maybe   foreign.Maybe          `json:"maybe,omitzero"`
	Both    map[string]int         `json:"both,omitempty,omitzero"`
	Struct  Leaf                   `json:"struct,omitzero"`
	Choice  payload.Nullable[int8] `json:"choice,omitzero"`
}

// Commas leaves out its first, a middle and its last field.
type Commas struct {
	A int `json:"a,omitempty"`
	B int `json:"b"`
	C int `json:"c,omitempty"`
	D int `json:"d"`
	E int `json:"e,omitempty"`
}

// AllOmitted can be empty.
type AllOmitted struct {
	A int    `json:"a,omitempty"`
	B string `json:"b,omitempty"`
}

// Level, Word and NamedFlag are basic types under other names.
type (
	Level     int16
	Word      string
	NamedFlag bool
)

// Leaf is a small struct.
type Leaf struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// Numbers has a field of every kind of number.
type Numbers struct {
	I    int
	I8   int8
	I16  int16
	I32  int32
	I64  int64
	U    uint
	U8   uint8
	U16  uint16
	U32  uint32
	U64  uint64
	Ptr  uintptr
	F32  float32
	F64  float64
	L    Level
	Num  json.Number
	Nums []json.Number `json:",omitempty"`
	NumP *json.Number  `json:",omitempty"`
	Dur  time.Duration
	Rune rune
}

// Texts has strings, and names of members that need escapes.
type Texts struct {
	Plain  string
	Named  Word
	HTML   string `json:"<&>"`
	Accent string `json:"grüße"`
	Kelvin string `json:"K"`
	K      string `json:"k"`
	Long   string `json:"a_name_that_is_rather_long_as_names_go_but_valid"`
	Skip   string `json:"-"`
	Upper  string `json:"ID"`
	Lower  string `json:"id"`
}

// Quoted has fields that are put in strings.
type Quoted struct {
	Int    int      `json:"int,string"`
	Uint   uint8    `json:"uint,string"`
	Float  float64  `json:"float,string"`
	Bool   bool     `json:"bool,string"`
	String string   `json:"string,string"`
	Ptr    *int     `json:"ptr,string"`
	Omit   int64    `json:"omit,string,omitempty"`
	Level  Level    `json:"level,string"`
	Text   Word     `json:"text,string"`
	F32    *float32 `json:"f32,string"`
}

// Base, Middle and Outer embed each other.
type (
	Base struct {
		ID    string `json:"id"`
		Shade string
		Deep  int
	}
	Middle struct {
		Base
		*Side
		Shade string
	}
	Side struct {
		Left  int `json:"left,omitempty"`
		Right *int
	}
	Outer struct {
		Middle
		hidden
		Named   Base `json:"named"`
		*Tagged `json:"tagged,omitempty"`
		Dropped `json:"-"`
		Level
		ID2 string `json:"id2"`
	}
	hidden struct {
		Shown int `json:"shown"`
	}
	Tagged  struct{ T int }
	Dropped struct{ D int }
)

// Clash embeds two structs with a field of one name, of which one is tagged.
type Clash struct {
	ClashA
	ClashB
}

// ClashA and ClashB are for Clash.
type (
	ClashA struct{ Name string }
	ClashB struct {
		Other string `json:"Name"`
	}
)

// Pointers has pointers to everything.
type Pointers struct {
	Int    *int                   `json:"int"`
	String *string                `json:"string"`
	Leaf   *Leaf                  `json:"leaf"`
	Twice  **Leaf                 `json:"twice"`
	Slice  *[]Leaf                `json:"slice"`
	Map    *map[string]*Leaf      `json:"map"`
	Any    *any                   `json:"any"`
	Time   *time.Time             `json:"time"`
	Array  *[2]*Leaf              `json:"array"`
	Omit   *Leaf                  `json:"omit,omitempty"`
	Cents  *foreign.Cents         `json:"cents"`
	Color  *foreign.Color         `json:"color"`
	Null   payload.Nullable[Leaf] `json:"null,omitzero"`
}

// Many has slices, arrays and maps of everything.
type Many struct {
	Strings []string
	Leaves  []Leaf
	Ptrs    []*Leaf
	Nested  [][]int
	Arrays  [][2]string
	Three   [3]Leaf
	Bytes   []byte
	Named   NamedBytes
	Octets  []Octet
	Fixed   [3]byte
	Maps    []map[string]bool
	Anys    []any
	Times   []time.Time
	Raws    []json.RawMessage
}

// NamedBytes and Octet are bytes under other names.
type (
	NamedBytes []byte
	Octet      uint8
)

// Maps has maps with keys of all kinds.
type Maps struct {
	Strings map[string]string
	Words   map[Word]Leaf
	Ints    map[int]string
	Small   map[int8]bool
	Uints   map[uint8]int
	Levels  map[Level][]int
	Colors  map[foreign.Color]int
	Leaves  map[string]*Leaf
	Any     map[string]any
	Shy     map[string]foreign.Shy
	Nested  map[string]map[string]Leaf
	Cents   map[string]foreign.Cents
	Addrs   map[netip.Addr]string
	Keys    map[foreign.Key]*Leaf
	Codes   map[foreign.Code]int
	Big     map[string]*big.Int
	Maybe   map[string]Zeros
	Structs map[string]struct{ A, B int }
}

// Plain is JSON as it comes.
type Plain struct {
	Any  any
	Raw  json.RawMessage
	Rest map[string]any `json:"rest"`
	List []any          `json:"list,omitempty"`
}

// Custom has types that encode themselves.
type Custom struct {
	Cents  foreign.Cents
	Ptr    *foreign.Cents
	Shy    foreign.Shy
	ShyPtr *foreign.Shy
	Color  foreign.Color
	List   []foreign.Shy
	Time   time.Time
	Closed foreign.Closed
	Open   foreign.Open
	Embeds foreign.Embeds
	Omit   foreign.Cents `json:",omitzero"`
	Key    foreign.Key   `json:"key"`
	KeyPtr *foreign.Key  `json:"key_ptr,omitempty"`
	Keys   []foreign.Key `json:"keys,omitempty"`
	Code   foreign.Code  `json:"code,omitzero"`
	Addr   netip.Addr    `json:"addr,omitzero"`
	Prefix *netip.Prefix `json:"prefix"`
	IP     net.IP        `json:"ip,omitempty"`
	Big    big.Int       `json:"big"`
	BigPtr *big.Int      `json:"big_ptr"`
	Float  *big.Float    `json:"float,omitempty"`
	Level  slog.Level    `json:"level"`
	Half   foreign.Half  `json:"half"`
	Broken foreign.Broken
}

// Payload has the types of package payload.
type Payload struct {
	Null    payload.Nullable[string]            `json:"null,omitzero"`
	Leaf    payload.Nullable[Leaf]              `json:"leaf,omitzero"`
	List    payload.Nullable[[]payload.Time]    `json:"list"`
	Ref     payload.Expandable[Leaf]            `json:"ref,omitzero"`
	RawRef  payload.Expandable[json.RawMessage] `json:"raw_ref"`
	Number  payload.Number                      `json:"number"`
	Time    payload.Time                        `json:"time,omitzero"`
	Unix    payload.Unix                        `json:"unix"`
	TimePtr *payload.Time                       `json:"time_ptr,omitempty"`
	Numbers map[string]payload.Number           `json:"numbers"`
	Ints    payload.Nullable[map[string]int32]  `json:"ints"`
}

// Node and its kin contain themselves.
type (
	Node struct {
		Name  string          `json:"name"`
		Next  *Node           `json:"next,omitempty"`
		Kids  []*Node         `json:"kids,omitempty"`
		By    map[string]Node `json:"by,omitempty"`
		Peer  *Peer           `json:"peer"`
		Other *foreign.Open   `json:"other,omitempty"`
		Any   any             `json:"any,omitempty"`
	}
	Peer struct {
		Node  *Node  `json:"node"`
		Peers []Peer `json:"peers"`
	}
	Tree   map[string]Tree
	Forest []Forest
)

// List and Pair are generic.
type (
	List[T any] struct {
		Items []T      `json:"items"`
		Next  *List[T] `json:"next,omitempty"`
	}
	Pair[K comparable, V any] struct {
		Key   K
		Value V
	}
	Alias[T any] = map[string]List[T]
)

// Nothing has no members.
type Nothing struct{}

//restaq:step
func omitted(ctx context.Context, v Omitted) (Zeros, error) { return Zeros{}, nil }

//restaq:step
func commas(ctx context.Context, v Commas, w AllOmitted) (Numbers, error) { return Numbers{}, nil }

//restaq:step
func texts(ctx context.Context, v Texts) (Quoted, error) { return Quoted{}, nil }

//restaq:step
func outer(ctx context.Context, v Outer, w Clash) (*Pointers, error) { return nil, nil }

//restaq:step
func many(ctx context.Context, v Many) (Maps, error) { return Maps{}, nil }

//restaq:step
func plain(ctx context.Context, v Plain) (Custom, error) { return Custom{}, nil }

//restaq:step
func payloads(ctx context.Context, v Payload, none struct{}) (payload.Nullable[Leaf], error) {
	return payload.Null[Leaf](), nil
}

//restaq:step
func nodes(ctx context.Context, v *Node, w Tree, x Forest) (Peer, error) { return Peer{}, nil }

//restaq:step
func generics(ctx context.Context, v List[Pair[string, int]], w Alias[*Leaf]) (Pair[Word, List[foreign.Open]], error) {
	return Pair[Word, List[foreign.Open]]{}, nil
}

//restaq:step
func sliced(ctx context.Context, v []Leaf, w map[string][]int, x [2]Leaf, y **int) (map[int][]Leaf, error) {
	return nil, nil
}

//restaq:step
func nothing(ctx context.Context, v Nothing, w any, x struct {
	A int `json:"a"`
	B struct{ C string }
}) (json.RawMessage, error) {
	return nil, nil
}

//restaq:step
func basics(ctx context.Context, a int, b string, c bool, d float64, e []byte, f time.Time, g Level, h *string, i uint8) (Word, error) {
	return "", nil
}
