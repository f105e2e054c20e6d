// Package jsonvalue decodes JSON without loss, and describes values and their places.
//
// Objects are map[string]any, arrays []any, and numbers [json.Number].
package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxNumberBytes = 1_000
	maxExponent    = 1_000
	maxRepeated    = 20 // places in Document.Repeated
)

// Document is decoded JSON.
type Document struct {
	Value    any
	Bytes    int        // length of the source
	Values   int        // number of values
	Deepest  int        // levels of nested objects and arrays
	Repeated [][]string // the first 20 places where an object repeats a name

	order map[uintptr]order // the order of each object's names, by its address
}

// order is the order of an object's names in the source. It keeps the object in
// memory, so that no other object gets the same address.
type order struct {
	object map[string]any
	names  []string
}

// Decode decodes one JSON value. Numbers keep all digits, and the document lists repeated names. Decode returns an
// error if the value is nested deeper than depth. If ordered is set, the document remembers the order of names. An
// error message continues a sentence that begins with "the value".
func Decode(raw json.RawMessage, depth int, ordered bool) (*Document, error) {
	if err := wellFormed(raw); err != nil {
		return nil, err
	}
	d := decoder{Cursor: Cursor{text: raw}, room: depth, doc: &Document{Bytes: len(raw)}}
	if ordered {
		d.doc.order = map[uintptr]order{}
	}
	v, err := d.next()
	d.doc.Value = v
	return d.doc, err
}

// address identifies an object.
func address(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

// Names returns the member names of an object in the document: first the names from the source that the object still
// has, in the order of the source, and then the names that were added later, sorted.
func (d *Document) Names(object map[string]any) []string {
	names := make([]string, 0, len(object))
	known := make(map[string]bool, len(object))
	for _, name := range d.order[address(object)].names {
		if _, ok := object[name]; ok {
			names = append(names, name)
			known[name] = true
		}
	}
	if len(names) == len(object) {
		return names
	}
	n := len(names)
	for name := range object {
		if !known[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names[n:])
	return names
}

// Encode returns v as JSON, with object members in the order of [Document.Names].
func (d *Document) Encode(v any) json.RawMessage {
	var b bytes.Buffer
	d.write(&b, v)
	return b.Bytes()
}

func (d *Document) write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for i, name := range d.Names(v) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(Text(name))
			b.WriteByte(':')
			d.write(b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			d.write(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(Text(v))
	}
}

// wellFormed returns an error if raw is not valid JSON.
func wellFormed(raw json.RawMessage) error {
	if json.Valid(raw) {
		return nil
	}
	var whole json.RawMessage
	err := json.Unmarshal(raw, &whole)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("is not valid JSON: %v (byte %d)", err, syntax.Offset)
	}
	return fmt.Errorf("is not valid JSON: %v", err)
}

// Cursor reads the tokens of valid JSON without copying them.
type Cursor struct {
	text []byte
	at   int
}

// NewCursor returns a cursor at the beginning of a JSON value, or false if raw is not valid JSON.
func NewCursor(raw json.RawMessage) (Cursor, bool) { return Cursor{text: raw}, json.Valid(raw) }

// Peek moves to the first byte of the next token and returns it.
func (c *Cursor) Peek() byte {
	for {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r', ',', ':':
			c.at++
		default:
			return b
		}
	}
}

// Skip moves over n bytes of a token.
func (c *Cursor) Skip(n int) { c.at += n }

// String moves over a string. It returns the string without its quotes, and reports whether it has no escapes.
func (c *Cursor) String() (raw []byte, plain bool) {
	start := c.at + 1
	for c.at++; c.text[c.at] != '"'; c.at++ {
		if c.text[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
	raw = c.text[start : c.at-1]
	return raw, bytes.IndexByte(raw, '\\') < 0
}

// Number moves over a number and returns it.
func (c *Cursor) Number() []byte {
	start := c.at
	for c.at < len(c.text) && strings.IndexByte("+-.0123456789Ee", c.text[c.at]) >= 0 {
		c.at++
	}
	return c.text[start:c.at]
}

// decoder decodes valid JSON. It is several times as fast as a loop over the tokens of
// encoding/json.
type decoder struct {
	Cursor
	doc  *Document
	path []string // the path of the value being read
	room int
}

// string reads and decodes a string.
func (d *decoder) string() string {
	start := d.at
	raw, plain := d.String()
	if plain && utf8.Valid(raw) {
		return string(raw)
	}
	var text string
	_ = json.Unmarshal(d.text[start:d.at], &text) // the JSON is valid
	return text
}

func (d *decoder) next() (any, error) {
	d.doc.Values++
	switch d.Peek() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.string(), nil
	case 't':
		d.at += len("true")
		return true, nil
	case 'f':
		d.at += len("false")
		return false, nil
	case 'n':
		d.at += len("null")
		return nil, nil
	}
	n := json.Number(d.Number())
	return n, checkNumber(n)
}

// enter begins an object or array.
func (d *decoder) enter() error {
	if len(d.path) >= d.room {
		return fmt.Errorf("is nested deeper than %d", d.room)
	}
	d.at++
	d.path = append(d.path, "")
	d.doc.Deepest = max(d.doc.Deepest, len(d.path))
	return nil
}

func (d *decoder) leave() {
	d.at++
	d.path = d.path[:len(d.path)-1]
}

func (d *decoder) object() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	var names []string
	for d.Peek() != '}' {
		name := d.string()
		d.path[len(d.path)-1] = name
		if _, twice := object[name]; twice {
			d.repeat()
		} else if d.doc.order != nil {
			names = append(names, name)
		}
		value, err := d.next()
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	d.leave()
	if d.doc.order != nil {
		d.doc.order[address(object)] = order{object, names}
	}
	return object, nil
}

// repeat records that the object repeats the current name.
func (d *decoder) repeat() {
	if len(d.doc.Repeated) < maxRepeated {
		d.doc.Repeated = append(d.doc.Repeated, slices.Clone(d.path))
	}
}

func (d *decoder) array() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	array := []any{}
	for d.Peek() != ']' {
		d.path[len(d.path)-1] = strconv.Itoa(len(array))
		value, err := d.next()
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	d.leave()
	return array, nil
}

// checkNumber returns an error for a number with so many digits, or so large an exponent, that exact arithmetic
// would take too long.
func checkNumber(n json.Number) error {
	if len(n) > maxNumberBytes {
		return fmt.Errorf("contains a number that is %d characters long; the limit is %d", len(n), maxNumberBytes)
	}
	_, exponent, found := strings.Cut(strings.ToLower(n.String()), "e")
	if !found {
		return nil
	}
	if e, err := strconv.Atoi(exponent); err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Errorf("contains the number %s, which is out of range", Clip(n.String()))
	}
	return nil
}
