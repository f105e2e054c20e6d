package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// maxDepth is the maximum nesting of a message from a worker. The engine's values have up to 500 levels, its parser
// allows 1000, and a message adds a few levels.
const maxDepth = 1024

// The approximate number of bytes that the host needs for an element in a decoded array.
const (
	scalarSize = 16
	objectSize = 256
)

// decodeUntrusted decodes a message from a worker. It rejects unknown fields, and JSON that two readers could
// understand differently. Because a short element such as {} becomes a large struct, it also rejects arrays whose
// elements need more than room bytes of memory. Elements in programs' values do not count, because these values are not
// decoded.
func decodeUntrusted(body []byte, v any, room int) error {
	text, err := canonical(body, room)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// programValues are the message fields that hold JSON from the program.
var programValues = map[string]bool{`"value"`: true, `"args"`: true, `"more"`: true}

// scalarLists are the fields whose arrays contain scalars, at any depth. In any other array, encoding/json allocates a
// whole struct even for a scalar: null becomes the zero struct, and a value with the wrong type does not stop the
// decoder.
var scalarLists = map[string]bool{
	`"json"`: true, `"unknown"`: true, `"declared"`: true, `"used"`: true, `"calls"`: true, `"keys"`: true,
}

// canonical returns JSON in canonical form: without white space and unnecessary escapes, with U+FFFD in place
// of invalid Unicode, and with the order of members and the digits of numbers unchanged. It rejects duplicate
// keys.
func canonical(text []byte, room int) ([]byte, error) {
	c := canonicalizer{in: text, out: make([]byte, 0, len(text)), room: room}
	if err := c.value(); err != nil {
		return nil, err
	}
	if c.peek(); c.at < len(c.in) {
		return nil, c.unexpected()
	}
	return c.out, nil
}

type canonicalizer struct {
	in      []byte
	at      int
	out     []byte
	keys    []span // positions in out at which the keys of all open objects are
	depth   int
	room    int  // bytes left for array elements
	scalars bool // whether the current array may contain scalars, as in scalarLists
}

type span struct{ from, to int }

func (c *canonicalizer) value() error {
	switch c.peek() {
	case '{':
		return c.composite('{', '}')
	case '[':
		return c.composite('[', ']')
	case '"':
		return c.string()
	}
	return c.literal()
}

// composite reads an object or array.
func (c *canonicalizer) composite(open, end byte) error {
	if c.depth++; c.depth > maxDepth {
		return fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	c.at++
	c.out = append(c.out, open)
	first := len(c.keys)
	for n := 0; c.peek() != end; n++ {
		if n > 0 {
			if err := c.expect(','); err != nil {
				return err
			}
		}
		read := c.element
		if open == '{' {
			read = c.member
		}
		if err := read(); err != nil {
			return err
		}
	}
	c.at++
	c.out = append(c.out, end)
	c.depth--
	return c.distinct(first)
}

func (c *canonicalizer) element() error {
	size := objectSize
	if b := c.peek(); c.scalars && b != '{' && b != '[' {
		size = scalarSize
	}
	if c.room -= size; c.room < 0 {
		return errors.New("too many array elements")
	}
	return c.value()
}

// member reads a key and its value.
func (c *canonicalizer) member() error {
	if c.peek() != '"' {
		return c.unexpected()
	}
	key := span{from: len(c.out)}
	if err := c.string(); err != nil {
		return err
	}
	key.to = len(c.out)
	c.keys = append(c.keys, key)
	name := c.out[key.from:key.to]
	if err := c.expect(':'); err != nil {
		return err
	}
	if c.depth == 1 && programValues[string(name)] {
		defer func(room int) { c.room = room }(c.room)
		c.room = math.MaxInt
	}
	defer func(scalars bool) { c.scalars = scalars }(c.scalars)
	c.scalars = c.scalars || scalarLists[string(name)]
	return c.value()
}

// distinct returns an error if the object that has ended has duplicate keys. It removes the object's keys from c.keys.
func (c *canonicalizer) distinct(first int) error {
	keys := c.keys[first:]
	c.keys = c.keys[:first]
	compare := func(a, b span) int { return bytes.Compare(c.out[a.from:a.to], c.out[b.from:b.to]) }
	slices.SortFunc(keys, compare)
	for i := 1; i < len(keys); i++ {
		if compare(keys[i-1], keys[i]) == 0 {
			return fmt.Errorf("duplicate key %.50s", c.out[keys[i].from:keys[i].to])
		}
	}
	return nil
}

// string reads a string. If the string contains invalid Unicode or escapes, which is rare, encoding/json
// decodes it.
func (c *canonicalizer) string() error {
	end, plain := c.at+1, true
	for ; end < len(c.in) && c.in[end] != '"'; end++ {
		switch b := c.in[end]; {
		case b == '\\':
			end++
			plain = false
		case b < ' ' || b >= utf8.RuneSelf:
			plain = false
		}
	}
	if end >= len(c.in) {
		c.at = len(c.in)
		return c.unexpected()
	}
	quoted := c.in[c.at : end+1]
	if !plain {
		var text string
		if err := json.Unmarshal(quoted, &text); err != nil {
			return fmt.Errorf("invalid string at byte %d", c.at)
		}
		quoted = []byte(jsonvalue.Text(text))
	}
	c.out = append(c.out, quoted...)
	c.at = end + 1
	return nil
}

// literal reads a number, true, false or null.
func (c *canonicalizer) literal() error {
	end := c.at
	for end < len(c.in) && bytes.IndexByte([]byte(" \t\r\n,:]}"), c.in[end]) < 0 {
		end++
	}
	if !json.Valid(c.in[c.at:end]) {
		return c.unexpected()
	}
	c.out = append(c.out, c.in[c.at:end]...)
	c.at = end
	return nil
}

// peek skips white space and returns the byte that follows, or 0 at the end.
func (c *canonicalizer) peek() byte {
	for ; c.at < len(c.in); c.at++ {
		switch b := c.in[c.at]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// expect reads a byte and copies it.
func (c *canonicalizer) expect(b byte) error {
	if c.peek() != b {
		return c.unexpected()
	}
	c.at++
	c.out = append(c.out, b)
	return nil
}

func (c *canonicalizer) unexpected() error {
	if c.at >= len(c.in) {
		return errors.New("unexpected end of JSON input")
	}
	return fmt.Errorf("unexpected %q at byte %d", c.in[c.at:c.at+1], c.at)
}
