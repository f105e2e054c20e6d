package jsonvalue

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
)

var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
)

// IsIdentifier reports whether name has the form of a JavaScript identifier, so that it needs no quotes as a property
// name. The name may be a reserved word.
func IsIdentifier(name string) bool {
	for i, r := range name {
		if !isIdentifierRune(r, i == 0) {
			return false
		}
	}
	return name != ""
}

func isIdentifierRune(r rune, first bool) bool {
	switch {
	case r == '_' || r == '$':
		return true
	case unicode.In(r, unicode.Pattern_Syntax, unicode.Pattern_White_Space): // these sets contain a few letters
		return false
	default:
		return unicode.IsLetter(r) || !first && unicode.IsDigit(r)
	}
}

// Identifier turns text into a similar name that is an identifier.
func Identifier(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case b.Len() == 0 && unicode.IsDigit(r):
			b.WriteByte('_')
			b.WriteRune(r)
		case isIdentifierRune(r, b.Len() == 0):
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// Pointer returns the JSON pointer for a place, which is a list of tokens.
func Pointer(at []string) string {
	var b strings.Builder
	for _, token := range at {
		b.WriteByte('/')
		b.WriteString(escapeToken.Replace(token))
	}
	return b.String()
}

// Tokens returns the tokens of a JSON pointer.
func Tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	at := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range at {
		at[i] = unescapeToken.Replace(at[i])
	}
	return at
}

// CompareTokens orders the tokens of places. It compares indexes as numbers: 2 precedes 10.
func CompareTokens(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(a, b)
}

// Extend returns a copy of at with one more token, so that two places never share memory.
func Extend(at []string, token string) []string {
	return append(at[:len(at):len(at)], token)
}

// Lookup returns the value at a place, and whether it exists.
func Lookup(v any, at []string) (any, bool) {
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

// Path returns a place in a value in JavaScript notation: items[0].name.
func Path(root any, at []string) string {
	path := ""
	for i, token := range at {
		_, array := root.([]any)
		root, _ = Lookup(root, at[i:i+1])
		if array {
			path += "[" + token + "]"
		} else {
			path = Member(path, token)
		}
	}
	return path
}

// Member returns the path of a member of the object at a path.
func Member(path, name string) string {
	switch {
	case !IsIdentifier(name):
		return path + "[" + Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
