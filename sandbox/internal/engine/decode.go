package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/dop251/goja"
)

// maxDepth bounds the nesting of values on their way in and out.
const maxDepth = 500

var (
	errTooLarge = errors.New("the value is too large")
	errPromise  = errors.New("it contains a promise; await it first, several by Promise.all")
	errTooDeep  = fmt.Errorf("the value is nested deeper than %d levels", maxDepth)
)

// decode makes a value of JSON: plain objects and arrays, integers that a
// number cannot hold as BigInt. Nil is undefined.
func (r *run) decode(text json.RawMessage) (goja.Value, error) {
	if text == nil {
		return goja.Undefined(), nil
	}
	d := decoder{vm: r.vm, json: json.NewDecoder(bytes.NewReader(text))}
	d.json.UseNumber()
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.json.Token(); err != io.EOF {
		return nil, errors.New("there is text behind the JSON value")
	}
	return v, nil
}

// Check reports why a program could not be given a JSON value.
func Check(text json.RawMessage) error {
	if nesting(string(text)) > maxDepth {
		return errTooDeep
	}
	return nil
}

// nesting is how deep the brackets of a JSON text are nested.
func nesting(text string) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']', c == '}':
			depth--
		}
	}
	return deepest
}

type decoder struct {
	vm   *goja.Runtime
	json *json.Decoder
}

func (d *decoder) value(depth int) (goja.Value, error) {
	token, err := d.json.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		switch {
		case depth >= maxDepth:
			return nil, errTooDeep
		case t == '[':
			return d.array(depth)
		}
		return d.object(depth)
	case json.Number:
		return d.number(t)
	case nil:
		return goja.Null(), nil
	default:
		return d.vm.ToValue(t), nil
	}
}

func (d *decoder) array(depth int) (goja.Value, error) {
	var items []any
	for d.json.More() {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := d.json.Token() // the bracket
	return d.vm.NewArray(items...), err
}

func (d *decoder) object(depth int) (goja.Value, error) {
	object := d.vm.NewObject()
	for d.json.More() {
		key, err := d.json.Token()
		if err != nil {
			return nil, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		// Defined, not set: a key named __proto__ is only a key.
		if err := object.DefineDataProperty(key.(string), v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			return nil, err
		}
	}
	_, err := d.json.Token() // the brace
	return object, err
}

func (d *decoder) number(n json.Number) (goja.Value, error) {
	const maxSafe = 1<<53 - 1
	if i, err := n.Int64(); err == nil && -maxSafe <= i && i <= maxSafe {
		return d.vm.ToValue(i), nil
	}
	if !strings.ContainsAny(n.String(), ".eE") {
		if i, ok := new(big.Int).SetString(n.String(), 10); ok {
			return d.vm.ToValue(i), nil
		}
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("the number %s is out of range", n)
	}
	return d.vm.ToValue(f), nil
}
