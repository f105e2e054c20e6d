// Package ballot compares answers by their JSON. It ignores differences in how people write the same string or number,
// such as case and punctuation.
package ballot

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/canonical"
)

// Of returns a string that is the same for all values that count as equal.
func Of(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	raw, err = json.Marshal(votes(value))
	return string(raw), err
}

// votes normalizes the strings and numbers in a value.
func votes(value any) any {
	switch value := value.(type) {
	case string:
		return normalize(value)
	case json.Number:
		return canonical.Number(value)
	case []any:
		for i := range value {
			value[i] = votes(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = votes(value[name])
		}
	}
	return value
}

// normalize returns text in lower case, without articles, punctuation and additional space. If the result would be
// empty, as for the choice "A", the text is only converted to lower case.
func normalize(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	words := strings.Fields(withoutPunctuation(text))
	words = slices.DeleteFunc(words, func(w string) bool { return w == "a" || w == "an" || w == "the" })
	if len(words) == 0 {
		return text
	}
	return strings.Join(words, " ")
}

// withoutPunctuation removes the punctuation of sentences and of Markdown, except within numbers, such as -1,
// .5, 3.5 and 12:30. Other characters have a meaning, as in C++ and 5%.
func withoutPunctuation(text string) string {
	var b strings.Builder
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		switch {
		case strings.ContainsRune(".,:-", r) && startsNumber.MatchString(rest):
			b.WriteRune(r)
		case strings.ContainsRune("-–—", r):
			b.WriteByte(' ')
		case !strings.ContainsRune(".,:;!?¡¿…'\"`´‘’“”„«»()[]{}*_", r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

var startsNumber = regexp.MustCompile(`^\.?[0-9]`)
