package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature"
)

// readValue reads one value as the prompt says that it must be written: text as
// it is or as a JSON string, anything else as JSON, all possibly in a fence.
func readValue(f signature.Field, g given) (json.RawMessage, error) {
	text := strings.TrimSpace(unfence(g.text))
	isString := strings.HasPrefix(text, `"`) && json.Valid([]byte(text))
	switch {
	case text == "":
		return nil, errors.New(`there is nothing under its marker; if that is meant, write ""`)
	case fits(f, json.RawMessage(text)):
		return json.RawMessage(text), nil
	case !isString && fits(f, quote(text)):
		return plain(f, g, text)
	}
	if value := spelled(f, text); value != nil {
		return value, nil
	}
	return nil, mismatch(f, text)
}

// plain takes a text as it is, unless it may be more or less than was meant.
func plain(f signature.Field, g given, text string) (json.RawMessage, error) {
	_, _, openFence := fences(text)
	var object signature.Values
	wrapped := json.Unmarshal([]byte(text), &object) == nil
	if _, own := object.Get(f.Name); wrapped && own {
		return nil, errors.New("it is an object with the field in it; give only the value, or write the text as a JSON string")
	}
	if openFence || g.open && text == g.text && strings.Contains(text, "\n") {
		return nil, errors.New("nothing says where the text ends; put the end marker behind it")
	}
	return quote(text), nil
}

func fits(f signature.Field, value json.RawMessage) bool {
	return json.Valid(value) && len(f.Schema.Validate(value)) == 0
}

// spelled reads a number, a boolean, null or one of a few constants that is
// written in other ways than JSON's: True, **0.5**, Good. It returns nil if that
// is none of them. Nothing else may be bent until it fits.
func spelled(f signature.Field, text string) json.RawMessage {
	word := undecorated(text)
	if value := json.RawMessage(word); isNumber(word) && fits(f, value) {
		return value
	}
	if value := json.RawMessage(words[strings.ToLower(word)]); value != nil && fits(f, value) {
		return value
	}
	var same []string
	for _, c := range constants(f.Schema.Raw()) {
		if c == word {
			return quote(c)
		}
		if strings.EqualFold(c, word) {
			same = append(same, c)
		}
	}
	if len(same) != 1 {
		return nil
	}
	return quote(same[0])
}

var words = map[string]string{
	"true": "true", "yes": "true",
	"false": "false", "no": "false",
	"null": "null", "none": "null",
}

func isNumber(text string) bool {
	return text != "" && strings.Contains("-0123456789", text[:1]) && json.Valid([]byte(text))
}

// undecorated takes a word out of quotes, backticks and bold print, and from
// before a full stop.
func undecorated(text string) string {
	word := strings.TrimSuffix(strings.TrimSpace(text), ".")
	for _, pair := range []string{"**", "`", `"`, "'"} {
		if inner, ok := strings.CutPrefix(word, pair); ok {
			if inner, ok = strings.CutSuffix(inner, pair); ok {
				return undecorated(inner)
			}
		}
	}
	return word
}

// constants are the texts that a schema lists, if it does.
func constants(raw json.RawMessage) []string {
	var s struct {
		Enum         []any
		AnyOf, OneOf []json.RawMessage
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil // a boolean
	}
	var all []string
	for _, v := range s.Enum {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	for _, choice := range append(s.AnyOf, s.OneOf...) {
		all = append(all, constants(choice)...)
	}
	return all
}

// mismatch says why a text is no value of a field.
func mismatch(f signature.Field, text string) error {
	value := json.RawMessage(text)
	if !json.Valid(value) {
		value = quote(text)
	}
	var lines []string
	for _, finding := range f.Schema.Validate(value) {
		lines = append(lines, finding.String())
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if err := json.Unmarshal([]byte(text), new(any)); err != nil {
			return fmt.Errorf("it is not JSON: %w", err)
		}
	}
	return errors.New(strings.Join(lines, "; "))
}
