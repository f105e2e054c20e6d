package engine

import (
	"encoding/json"
	"fmt"
)

// MaxDepth bounds the nesting of values that enter or leave a program.
const MaxDepth = 500

// ErrTooDeep is the error for a value that is nested deeper than MaxDepth.
var ErrTooDeep = fmt.Errorf("the value is nested deeper than %d levels", MaxDepth)

// Check returns the reason why a program cannot receive a JSON value, or nil.
func Check(text json.RawMessage) error {
	if Nesting(string(text)) > MaxDepth {
		return ErrTooDeep
	}
	return nil
}

// Nesting returns how deeply the brackets of JSON are nested.
func Nesting(text string) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[', c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']', c == '}':
			depth--
		}
	}
	return deepest
}
