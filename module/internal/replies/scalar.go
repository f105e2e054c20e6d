package replies

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// word reads a constant, a number, a boolean, null or a duration that is written as a string. It returns nil if the
// shape does not admit the value, or admits any string.
func (s shape) word(text string) json.RawMessage {
	if s.constants != nil {
		if constant := s.constant(text); constant != nil {
			return constant
		}
	} else if s.text() || s.any() {
		return nil
	}
	word := Undecorated(text)
	switch value := literals[word]; {
	case s.kinds["boolean"] && booleans[strings.ToLower(word)] != "":
		return json.RawMessage(booleans[strings.ToLower(word)])
	case s.kinds["null"] && value == "null":
		return json.RawMessage(value)
	case s.isDuration() && duration(word) != nil:
		return duration(word)
	}
	if !s.number() || !plainNumber.MatchString(word) {
		return nil
	}
	if word = strings.TrimPrefix(word, "+"); strings.HasPrefix(strings.TrimPrefix(word, "-"), ".") {
		word = strings.Replace(word, ".", "0.", 1)
	}
	if s.kinds["number"] {
		return json.RawMessage(word)
	}
	return integral(json.RawMessage(word))
}

// duration reads a duration with its unit: 90s, 1h30m.
func duration(text string) json.RawMessage {
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if err != nil || jsonNumber.MatchString(text) {
		return nil
	}
	return strconv.AppendInt(nil, int64(d), 10)
}

// booleans maps words to booleans.
var booleans = map[string]string{"true": "true", "yes": "true", "false": "false", "no": "false"}

var plainNumber = regexp.MustCompile(`^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)$`)

// constant returns the constant that text names, ignoring case.
func (s shape) constant(text string) json.RawMessage {
	for _, word := range []string{text, Undecorated(text)} {
		if at := nearestName(len(s.constants), func(i int) string { return s.constants[i] }, word); at >= 0 {
			return Quote(s.constants[at])
		}
	}
	return nil
}

// Undecorated removes Markdown, quotes and a final period from a word: **Good.** becomes Good.
func Undecorated(text string) string {
	word := strings.TrimSpace(text)
	for {
		inner := word
		if !strings.HasSuffix(inner, "..") {
			inner = strings.TrimSpace(strings.TrimRight(inner, ".!"))
		}
		for _, mark := range []string{"**", "`", `"`, "'", "*", "_"} {
			if n := len(mark); len(inner) > 2*n && strings.HasPrefix(inner, mark) && strings.HasSuffix(inner, mark) &&
				strings.Count(inner, mark) == 2 {
				inner = strings.TrimSpace(inner[n : len(inner)-n])
			}
		}
		if m := boxed.FindStringSubmatch(inner); m != nil {
			inner = m[1]
		}
		if inner == "" || inner == word {
			return word
		}
		word = inner
	}
}

// boxed matches a value in TeX: $\boxed{4}$.
var boxed = regexp.MustCompile(`^\$*\\boxed\{(?:\\text\{)?([^{}]+)\}?\}\$*$`)

// integral rewrites a whole number in decimal or exponent notation, such as 42.0 or 4.2e1, as an integer.
func integral(number json.RawMessage) json.RawMessage {
	text := string(number)
	if !strings.ContainsAny(text, ".eE") || len(text) > 400 {
		return number
	}
	if f, err := strconv.ParseFloat(text, 64); err != nil || f > 1e300 || f < -1e300 {
		return number
	}
	if r, ok := new(big.Rat).SetString(text); ok && r.IsInt() {
		return json.RawMessage(r.Num().String())
	}
	return number
}

// bullets reads a list with an item on each line: - a, * b or 1. c. It returns nil if items are indented or decorated,
// since they may be nested lists or headings.
func (s shape) bullets(text string) json.RawMessage {
	if s.items == nil || !bullet.MatchString(text) {
		return nil
	}
	var items []json.RawMessage
	for line := range strings.SplitSeq(text, "\n") {
		if blank(line) {
			continue
		}
		at := bullet.FindStringIndex(line)
		if at == nil {
			return nil
		}
		text := strings.TrimSpace(line[at[1]-1:])
		item := s.items.word(text)
		if item == nil && (s.items.text() || s.items.any()) && s.items.constants == nil &&
			strings.IndexByte("*_`#", text[0]) < 0 {
			item = Quote(text)
			if _, quoted := quotedText(text); quoted {
				item = json.RawMessage(text)
			}
		}
		if item == nil {
			return nil
		}
		items = append(items, item)
	}
	if len(items) == 1 && unicode.IsDigit(rune(text[0])) {
		return nil // not a list: 1. e4 e5 2. Nf3
	}
	return array(items)
}

var bullet = regexp.MustCompile(`^(?:[-*•]|\d{1,3}[.)])[ \t]+\S`)
