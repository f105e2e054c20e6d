package optimize

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
)

// answers are the texts and numbers of expected answers that a program cannot know unless it contains them.
type answers map[string]bool

// minAnswer is the length of the shortest text or number that counts. Shorter ones occur by chance.
const minAnswer = 4

// expectedAnswers returns the texts and numbers of the expected answers that are not in an input, in the instructions
// or in a declaration.
func expectedAnswers[In, Out any](act *module.CodeAct[In, Out], examples []evaluate.Example[In, Out]) (answers, error) {
	var known strings.Builder
	program := act.Program(module.Script{Code: "0"})
	known.WriteString(act.Predictor.Spec.Instructions() + "\n" + program.Script.Instructions + "\n")
	known.WriteString(program.Script.Signature + "\n" + program.Briefing())
	wanted := answers{}
	for i, e := range examples {
		err := errors.Join(
			eachScalar(e.In, func(text string) { known.WriteString("\n" + text) }),
			eachScalar(e.Want, func(text string) { wanted[text] = true }))
		if err != nil {
			return nil, fmt.Errorf("optimize: compile: example %d: %w", i+1, err)
		}
	}
	texts := strings.ToLower(known.String())
	maps.DeleteFunc(wanted, func(text string, _ bool) bool {
		return utf8.RuneCountInString(text) < minAnswer || roundNumber.MatchString(text) ||
			containsWord(texts, strings.ToLower(text))
	})
	return wanted, nil
}

// roundNumber matches numbers that programs use to round and to convert.
var roundNumber = regexp.MustCompile(`^-?10*$`)

// eachScalar calls f for every text and number within a value.
func eachScalar(value any, f func(string)) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var all any
	if err := d.Decode(&all); err != nil {
		return err
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			f(strings.TrimSpace(v))
		case json.Number:
			f(v.String())
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(all)
	return nil
}

// in returns the answers in the literals of a program, sorted. A program that hides answers, for example by encoding
// them, is not found out here, but by the examples that are held out.
func (a answers) in(code string) []string {
	tree, err := js.Parse(parse.NewInputString(code), js.Options{Inline: true})
	if err != nil {
		return a.within([]string{code})
	}
	var found literals
	js.Walk(&found, tree)
	return a.within(found)
}

func (a answers) within(texts []string) []string {
	found := map[string]bool{}
	for _, text := range texts {
		number, isNumber := numeric(text)
		for answer := range a {
			n, ok := numeric(answer)
			if isNumber && ok && n == number || containsWord(text, answer) {
				found[answer] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// numeric returns the value of a number as programs and JSON write it, without its sign, which is not a part of
// literals.
func numeric(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "-"), 64)
	return n, err == nil
}

// containsWord reports whether a text contains another one that is not a part of a longer word or number.
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

func inWord(r rune) bool { return r != utf8.RuneError && wordRune.MatchString(string(r)) }

var wordRune = regexp.MustCompile(`[\pL\pN_$]`)

// literals collects the texts and numbers that a program contains.
type literals []string

// Enter implements [js.IVisitor].
func (l *literals) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.LiteralExpr:
		text := string(n.Data)
		if n.TokenType == js.StringToken {
			text = unquoted(text)
		}
		*l = append(*l, text)
	case *js.TemplateExpr:
		for _, part := range n.List {
			*l = append(*l, string(part.Value))
		}
		*l = append(*l, string(n.Tail))
	}
	return l
}

// Exit implements [js.IVisitor].
func (l *literals) Exit(js.INode) {}

// unquoted returns the value of a string literal, or its source if it has escapes that JSON lacks.
func unquoted(source string) string {
	inner := source[1 : len(source)-1]
	var text string
	quoted := `"` + strings.NewReplacer(`\'`, `'`, `\"`, `\"`, `\\`, `\\`, `"`, `\"`).Replace(inner) + `"`
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return inner
	}
	return text
}

// containsAnswers is the problem of a program that contains expected answers.
func containsAnswers(found []string) string {
	const shown = 5
	more := ""
	if len(found) > shown {
		more = fmt.Sprintf(" and %d more", len(found)-shown)
		found = found[:shown]
	}
	quoted := make([]string, len(found))
	for i, text := range found {
		quoted[i] = strconv.Quote(text)
	}
	return fmt.Sprintf("it contains expected answers: %s%s; it must compute them from its constants and tools",
		strings.Join(quoted, ", "), more)
}
