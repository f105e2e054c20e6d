package replies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/writ-go/writ/signature"
)

// A text that would be taken for something else, such as a placeholder, is meant as it is
// if a character of it is an escape that no text needs: "\u0054ODO". Adapters write so what
// would not be read back otherwise.

var (
	escapes  = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`)
	needless = regexp.MustCompile(`^\\u00(?:2[89ade]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[bBdDfF]|7[bBdDeE]|23)$`)
	// allEscapes finds those that have no letter which needs none: …, 等, 他, その他.
	allEscapes = regexp.MustCompile(`"(?:\\u2026|\\u7b49|(?:\\u305d\\u306e)?\\u4ed6)"`)
)

// insisted is JSON without such escapes, nothing if it has none.
func insisted(text string) json.RawMessage {
	if !strings.Contains(text, `\u`) || strings.IndexByte(`"[{`, text[0]) < 0 || !json.Valid([]byte(text)) {
		return nil
	}
	meant := allEscapes.MatchString(text)
	plain := escapes.ReplaceAllStringFunc(text, func(escape string) string {
		if !needless.MatchString(escape) {
			return escape
		}
		meant = true
		code, _ := strconv.ParseUint(escape[2:], 16, 16) // of four digits
		return string(rune(code))
	})
	if !meant {
		return nil
	}
	return json.RawMessage(plain)
}

// taken is a value whose texts are taken as they are, nothing if no escape says so.
func taken(f signature.Field, text string) (json.RawMessage, error) {
	value := insisted(text)
	if value == nil || value[0] == '"' || !fits(f, value) {
		return value, nil
	}
	return whole(f, value)
}

// insist writes a value so that each of its texts is taken as it is.
func insist(value json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	at := 0
	for _, text := range textIn.FindAllIndex(value, -1) {
		b.Write(value[at:text[0]])
		at = text[1]
		if at < len(value) && value[at] == ':' || at-text[0] == len(`""`) {
			b.Write(value[text[0]:at]) // a name, or nothing
		} else {
			b.Write(withEscape(value[text[0]:at]))
		}
	}
	b.Write(value[at:])
	return b.Bytes()
}

// textIn finds the texts in JSON.
var textIn = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withEscape is a text of JSON with one escape that it does not need, or with nothing else.
func withEscape(text json.RawMessage) json.RawMessage {
	for i := 1; i < len(text); i++ {
		letter := fmt.Appendf(nil, `\u%04x`, text[i])
		switch {
		case text[i] == '\\' && text[i+1] == 'u':
			i += len(letter) - 1
		case text[i] == '\\':
			i++
		case needless.Match(letter):
			return slices.Concat(text[:i], letter, text[i+1:])
		}
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(PlainText(text))) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return json.RawMessage(`"` + b.String() + `"`)
}

// WrittenMember is a value as it is read back from an object of all outputs, of which
// another text is no placeholder, with words.
func WrittenMember(f signature.Field, value json.RawMessage, words bool) json.RawMessage {
	written := Escaped(value)
	if read, err := bendField(f, written, words); err != nil || !equalJSON(read, value) || string(value) == string(Quote(NotGiven)) {
		return insist(value)
	}
	return written
}
