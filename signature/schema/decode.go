package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Unmarshal decodes JSON into the Go value that into points to. It differs from encoding/json in that an integer may
// be written as 3.0 or 1e2, a [time.Time] may be a date such as 2026-01-31, which is midnight UTC, and a number in an
// any becomes a [json.Number]. If a method of the value panics, Unmarshal returns an error.
func Unmarshal(raw json.RawMessage, into any) error {
	err := decodeInto(raw, into)
	if err == nil {
		return nil
	}
	doc, invalid := jsonvalue.Decode(raw, maxValueDepth, true)
	if invalid != nil {
		return err
	}
	v := reflect.ValueOf(into).Elem()
	r := rewriter{types: types{opaque: selfDecoding}}
	if fitted := r.value(doc.Value, v.Type()); r.count > 0 {
		v.SetZero()
		return decodeInto(doc.Encode(fitted), into)
	}
	return err
}

func decodeInto(raw json.RawMessage, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// rewriter writes integers and times as encoding/json expects them.
type rewriter struct {
	types
	count int // of the values that were rewritten
}

var (
	bigInt = reflect.TypeFor[big.Int]()
	moment = reflect.TypeFor[time.Time]()
)

func (r *rewriter) value(v any, t reflect.Type) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = r.value(member, r.member(t, name))
		}
	case []any:
		for i, item := range v {
			v[i] = r.value(item, r.member(t, ""))
		}
	case json.Number:
		if t = pointed(t); isInteger(t) && strings.ContainsAny(v.String(), ".eE") {
			if n, ok := new(big.Rat).SetString(v.String()); ok && n.IsInt() {
				r.count++
				return json.Number(n.Num().String())
			}
		}
	case string:
		if _, err := time.Parse(time.DateOnly, v); err == nil && pointed(t) == moment {
			r.count++
			return v + "T00:00:00Z"
		}
	}
	return v
}

func isInteger(t reflect.Type) bool {
	return t == bigInt || t != nil && reflect.Int <= t.Kind() && t.Kind() <= reflect.Uintptr &&
		!reflect.PointerTo(t).Implements(selfDecoding)
}

// types finds the Go types of the parts of a JSON value. A type that is not known is nil.
type types struct {
	opaque reflect.Type // what types implement whose JSON does not consist of their fields or elements
	fields map[reflect.Type]map[string]reflect.Type
}

// member returns the type of a member or an item of a value.
func (s *types) member(t reflect.Type, name string) reflect.Type {
	t = pointed(t)
	if fields, known := s.fields[t]; known {
		return fields[name]
	}
	if t == nil || reflect.PointerTo(t).Implements(s.opaque) {
		return nil
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return t.Elem()
	case reflect.Struct:
		fields := map[string]reflect.Type{}
		for _, f := range fieldsOf(t) {
			fields[f.json] = f.Type
		}
		if s.fields == nil {
			s.fields = map[reflect.Type]map[string]reflect.Type{}
		}
		s.fields[t] = fields
		return fields[name]
	}
	return nil
}

// pointed returns a type without its pointers.
func pointed(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
