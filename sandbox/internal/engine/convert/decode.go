package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// ErrTooLarge is the error for a value whose JSON is longer than the limit.
var ErrTooLarge = errors.New("the value is too large")

// Decode converts JSON to a value in the VM, with BigInts for integers that a number cannot hold. Objects get the
// prototypes of p and of the paths that begin with p; if p is nil, they are plain objects. Decode of nil returns
// undefined.
func (c *Converter) Decode(text json.RawMessage, p *ResultPath) (goja.Value, error) {
	if text == nil {
		return goja.Undefined(), nil
	}
	return c.decode(text, p, false)
}

// Parse is like Decode, but rounds integers that a number cannot hold, as JSON.parse does.
func (c *Converter) Parse(text string, p *ResultPath) (goja.Value, error) {
	return c.decode([]byte(text), p, true)
}

func (c *Converter) decode(text []byte, p *ResultPath, rounds bool) (goja.Value, error) {
	if !json.Valid(text) {
		var v any
		return nil, json.Unmarshal(text, &v) // returns the syntax error
	}
	d := decoder{vm: c.VM, text: text, rounds: rounds}
	return d.value(0, p)
}

// decoder decodes valid JSON and keeps the order of members. It is several times as fast as a loop over the tokens of
// encoding/json.
type decoder struct {
	vm   *goja.Runtime
	text []byte
	at   int

	rounds bool // round integers that a number cannot hold
}

// next returns the first byte of the next token.
func (d *decoder) next() byte {
	for {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			d.at++
		default:
			return c
		}
	}
}

func (d *decoder) value(depth int, p *ResultPath) (goja.Value, error) {
	switch c := d.next(); c {
	case '{', '[':
		if depth >= engine.MaxDepth {
			return nil, engine.ErrTooDeep
		}
		if d.at++; c == '[' {
			return d.array(depth, p)
		}
		return d.object(depth, p)
	case '"':
		return d.vm.ToValue(d.string()), nil
	case 't':
		d.at += len("true")
		return d.vm.ToValue(true), nil
	case 'f':
		d.at += len("false")
		return d.vm.ToValue(false), nil
	case 'n':
		d.at += len("null")
		return goja.Null(), nil
	default:
		return d.number()
	}
}

func (d *decoder) array(depth int, p *ResultPath) (goja.Value, error) {
	var items []any
	p = p.at("[]")
	for d.next() != ']' {
		v, err := d.value(depth+1, p)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	d.at++
	return d.vm.NewArray(items...), nil
}

func (d *decoder) object(depth int, p *ResultPath) (goja.Value, error) {
	object := p.object(d.vm)
	for d.next() != '}' {
		key := d.string()
		var member *ResultPath
		if c := d.next(); c == '{' || c == '[' {
			member = p.at(key)
		}
		v, err := d.value(depth+1, member)
		if err != nil {
			return nil, err
		}
		// Define the member instead of setting it, so that __proto__ is a key like any other.
		if err := object.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			return nil, err
		}
	}
	d.at++
	return object, nil
}

// string decodes the string at the current position.
func (d *decoder) string() string {
	start, escaped := d.at, false
	for d.at++; d.text[d.at] != '"'; d.at++ {
		if d.text[d.at] == '\\' {
			escaped = true
			d.at++
		}
	}
	d.at++
	raw := d.text[start:d.at]
	if !escaped && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	_ = json.Unmarshal(raw, &text) // raw is a valid string
	return text
}

func (d *decoder) number() (goja.Value, error) {
	start := d.at
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789Ee", d.text[d.at]) >= 0 {
		d.at++
	}
	text := string(d.text[start:d.at])
	return d.parsed(text, !strings.ContainsAny(text, ".eE"))
}

// parsed returns a number's value.
func (d *decoder) parsed(text string, whole bool) (goja.Value, error) {
	const maxSafe = 1<<53 - 1
	if whole && !d.rounds {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil && -maxSafe <= i && i <= maxSafe {
			return d.vm.ToValue(i), nil
		}
		i, _ := new(big.Int).SetString(text, 10)
		return d.vm.ToValue(i), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %s is out of range", text)
	}
	return d.vm.ToValue(f), nil
}
