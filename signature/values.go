package signature

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// MarshalJSON returns the values as an object.
func (v Values) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, value := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(value.Name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := writeValue(&b, value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writeValue(b *bytes.Buffer, v Value) error {
	if v.JSON == nil {
		b.WriteString("null")
		return nil
	}
	if err := json.Compact(b, v.JSON); err != nil {
		return fmt.Errorf("signature: the value of %q is not JSON: %w", v.Name, err)
	}
	return nil
}

// UnmarshalJSON reads an object and keeps its order. A name given twice is an
// error.
func (v *Values) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	open, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("signature: values: %w", err)
	}
	if open != json.Delim('{') {
		return errors.New("signature: values must be a JSON object")
	}
	all := Values{}
	for decoder.More() {
		value, err := readValue(decoder)
		if err != nil {
			return fmt.Errorf("signature: values: %w", err)
		}
		if _, twice := all.Get(value.Name); twice {
			return fmt.Errorf("signature: the value of %q is given twice", value.Name)
		}
		all = append(all, value)
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("signature: values: %w", err)
	}
	*v = all
	return nil
}

func readValue(decoder *json.Decoder) (Value, error) {
	token, err := decoder.Token()
	if err != nil {
		return Value{}, err
	}
	name, _ := token.(string) // a decoder takes nothing else for a key
	value := Value{Name: name}
	return value, decoder.Decode(&value.JSON)
}
