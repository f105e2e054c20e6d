package bm25

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// terms appends the words of text to list, in lower case and in the singular, without stop
// words. Words consist of letters and digits. A capital letter within a name begins a word:
// readFile, HTTPServer. In scripts without spaces, each character is a word.
func terms(list []string, text string) []string {
	start := -1
	flush := func(end int) {
		if start >= 0 {
			if word := strings.ToLower(text[start:end]); !stopWords[word] {
				list = append(list, singular(word))
			}
		}
		start = -1
	}
	var previous rune
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
		case ideograph(r), ideograph(previous), unicode.IsUpper(r) && endsBefore(previous, text[i+utf8.RuneLen(r):]):
			flush(i)
			start = i
		case start < 0:
			start = i
		}
		previous = r
	}
	flush(len(text))
	return list
}

// endsBefore reports whether a word ends between the previous letter and a capital letter
// that is followed by rest. The s of URLs does not begin a word.
func endsBefore(previous rune, rest string) bool {
	if !unicode.IsUpper(previous) {
		return true
	}
	next, size := utf8.DecodeRuneInString(rest)
	after, _ := utf8.DecodeRuneInString(rest[size:])
	return unicode.IsLower(next) && (next != 's' || unicode.IsLetter(after))
}

func ideograph(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// singular removes the plural ending of an English word.
func singular(word string) string {
	switch {
	case len(word) <= 3, strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"),
		strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	}
	return strings.TrimSuffix(word, "s")
}

// parameters returns the parameter names in a JSON Schema, at any depth, and their descriptions.
func parameters(schema json.RawMessage) (names, texts []string) {
	var value any
	if json.Unmarshal(schema, &value) != nil {
		return nil, nil
	}
	var visit func(key string, value any)
	visit = func(key string, value any) {
		switch value := value.(type) {
		case string:
			if key == "description" || key == "title" || key == "enum" || key == "const" {
				texts = append(texts, value)
			}
		case []any:
			for _, item := range value {
				visit(key, item)
			}
		case map[string]any:
			for _, member := range slices.Sorted(maps.Keys(value)) {
				if key == "properties" {
					names = append(names, member)
				}
				visit(member, value[member])
			}
		}
	}
	visit("", value)
	return names, texts
}

// stopWords are common English words that are not indexed.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		a an and are as at be but by can do does for from how i if in into is it its me my no not of on or our
		should so such that the their them then there these they this to us was we were what
		when which who will with you your`) {
		set[word] = true
	}
	return set
}()
