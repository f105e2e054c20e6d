package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// patterns is a list of patterns that may be spread over several keys.
type patterns []string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *patterns) UnmarshalJSON(data []byte) error {
	var list []string
	err := json.Unmarshal(data, &list)
	*p = append(*p, list...)
	return err
}

// scalar is a string that may be written as a number or a boolean.
type scalar string

// UnmarshalJSON implements [json.Unmarshaler].
func (s *scalar) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(s))
	case '{', '[', 'n':
		return fmt.Errorf("contains %s where a string is expected", jsonvalue.Type(data))
	}
	*s = scalar(data)
	return nil
}

// wrongType describes a decoding error in the terms of the file. It does not repeat the value.
func wrongType(err error, target any) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("must be %s, not %s", expected(target), wrong.Value)
}

func expected(target any) string {
	switch target.(type) {
	case *[]scalar, *patterns:
		return "an array of strings"
	case *map[string]*scalar:
		return "an object of strings"
	case *bool, **bool:
		return "true or false"
	case *float64:
		return "a number of seconds"
	}
	return "a string"
}
