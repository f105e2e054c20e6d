package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// jsonErrors maps the endings of encoding/json's messages to V8's messages.
var jsonErrors = []struct{ suffix, message string }{
	{"object key string", "Expected property name or '}' in JSON"},
	{"after object key", "Expected ':' after property name in JSON"},
	{"after object key:value pair", "Expected ',' or '}' after property value in JSON"},
	{"after array element", "Expected ',' or ']' after array element in JSON"},
	{"after top-level value", "Unexpected non-whitespace character after JSON"},
	{"in string literal", "Bad control character in string literal in JSON"},
	{"in string escape code", "Bad escaped character in JSON"},
	{"character escape", "Bad Unicode escape in JSON"},
	{"in numeric literal", "No number after minus sign in JSON"},
	{"after decimal point in numeric literal", "Unterminated fractional number in JSON"},
	{"in exponent of numeric literal", "Exponent part is missing a number in JSON"},
}

// JSONError returns V8's message for a text that is not JSON, or "" if it is JSON.
func JSONError(text string) string {
	err := syntaxError(text)
	if err == nil {
		return ""
	}
	if int(err.Offset) >= len(text) {
		err = syntaxError(text + "\x00") // names what is missing at the end
	}
	at := min(int(err.Offset)-1, len(text))
	position := engine.UTF16Len(text[:at])
	message := ""
	for _, e := range jsonErrors {
		if strings.HasSuffix(err.Error(), e.suffix) {
			message = e.message
		}
	}
	switch {
	case at == len(text) && strings.HasPrefix(message, "Bad"):
		message = "Unterminated string in JSON"
	case at == len(text) && message == "":
		return "Unexpected end of JSON input"
	case message == "":
		return unexpectedToken(text, at)
	case strings.HasPrefix(message, "Expected property") && strings.HasSuffix(strings.TrimSpace(text[:at]), ","):
		message = "Expected double-quoted property name in JSON"
	}
	return fmt.Sprintf("%s at position %d", message, position)
}

func syntaxError(text string) (err *json.SyntaxError) {
	var raw json.RawMessage
	errors.As(json.Unmarshal([]byte(text), &raw), &err)
	return err
}

// jsonContext is how many characters V8 shows on either side of a token.
const jsonContext = 10

func unexpectedToken(text string, at int) string {
	before, behind := []rune(text[:at]), []rune(text[at:])
	open, end := "", ""
	if len(before)+len(behind) > 2*jsonContext {
		if len(before) >= jsonContext {
			before, open = before[len(before)-jsonContext:], "..."
		}
		if len(behind) > jsonContext {
			behind, end = behind[:jsonContext], "..."
		}
	}
	token, _ := utf8.DecodeRuneInString(text[at:])
	excerpt := open + `"` + string(before) + string(behind) + `"` + end
	return fmt.Sprintf("Unexpected token '%c', %s is not valid JSON", token, excerpt)
}
