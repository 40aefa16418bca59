package postgres

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Parameters and results of shared commits are written and read as PostgreSQL's
// binary format has them, into buffers that the next commit uses again.

// array is an array of one dimension under way. Its elements are appended; a
// nil one is null.
type array struct {
	data []byte
	n    uint32
}

// The head of an array: dimensions, whether there are nulls, the type of its
// elements, their number, the index of the first. A length stands before each
// element.
const (
	arrayHead   = 20
	lengthBytes = 4
)

// reset begins an empty array of elements of a type.
func (a *array) reset(elements uint32) {
	a.data = append(a.data[:0], make([]byte, arrayHead)...)
	binary.BigEndian.PutUint32(a.data[0:], 1)
	binary.BigEndian.PutUint32(a.data[4:], 1)
	binary.BigEndian.PutUint32(a.data[8:], elements)
	binary.BigEndian.PutUint32(a.data[16:], 1)
	a.n = 0
}

// param is the array as a parameter.
func (a *array) param() []byte {
	binary.BigEndian.PutUint32(a.data[12:], a.n)
	return a.data
}

// only is the only element as a parameter of its own.
func (a *array) only() []byte {
	if binary.BigEndian.Uint32(a.data[arrayHead:]) == null {
		return nil
	}
	return a.data[arrayHead+lengthBytes:]
}

// null is the length of an element that is null.
const null = ^uint32(0)

func (a *array) element(length uint32) {
	a.data = binary.BigEndian.AppendUint32(a.data, length)
	a.n++
}

func (a *array) null() { a.element(null) }

func (a *array) bytes(v []byte) {
	if v == nil {
		a.null()
		return
	}
	a.element(uint32(len(v)))
	a.data = append(a.data, v...)
}

func (a *array) text(v string) {
	a.element(uint32(len(v)))
	a.data = append(a.data, v...)
}

// textOrNull appends a text that is null if it is empty.
func (a *array) textOrNull(v string) {
	if v == "" {
		a.null()
		return
	}
	a.text(v)
}

func (a *array) uuid(v pgtype.UUID) {
	if !v.Valid {
		a.null()
		return
	}
	a.element(16)
	a.data = append(a.data, v.Bytes[:]...)
}

func (a *array) bool(v bool) {
	a.element(1)
	if v {
		a.data = append(a.data, 1)
	} else {
		a.data = append(a.data, 0)
	}
}

func (a *array) int2(v int16) {
	a.element(2)
	a.data = binary.BigEndian.AppendUint16(a.data, uint16(v))
}

func (a *array) int4(v int32) {
	a.element(4)
	a.data = binary.BigEndian.AppendUint32(a.data, uint32(v))
}

func (a *array) int8(v int64) {
	a.element(8)
	a.data = binary.BigEndian.AppendUint64(a.data, uint64(v))
}

func (a *array) time(v time.Time) { a.int8(v.UnixMicro() - epoch) }

// epoch is 2000-01-01 UTC, from which PostgreSQL counts, in microseconds of
// Unix time.
const epoch = 946684800_000000

// batch is the statements of one commit, with their parameters. It is used
// again and again.
type batch struct {
	statements []statement
	arrays     []*array
	used       int // of arrays
	params     [][]byte
	tails      []*tail // of which the batch has the turn
	alone      bool    // the commit is of one call
}

// statement is one that calls share.
type statement struct {
	sql    string
	params [][]byte
	read   func(row [][]byte) error // is called for each row; nil if none matters
}

// batches are not in use.
var batches = sync.Pool{New: func() any { return new(batch) }}

var binary1 = []int16{pgx.BinaryFormatCode} // for all parameters, or all columns

// maxKept bounds the bytes of a buffer that is kept for the next commit.
const maxKept = 256 << 10

// reset empties b, which nobody reads any more.
func (b *batch) reset() {
	for _, a := range b.arrays[:b.used] {
		if cap(a.data) > maxKept {
			a.data = nil
		}
	}
	clear(b.statements)
	clear(b.params)
	clear(b.tails)
	b.statements, b.used, b.params, b.tails = b.statements[:0], 0, b.params[:0], b.tails[:0]
}

// column returns an empty array of elements of a type.
func (b *batch) column(elements uint32) *array {
	if b.used == len(b.arrays) {
		b.arrays = append(b.arrays, new(array))
	}
	a := b.arrays[b.used]
	b.used++
	a.reset(elements)
	return a
}

// add adds a statement that takes arrays.
func (b *batch) add(sql string, read func(row [][]byte) error, columns ...*array) {
	from := len(b.params)
	for _, a := range columns {
		b.params = append(b.params, a.param())
	}
	b.statements = append(b.statements, statement{sql, b.params[from:len(b.params):len(b.params)], read})
}

// addOne adds a statement that takes the only element of each array.
func (b *batch) addOne(sql string, read func(row [][]byte) error, columns ...*array) {
	from := len(b.params)
	for _, a := range columns {
		b.params = append(b.params, a.only())
	}
	b.statements = append(b.statements, statement{sql, b.params[from:len(b.params):len(b.params)], read})
}

// parameters are columns as parameters, to which more may be appended.
func (b *batch) parameters(columns []*array) [][]byte {
	params := make([][]byte, 0, len(columns)+8)
	for _, a := range columns {
		params = append(params, a.param())
	}
	return params
}

// newBatch returns an empty batch. Its user frees it.
func newBatch() *batch { return batches.Get().(*batch) }

func (b *batch) free() {
	b.reset()
	batches.Put(b)
}

func int8Param(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// rawRows runs one statement and returns its rows.
func rawRows(ctx context.Context, q querier, sql string, params [][]byte) ([][][]byte, error) {
	conn := q.(interface{ Conn() *pgx.Conn }).Conn()
	result := conn.PgConn().ExecParams(ctx, sql, params, nil, binary1, binary1).Read()
	return result.Rows, result.Err
}

// rawRow runs one statement and returns its only row, nil if it returns none.
func rawRow(ctx context.Context, q querier, sql string, params [][]byte) ([][]byte, error) {
	rows, err := rawRows(ctx, q, sql, params)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// The columns of a row, null as the zero value.

func readBool(v []byte) bool { return len(v) == 1 && v[0] == 1 }

func readInt(v []byte) int {
	switch len(v) {
	case 2:
		return int(int16(binary.BigEndian.Uint16(v)))
	case 4:
		return int(int32(binary.BigEndian.Uint32(v)))
	case 8:
		return int(int64(binary.BigEndian.Uint64(v)))
	}
	return 0
}

func readTime(v []byte) time.Time {
	if len(v) != 8 {
		return time.Time{}
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(v)) + epoch).UTC()
}
