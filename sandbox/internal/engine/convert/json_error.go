package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// jsonContext is the number of bytes that a message shows before and after an error's position.
const jsonContext = 20

// JSONError says why a string is not JSON, or returns "" if it is JSON.
func JSONError(text string) string {
	var syntax *json.SyntaxError
	var raw json.RawMessage
	if !errors.As(json.Unmarshal([]byte(text), &raw), &syntax) {
		return ""
	}
	at := min(max(int(syntax.Offset)-1, 0), len(text))
	near := text[max(at-jsonContext, 0):min(at+jsonContext, len(text))]
	return fmt.Sprintf("the string is not JSON: %v at position %d, near %q", syntax, engine.UTF16Len(text[:at]),
		strings.ToValidUTF8(near, ""))
}
