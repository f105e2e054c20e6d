package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	repeated []problem           // names that an object has twice
	values   int                 // how many values there are
}

// parse decodes a schema within the limits of [Compile].
func parse(raw json.RawMessage) (document, error) {
	doc, err := decode(raw, maxSchemaDepth, map[string][]string{})
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
	d := decoder{tokens: json.NewDecoder(bytes.NewReader(raw)), room: depth}
	d.tokens.UseNumber()
	d.order = order
	v, err := d.next(nil)
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

type decoder struct {
	document
	tokens *json.Decoder
	room   int
}

func (d *decoder) next(at []string) (any, error) {
	d.values++
	token, err := d.tokens.Token()
	if err != nil {
		return nil, fmt.Errorf("is not valid JSON: %v", err)
	}
	switch t := token.(type) {
	case json.Delim:
		return d.nested(t, at)
	case json.Number:
		return t, checkNumber(t)
	default:
		return t, nil
	}
}

func (d *decoder) nested(open json.Delim, at []string) (v any, err error) {
	if len(at) >= d.room {
		return nil, fmt.Errorf("is nested deeper than %d", d.room)
	}
	if open == '{' {
		v, err = d.object(at)
	} else {
		v, err = d.array(at)
	}
	if err != nil {
		return nil, err
	}
	_, err = d.tokens.Token() // the closing bracket
	return v, err
}

func (d *decoder) object(at []string) (any, error) {
	object := map[string]any{}
	var names []string
	for d.tokens.More() {
		token, err := d.tokens.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		place := extend(at, name)
		if _, twice := object[name]; twice {
			d.repeated = append(d.repeated, problem{at: place, text: "is given twice"})
		} else {
			names = append(names, name)
		}
		if object[name], err = d.next(place); err != nil {
			return nil, err
		}
	}
	if d.order != nil {
		d.order[pointer(at)] = names
	}
	return object, nil
}

func (d *decoder) array(at []string) (any, error) {
	array := []any{}
	for d.tokens.More() {
		v, err := d.next(extend(at, strconv.Itoa(len(array))))
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
	return array, nil
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
