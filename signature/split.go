package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var errNoObject = errors.New("signature: values must be a JSON object")

// manyNames is how many are compared one by one, to find one that is given twice.
const manyNames = 16

// split takes an object apart that is known to be valid JSON. The values are
// parts of it; names are those of the fields where they are the same.
func split(raw json.RawMessage, fields []Field) (Values, error) {
	c := cutter{text: raw}
	if c.skip() != '{' {
		return nil, errNoObject
	}
	all := make(Values, 0, max(len(fields), 2))
	var many map[string]bool
	for c.at++; c.skip() != '}'; {
		key := c.string()
		c.skip()
		v := Value{nameIn(fields, key), c.value()}
		if repeats(all, &many, v.Name) {
			return nil, fmt.Errorf("signature: the value of %q is given twice", v.Name)
		}
		all = append(all, v)
	}
	return all, nil
}

// nameIn returns the name that a key spells.
func nameIn(fields []Field, key []byte) string {
	inner := key[1 : len(key)-1]
	for _, f := range fields {
		if f.Name == string(inner) {
			return f.Name
		}
	}
	if utf8.Valid(inner) && bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var name string
	_ = json.Unmarshal(key, &name) // it is valid
	return name
}

// repeats reports whether a name is among values already; many are their names
// if they are many.
func repeats(all Values, many *map[string]bool, name string) bool {
	if len(all) < manyNames {
		_, twice := all.Get(name)
		return twice
	}
	if *many == nil {
		*many = map[string]bool{}
		for _, v := range all {
			(*many)[v.Name] = true
		}
	}
	twice := (*many)[name]
	(*many)[name] = true
	return twice
}

// cutter walks through valid JSON.
type cutter struct {
	text []byte
	at   int
}

// skip goes to what comes next, and returns its first byte.
func (c *cutter) skip() byte {
	for {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r', ',', ':':
			c.at++
		default:
			return b
		}
	}
}

// string returns the string that begins here, with its quotes.
func (c *cutter) string() []byte {
	start := c.at
	end := start + 1 + bytes.IndexByte(c.text[start+1:], '"')
	if escape := bytes.IndexByte(c.text[start:end], '\\'); escape >= 0 {
		for end = start + escape; c.text[end] != '"'; end++ {
			if c.text[end] == '\\' {
				end++
			}
		}
	}
	c.at = end + 1
	return c.text[start:c.at]
}

// value returns the value that begins here.
func (c *cutter) value() json.RawMessage {
	start := c.at
	for depth := 0; ; {
		switch c.text[c.at] {
		case '"':
			c.string()
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
		case ' ', '\t', '\n', '\r', ',', ':':
			c.at++
			continue
		default:
			for c.at < len(c.text) && strings.IndexByte(",:]} \t\r\n", c.text[c.at]) < 0 {
				c.at++
			}
		}
		if depth == 0 {
			return c.text[start:c.at:c.at]
		}
	}
}
