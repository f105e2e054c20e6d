package signature

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

// Value is a JSON value with a name.
type Value struct {
	// Name is the field's name.
	Name string
	// JSON is the value. Nil means null.
	JSON json.RawMessage
}

// Values are named values in the order of the fields. They are encoded as a JSON object
// whose members are in that order.
type Values []Value

// ValuesOf returns a struct's fields in their order, or a string map's members sorted by name. Use it to make inputs
// for a parsed signature:
//
//	in, err := signature.ValuesOf(map[string]any{"question": "Who?", "context": texts})
//
// If v cannot be encoded as a JSON object, the error names v's type.
func ValuesOf(v any) (Values, error) {
	raw, err := jsonvalue.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("signature: cannot encode %T: %w", v, err)
	}
	var values Values
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, fmt.Errorf("signature: %T is not a struct or a map of values: %w", v, err)
	}
	return values, nil
}

// Get decodes the value with the given name into a T, as encoding/json does. For a [time.Time], the value may also be a
// date, as in [Signature.Decode]. Use Get for a parsed signature's outputs:
//
//	answer, err := signature.Get[string](out, "answer")
//
// Get returns an error if the value is missing or does not fit T.
func Get[T any](values Values, name string) (T, error) {
	var v, zero T
	raw, ok := values.Get(name)
	if !ok {
		return zero, fmt.Errorf("signature: the value of %q is missing", name)
	}
	if raw == nil {
		raw = json.RawMessage("null")
	}
	if err := json.Unmarshal(raw, &v); err != nil && schema.Unmarshal(raw, &v) != nil {
		return zero, fmt.Errorf("signature: the value of %q: %w", name, err)
	}
	return v, nil
}

// Get returns the value with the given name as JSON, and whether it exists.
func (v Values) Get(name string) (json.RawMessage, bool) {
	for _, value := range v {
		if value.Name == name {
			return value.JSON, true
		}
	}
	return nil, false
}

// Without returns a copy without the values that have the given names.
func (v Values) Without(names ...string) Values {
	return slices.DeleteFunc(slices.Clone(v), func(value Value) bool { return slices.Contains(names, value.Name) })
}

// with returns a copy in which the value with the given name is a string.
func (v Values) with(name, text string) Values {
	return append(v.Without(name), Value{name, literal(text)})
}

// String returns the values as an object for people to read. It does not check that they
// are valid JSON.
func (v Values) String() string {
	members := make([]string, len(v))
	for i, value := range v {
		members[i] = string(literal(value.Name)) + ":" + cmp.Or(string(value.JSON), "null")
	}
	return "{" + strings.Join(members, ",") + "}"
}

// MarshalJSON returns the values as an object. The error names the value that is
// not valid JSON.
func (v Values) MarshalJSON() ([]byte, error) {
	size := 2
	for _, value := range v {
		size += len(value.Name) + len(value.JSON) + len(`"":null,`)
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	b.WriteByte('{')
	for i, value := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		if jsonvalue.IsIdentifier(value.Name) { // it needs no escapes
			b.WriteString(`"` + value.Name + `":`)
		} else {
			b.Write(literal(value.Name))
			b.WriteByte(':')
		}
		if value.JSON == nil {
			b.WriteString("null")
		} else if err := json.Compact(b, value.JSON); err != nil {
			return nil, fmt.Errorf("signature: the value of %q is not JSON: %w", value.Name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON decodes an object and keeps the order of its members. A repeated name is an error.
func (v *Values) UnmarshalJSON(raw []byte) error {
	all, err := split(bytes.Clone(raw))
	if err != nil {
		return err
	}
	*v = all
	return nil
}

// split returns a JSON object's members, which share its memory.
func split(raw json.RawMessage) (Values, error) {
	if first := bytes.TrimLeft(raw, " \t\r\n"); !json.Valid(raw) || first[0] != '{' {
		return nil, errors.New("signature: values must be a JSON object")
	}
	all := make(Values, 0, 4)
	known := map[string]bool{}
	for n, value := range jsonscan.Members(raw) {
		name := strings.ToValidUTF8(string(n), "\ufffd")
		if known[name] {
			return nil, fmt.Errorf("signature: the value of %q is given twice", name)
		}
		known[name] = true
		all = append(all, Value{name, value})
	}
	return all, nil
}
