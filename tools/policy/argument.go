package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Argument matches calls with an argument for which the function is returns true. The name
// is the name of an argument, or a JSON Pointer to a part of one: "/user/id". An argument
// that is missing or null does not match.
//
// Regardless of the policy, a call is refused if the argument cannot be decoded into T, or
// if a name in the call differs only in case from a name in the pointer, T or the tool's
// input schema: encoding/json in a handler would not distinguish them.
func Argument[T any](name string, is func(T) bool) Match {
	return Match{text: "calls with a permitted argument " + name, tool: undecided, call: func(c tools.Call) (bool, error) {
		raw, err := argument(c.Args, name)
		if err != nil {
			return false, err
		}
		if findings := c.Tool.OtherCase(c.Args); len(findings) > 0 {
			return false, errors.New(schema.Summary(findings))
		}
		if raw == nil {
			return false, nil
		}
		var v T
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return false, fmt.Errorf("the argument %s must be a %T", name, v)
		}
		if other := otherCase(reflect.TypeFor[T](), raw); other != "" {
			return false, fmt.Errorf("the argument %s has a property %q, which differs from a known one only in case", name,
				other)
		}
		return is(v), nil
	}}
}

// ArgumentMatches matches calls with a string argument that matches re. Otherwise it works
// like [Argument].
func ArgumentMatches(name string, re *regexp.Regexp) Match {
	m := Argument(name, re.MatchString)
	m.text = fmt.Sprintf("calls whose argument %s matches %s", name, re)
	return m
}

// argument returns a part of the arguments, or nil if it is missing or null.
func argument(args json.RawMessage, name string) (json.RawMessage, error) {
	steps := []string{name}
	if strings.HasPrefix(name, "/") {
		steps = jsonvalue.Tokens(name)
	}
	for _, step := range steps {
		var err error
		if args, err = member(args, step); err != nil {
			return nil, fmt.Errorf("the argument %s: %w", name, err)
		}
	}
	if string(args) == "null" {
		return nil, nil
	}
	return args, nil
}

func member(value json.RawMessage, step string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if key != step && strings.EqualFold(key, step) {
				return nil, fmt.Errorf("the name %q differs from %q only in case", key, step)
			}
		}
		return object[step], nil
	}
	var array []json.RawMessage
	i, err := strconv.Atoi(step)
	if err != nil || json.Unmarshal(value, &array) != nil || i < 0 || i >= len(array) {
		return nil, nil
	}
	return array[i], nil
}

// otherCase returns a property name in JSON that differs only in case from a name that t
// has there, or "" if there is none. encoding/json would take one for the other, while the
// tool may distinguish them.
func otherCase(t reflect.Type, text json.RawMessage) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return ""
	}
	switch t.Kind() {
	case reflect.Struct:
		return otherCaseField(t, text)
	case reflect.Map:
		var object map[string]json.RawMessage
		_ = json.Unmarshal(text, &object) // decoding reports other types
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if name := otherCase(t.Elem(), object[key]); name != "" {
				return name
			}
		}
	case reflect.Slice, reflect.Array:
		var items []json.RawMessage
		_ = json.Unmarshal(text, &items)
		for _, item := range items {
			if name := otherCase(t.Elem(), item); name != "" {
				return name
			}
		}
	}
	return ""
}

func otherCaseField(t reflect.Type, text json.RawMessage) string {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &object)
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() {
			fields[fieldName(f)] = f.Type
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if exact, ok := fields[key]; ok {
			if name := otherCase(exact, object[key]); name != "" {
				return name
			}
			continue
		}
		for name := range fields {
			if strings.EqualFold(name, key) {
				return key
			}
		}
	}
	return ""
}

func fieldName(f reflect.StructField) string {
	tag := f.Tag.Get("json")
	if name, _, _ := strings.Cut(tag, ","); name != "" && tag != "-" {
		return name
	}
	return f.Name
}
