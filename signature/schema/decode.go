package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxValueDepth   = 1_000
	maxSchemaDepth  = 200
	maxSchemaValues = 10_000
	maxNumberBytes  = 1_000
	maxExponent     = 1_000
)

// document is decoded JSON. Objects are map[string]any and numbers
// [json.Number].
type document struct {
	value    any
	order    map[string][]string // the names of each object as written, by JSON pointer
	repeated []problem           // names that an object has twice, the first of them
	surplus  int                 // how many more such names there are
	bytes    int                 // how long the text is
	values   int                 // how many values there are
	deepest  int                 // how many objects and arrays are one in the other
}

// parse decodes a schema within the limits of [Compile]. The order of names is
// kept where order is not nil.
func parse(raw json.RawMessage, order map[string][]string) (document, error) {
	doc, err := decode(raw, maxSchemaDepth, order)
	if err == nil && doc.values > maxSchemaValues {
		err = fmt.Errorf("has %d values; at most %d are taken", doc.values, maxSchemaValues)
	}
	return doc, err
}

// decode reads one JSON value exactly: no number loses digits, no repeated
// name goes unnoticed, and depth bounds the recursion of all who walk it. The
// order of names is kept where order is not nil. Errors complete the sentence
// "the value …".
func decode(raw json.RawMessage, depth int, order map[string][]string) (document, error) {
	if err := wellFormed(raw); err != nil {
		return document{}, err
	}
	d := decoder{text: raw, room: depth}
	d.order, d.bytes = order, len(raw)
	v, err := d.next()
	d.value = v
	return d.document, err
}

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
	if err != nil {
		return fmt.Errorf("is not valid JSON: %v", err)
	}
	return nil
}

// decoder reads JSON that is known to be valid, several times as fast as by the
// tokens of encoding/json.
type decoder struct {
	document
	text []byte
	at   int      // in text
	path []string // of the value that is being read
	room int
}

// skip goes to the first byte of what comes next, and returns it.
func (d *decoder) skip() byte {
	for {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			d.at++
		default:
			return c
		}
	}
}

func (d *decoder) next() (any, error) {
	d.values++
	switch d.skip() {
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
	n := d.number()
	return n, checkNumber(n)
}

// enter begins an object or array.
func (d *decoder) enter() error {
	if len(d.path) >= d.room {
		return fmt.Errorf("is nested deeper than %d", d.room)
	}
	d.at++
	d.path = append(d.path, "")
	d.deepest = max(d.deepest, len(d.path))
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
	for d.skip() != '}' {
		name := d.string()
		d.path[len(d.path)-1] = name
		if _, twice := object[name]; twice {
			d.repeat()
		} else if d.order != nil {
			names = append(names, name)
		}
		value, err := d.next()
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	d.leave()
	if d.order != nil {
		d.order[pointer(d.path)] = names
	}
	return object, nil
}

// repeat notes that the object has the name twice.
func (d *decoder) repeat() {
	if len(d.repeated) >= maxProblems {
		d.surplus++
		return
	}
	d.repeated = append(d.repeated, problem{at: slices.Clone(d.path), text: "is given twice"})
}

func (d *decoder) array() (any, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	array := []any{}
	for d.skip() != ']' {
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

// string reads a string, which begins here.
func (d *decoder) string() string {
	start := d.at
	end, plain := closing(d.text, d.at)
	d.at = end + 1
	if raw := d.text[start:d.at]; plain && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	_ = json.Unmarshal(d.text[start:d.at], &text) // it is valid
	return text
}

// closing returns where the string ends that begins at a place, and whether there
// are no escapes in it.
func closing(text []byte, at int) (end int, plain bool) {
	end = at + 1 + bytes.IndexByte(text[at+1:], '"')
	escape := bytes.IndexByte(text[at+1:end], '\\')
	if escape < 0 {
		return end, true
	}
	for end = at + 1 + escape; text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	return end, false
}

func (d *decoder) number() json.Number {
	start := d.at
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789Ee", d.text[d.at]) >= 0 {
		d.at++
	}
	return json.Number(d.text[start:d.at])
}

// checkNumber refuses numbers whose exact arithmetic would take forever.
func checkNumber(n json.Number) error {
	if len(n) > maxNumberBytes {
		return fmt.Errorf("has a number of %d digits; at most %d are taken", len(n), maxNumberBytes)
	}
	_, exponent, found := strings.Cut(strings.ToLower(n.String()), "e")
	if !found {
		return nil
	}
	if e, err := strconv.Atoi(exponent); err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Errorf("has the number %s, which is out of range", clip(n.String()))
	}
	return nil
}

// extend returns at with one more token, sharing no memory with it.
func extend(at []string, token string) []string {
	return append(at[:len(at):len(at)], token)
}
