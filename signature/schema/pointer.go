package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
	identifier    = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{Nd}_$]*$`)
)

// pointer returns the JSON pointer of a place.
func pointer(at []string) string {
	var b strings.Builder
	for _, token := range at {
		b.WriteByte('/')
		b.WriteString(escapeToken.Replace(token))
	}
	return b.String()
}

// tokens takes a JSON pointer apart.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	at := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range at {
		at[i] = unescapeToken.Replace(at[i])
	}
	return at
}

// lookup returns the value at a place, and whether there is one.
func lookup(v any, at []string) (any, bool) {
	for _, token := range at {
		switch container := v.(type) {
		case map[string]any:
			member, ok := container[token]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(container) {
				return nil, false
			}
			v = container[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// path writes a place as JavaScript would: items[0].name.
func path(root any, at []string) string {
	var b strings.Builder
	for i, token := range at {
		_, array := root.([]any)
		root, _ = lookup(root, at[i:i+1])
		switch {
		case array:
			b.WriteString("[" + token + "]")
		case !identifier.MatchString(token):
			b.WriteString("[" + quote(token) + "]")
		case i == 0:
			b.WriteString(token)
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}

// quote writes a string as a JavaScript literal that also stays within a line
// and within a fenced block, and in which everything can be seen.
func quote(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	text := strings.TrimSuffix(b.String(), "\n")
	if strings.ContainsFunc(text, unseen) {
		text = escapeUnseen(text)
	}
	for _, mark := range []string{"`", "~"} {
		if strings.Contains(text, mark+mark+mark) {
			text = strings.ReplaceAll(text, mark, fmt.Sprintf(`\u%04x`, mark[0]))
		}
	}
	return text
}

func unseen(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

func escapeUnseen(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !unseen(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
