package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/writ-go/writ/signature/schema"
)

// checkTexts finds the outputs with a string that is not valid Unicode, which a Go
// string cannot represent exactly.
func (s *Spec) checkTexts(output json.RawMessage) []schema.Finding {
	if broken(output) == "" {
		return nil
	}
	var findings []schema.Finding
	values, _ := split(output) // output is an object that fits
	for _, v := range values {
		if message := broken(v.JSON); message != "" {
			findings = append(findings, schema.Finding{Path: v.Name, Message: message, Hint: "write the character itself"})
		}
	}
	if findings == nil { // the text is in a name
		findings = []schema.Finding{{Message: broken(output), Hint: "write the character itself"}}
	}
	return findings
}

// broken describes the first invalid character in valid JSON, or returns "".
func broken(raw json.RawMessage) string {
	if !utf8.Valid(raw) {
		return "has bytes that are not UTF-8"
	}
	for i := bytes.IndexByte(raw, '\\'); i >= 0 && i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		first := escaped(raw[i:])
		switch second := escaped(raw[min(i+6, len(raw)):]); {
		case !utf16.IsSurrogate(first):
			i++
		case utf16.DecodeRune(first, second) == utf8.RuneError:
			return fmt.Sprintf("has half of a character, %s", raw[i:i+6])
		default:
			i += 11
		}
	}
	return ""
}

// escaped returns the UTF-16 unit of the escape, such as \u00e9, that a string begins
// with, or 0.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}
