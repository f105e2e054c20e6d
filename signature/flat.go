package signature

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// flat decodes into a struct of texts, numbers and truths, as most outputs are,
// what is plainly written. A nil flat decodes nothing.
type flat []flatField

type flatField struct {
	name  string
	index int // in the struct
}

// newFlat returns nil for all other types.
func newFlat(t reflect.Type) flat {
	if t.Kind() != reflect.Struct || decodes(t) {
		return nil
	}
	var f flat
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		_, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		if field.Anonymous || slices.Contains(strings.Split(options, ","), "string") || !scalar(field.Type) || f.index(nameOf(field)) >= 0 {
			return nil
		}
		f = append(f, flatField{nameOf(field), i})
	}
	return f
}

func scalar(t reflect.Type) bool {
	plain := t.Kind() == reflect.String || t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 && t.Kind() != reflect.Uintptr
	return plain && !decodes(t) && t != reflect.TypeFor[json.Number]()
}

func (f flat) index(name string) int {
	for i := range f {
		if f[i].name == name {
			return f[i].index
		}
	}
	return -1
}

// decode decodes an object that is known to be valid JSON, and reports whether it
// could. If not, a part of it may have been decoded.
func (f flat) decode(raw json.RawMessage, into reflect.Value) bool {
	c := cutter{text: raw}
	if f == nil || c.skip() != '{' {
		return false
	}
	for c.at++; c.skip() != '}'; {
		key := c.string()
		i := f.index(string(key[1 : len(key)-1]))
		if i < 0 {
			return false
		}
		c.skip()
		if !setScalar(into.Field(i), c.value()) {
			return false
		}
	}
	return true
}

// setScalar sets a field to a value that is plainly written.
func setScalar(field reflect.Value, raw []byte) bool {
	switch kind := field.Kind(); {
	case kind == reflect.String:
		if raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
			return false
		}
		field.SetString(string(raw[1 : len(raw)-1]))
		return true
	case kind == reflect.Bool:
		field.SetBool(raw[0] == 't')
		return raw[0] == 't' || raw[0] == 'f'
	case field.CanInt():
		n, err := strconv.ParseInt(string(raw), 10, field.Type().Bits())
		field.SetInt(n)
		return err == nil
	case field.CanUint():
		n, err := strconv.ParseUint(string(raw), 10, field.Type().Bits())
		field.SetUint(n)
		return err == nil
	default:
		n, err := strconv.ParseFloat(string(raw), field.Type().Bits())
		field.SetFloat(n)
		return err == nil
	}
}
