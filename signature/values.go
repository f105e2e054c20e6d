package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Value is one named JSON value.
type Value struct {
	// Name is the field's name.
	Name string
	// JSON is its value; nil stands for null.
	JSON json.RawMessage
}

// Values are named values in the order of the fields. As JSON they are one
// object in that order.
type Values []Value

// Get returns the value of a name, and whether there is one.
func (v Values) Get(name string) (json.RawMessage, bool) {
	for _, value := range v {
		if value.Name == name {
			return value.JSON, true
		}
	}
	return nil, false
}

// Without returns a copy that lacks some of the values.
func (v Values) Without(names ...string) Values {
	return slices.DeleteFunc(slices.Clone(v), func(value Value) bool { return slices.Contains(names, value.Name) })
}

// String returns the values as an object, for people; one that is not JSON as it is.
func (v Values) String() string {
	if raw, err := v.MarshalJSON(); err == nil {
		return string(raw)
	}
	parts := make([]string, len(v))
	for i, value := range v {
		parts[i] = value.String()
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// String returns the value behind its name, as a member of an object.
func (v Value) String() string {
	if v.JSON == nil {
		return string(literal(v.Name)) + ":null"
	}
	return string(literal(v.Name)) + ":" + string(v.JSON)
}

// MarshalJSON returns the values as an object. The error names the value that is not
// JSON; a nil one is null.
func (v Values) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, value := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		writeName(&b, value.Name)
		b.WriteByte(':')
		if err := writeValue(&b, value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writeName(b *bytes.Buffer, name string) {
	if !identifier(name) {
		b.Write(literal(name))
		return
	}
	b.WriteByte('"')
	b.WriteString(name)
	b.WriteByte('"')
}

func writeValue(b *bytes.Buffer, v Value) error {
	if v.JSON == nil {
		b.WriteString("null")
		return nil
	}
	if plainText(v.JSON) {
		b.Write(v.JSON)
		return nil
	}
	if err := json.Compact(b, v.JSON); err != nil {
		return fmt.Errorf("signature: the value of %q is not JSON: %w", v.Name, err)
	}
	return nil
}

// plainText reports whether a value is a string without escapes, in which there is
// nothing to compact.
func plainText(raw json.RawMessage) bool {
	n := len(raw)
	if n < 2 || raw[0] != '"' || raw[n-1] != '"' {
		return false
	}
	return !slices.ContainsFunc(raw[1:n-1], func(c byte) bool { return c < ' ' || c == '"' || c == '\\' })
}

// UnmarshalJSON reads an object and keeps its order. A name given twice is an
// error.
func (v *Values) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return fmt.Errorf("signature: values: %w", err)
	}
	all, err := split(bytes.Clone(raw), nil)
	if err != nil {
		return err
	}
	*v = all
	return nil
}
