package replies

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A name of which two letters changed places, or one was left out or written twice,
// is a slip of the hand, where it can be of one field only, which nothing else gives.

// slipped is the output whose name a marker misspells.
func slipped(outputs []signature.Field, marks []mark, name string) (signature.Field, bool) {
	var meant []signature.Field
	for _, f := range outputs {
		if slip(strings.ToLower(f.Name), strings.ToLower(name)) {
			meant = append(meant, f)
		}
	}
	if len(meant) != 1 || strings.EqualFold(name, EndName(outputs)) {
		return signature.Field{}, false
	}
	given := slices.ContainsFunc(marks, func(m mark) bool {
		return m.name != name && (sameName(m.name, meant[0].Name) || slip(strings.ToLower(meant[0].Name), strings.ToLower(m.name)))
	})
	return meant[0], !given
}

// slip reports whether a word is another, of five letters or more, but for two that
// changed places, one that was left out or one that was doubled, none of them the first
// or the last.
func slip(word, typed string) bool {
	if len(word) < 5 || len(typed) < 4 || word[0] != typed[0] || word[len(word)-1] != typed[len(typed)-1] {
		return false
	}
	at := 0
	for at < min(len(word), len(typed)) && word[at] == typed[at] {
		at++
	}
	switch rest := word[min(at, len(word)):]; len(typed) - len(word) {
	case 0:
		return len(rest) > 1 && typed[at:] == string([]byte{rest[1], rest[0]})+rest[2:]
	case -1:
		return typed[at:] == rest[1:]
	case 1:
		return typed[at-1] == typed[at] && typed[at+1:] == rest
	}
	return false
}
