package optimize

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature/schema"
)

// answers holds the strings and numbers in the expected answers. A program must not contain any that it cannot know.
type answers struct {
	wanted map[string]bool // the keys are answers; true if the answer is in a training example, so the model may see it
	known  []string        // the inputs, instructions, declarations and results of tools, in lower case
}

// minAnswer is the minimum number of characters of a string or number that counts as an answer. Shorter ones occur in
// programs by chance.
const minAnswer = 4

// roundNumber matches powers of ten, which programs use to round and to convert.
var roundNumber = regexp.MustCompile(`^-?10*$`)

// expectedAnswers returns the answers of the examples. A program may contain what is in the text or in the inputs.
func expectedAnswers[In, Out any](text string, train, heldOut []evaluate.Example[In, Out]) (*answers, error) {
	a := &answers{wanted: map[string]bool{}, known: []string{strings.ToLower(text)}}
	for i, e := range slices.Concat(train, heldOut) {
		in, err := schema.Marshal(&e.In)
		want, invalid := schema.Marshal(&e.Want)
		if err := cmp.Or(err, invalid); err != nil {
			return nil, fmt.Errorf("example %q: %w", e.ID, err)
		}
		a.know(in)
		for _, text := range stringsIn(want) {
			text = strings.TrimSpace(text)
			if utf8.RuneCountInString(text) >= minAnswer && !roundNumber.MatchString(text) {
				a.wanted[text] = a.wanted[text] || i < len(train)
			}
		}
	}
	return a, nil
}

// know permits what is in a JSON value.
func (a *answers) know(raw json.RawMessage) {
	a.known = append(a.known, strings.ToLower(strings.Join(stringsIn(raw), "\n")))
}

// problem returns why a program is rejected, or "" if it passes. A program is rejected if its literals contain answers
// that it cannot know, except a single number with which it calculates: one number is no table of answers. The returned
// text names only answers of training examples. A program that hides answers, for example by encoding them, passes, but
// it fails on the held-out examples.
func (a *answers) problem(ctx context.Context, code string) (string, error) {
	texts := literals(code)
	numbers := map[float64]bool{}
	for _, text := range texts {
		if n, ok := numeric(text); ok {
			numbers[n] = true
		}
	}
	all := strings.Join(texts, "\n")
	var found []string
	for answer := range a.wanted {
		if n, ok := numeric(answer); !(ok && numbers[n]) && !containsWord(all, answer) {
			continue
		}
		if ctx.Err() != nil { // the search for the answer may take long: the inputs may have many megabytes
			return "", ctx.Err()
		}
		lower := strings.ToLower(answer)
		if !slices.ContainsFunc(a.known, func(text string) bool { return containsWord(text, lower) }) {
			found = append(found, answer)
		}
	}
	if len(found) == 0 || len(found) == 1 && calculatesWith(code, found[0]) {
		return "", nil
	}
	return "it contains expected answers: " + a.list(found) + "; it must compute them from its constants and tools", nil
}

// list names some answers of training examples, and says how many other answers there are.
func (a *answers) list(found []string) string {
	const limit, maxBytes = 5, 100
	var named []string
	for _, text := range slices.Sorted(slices.Values(found)) {
		if a.wanted[text] && len(named) < limit {
			named = append(named, strconv.Quote(display.Cut(text, maxBytes)))
		}
	}
	switch others := len(found) - len(named); {
	case len(named) == 0:
		return fmt.Sprintf("%d of examples that are not shown", others)
	case others > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(named, ", "), others)
	}
	return strings.Join(named, ", ")
}

// numeric returns the value of a number as it is written in a program or in JSON. It ignores the sign, which is not a
// part of a literal.
func numeric(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "-"), 64)
	return n, err == nil
}

// containsWord reports whether text contains part as whole words or numbers.
func containsWord(text, part string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], part)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(part):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = at + 1
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r == '$' }

// literal matches the literals of a program. It also matches comments, because they may contain quotation marks.
var literal = regexp.MustCompile(`//.*|(?s:/\*.*?\*/)|\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?|` +
	`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|` + "`(?:\\\\.|[^`\\\\])*`")

// literals returns the strings and numbers in a program. The program is not trusted, so it is not parsed in this
// process.
func literals(code string) (list []string) {
	for _, text := range literal.FindAllString(code, -1) {
		switch text[0] {
		case '/':
		case '"', '\'', '`':
			list = append(list, unquoted(text))
		default:
			list = append(list, text)
		}
	}
	return list
}

// unquoted returns the value of a string or a template, or its source if it has escapes that JSON does not have.
func unquoted(source string) string {
	inner := source[1 : len(source)-1]
	var text string
	quoted := `"` + strings.NewReplacer(`\'`, `'`, `\"`, `\"`, `\\`, `\\`, `"`, `\"`).Replace(inner) + `"`
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return inner
	}
	return text
}

// operand matches the source around an operand of arithmetic, or a constant. The number itself is replaced by \x00.
var operand = regexp.MustCompile(`(?:[*/%]|[\w)\]]\s*[-+]|\bconst\s+\w+\s*=)\s*\x00` +
	`|\x00\s*(?:[*%]|/[^/*]|[-+]\s*[\w(])`)

// calculatesWith reports whether an answer is a number that occurs in the code only as an operand or a constant.
func calculatesWith(code, answer string) bool {
	const near = 40 // bytes that are read on each side
	number, ok := numeric(answer)
	for _, at := range literal.FindAllStringIndex(code, -1) {
		text := code[at[0]:at[1]]
		if n, isNumber := numeric(text); isNumber && n == number {
			around := code[max(at[0]-near, 0):at[0]] + "\x00" + code[at[1]:min(at[1]+near, len(code))]
			ok = ok && operand.MatchString(around)
		} else if text[0] != '/' {
			ok = ok && !containsWord(text, answer)
		}
	}
	return ok
}
