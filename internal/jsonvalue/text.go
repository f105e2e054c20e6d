package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/writ-go/writ/internal/display"
)

// Marshal is like [json.Marshal], but does not escape <, > and &.
func Marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v) // takes fewer allocations than an encoder
	if err != nil || !bytes.Contains(raw, []byte(`\u00`)) {
		return raw, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Strictly decodes one JSON value. It returns an error for members that are not fields of v.
func Strictly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the end")
	}
	return nil
}

// Text returns a decoded value as JSON. Object member names are sorted.
func Text(v any) string {
	raw, _ := Marshal(v) // a decoded value always encodes
	return string(raw)
}

// Quote returns a string as a JavaScript literal that has no invisible characters
// and cannot end a fenced block.
func Quote(s string) string {
	text := display.Escape(Text(s), invisible)
	for _, mark := range []string{"`", "~"} {
		if strings.Contains(text, mark+mark+mark) {
			text = strings.ReplaceAll(text, mark, fmt.Sprintf(`\u%04x`, mark[0]))
		}
	}
	return text
}

func invisible(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// Literal returns a decoded value as a JavaScript literal that cannot end a
// fenced block.
func Literal(v any) string {
	if s, ok := v.(string); ok {
		return Quote(s)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return Describe(v)
	}
	return strings.ReplaceAll(string(b), "```", "\\u0060``")
}

// Literals returns the first 40 values as literals. If there are more, the last element says how many values
// there are.
func Literals(values []any) []string {
	const limit = 40
	var all []string
	for _, v := range values[:min(len(values), limit)] {
		all = append(all, Literal(v))
	}
	if len(values) > limit {
		all = append(all, fmt.Sprintf("… (%d in all)", len(values)))
	}
	return all
}

// Describe returns a short description of a decoded value for an error message.
func Describe(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return Quote(Clip(v))
	case json.Number:
		return Clip(v.String())
	case bool:
		return strconv.FormatBool(v)
	default:
		return "null"
	}
}

// Type returns the JSON Schema type of a valid JSON value. For empty JSON, it returns "null".
func Type(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// Clip returns the first 60 characters of a string.
func Clip(s string) string {
	const limit = 60
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
