package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature"
)

// token is a token of a program, without spaces and comments.
type token struct {
	kind  js.TokenType
	text  string
	start int // the offset in the program
}

const maxCode = 1 << 20

// tokensOf splits a program into tokens. It does not parse the program.
func tokensOf(code string) (list []token, err error) {
	if len(code) > maxCode {
		return nil, fmt.Errorf("the program has more than %d bytes", maxCode)
	}
	end := 0
	defer func() {
		if recover() != nil || end < len(code) {
			list, err = nil, fmt.Errorf("line %d of the program cannot be read", 1+strings.Count(code[:end], "\n"))
		}
	}()
	l := js.NewLexer(parse.NewInputString(code))
	divides := false // whether a slash would divide
	for {
		kind, text := l.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && !divides {
			kind, text = l.RegExp()
		}
		if kind == js.ErrorToken || !strings.HasPrefix(code[end:], string(text)) {
			return list, nil
		}
		t := token{kind, string(text), end}
		end += len(text)
		switch kind {
		case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
			continue
		}
		list = append(list, t)
		divides = kind == js.StringToken || kind == js.TemplateToken || kind == js.TemplateEndToken || js.IsNumeric(kind) ||
			js.IsIdentifier(kind) || slices.Contains([]string{")", "]", "}", "this", "super"}, t.text)
	}
}

// value returns the value of a string or a decimal number as JSON, or "".
func (t token) value() string {
	switch t.kind {
	case js.StringToken:
		text := strings.NewReplacer(`\\`, `\\`, `\'`, `'`, `\"`, `\"`, `"`, `\"`).Replace(t.text[1 : len(t.text)-1])
		var s string
		if json.Unmarshal([]byte(`"`+text+`"`), &s) == nil {
			return jsonOf(s)
		}
	case js.DecimalToken, js.IntegerToken:
		if n, err := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64); err == nil {
			return jsonOf(n)
		}
	}
	return ""
}

func jsonOf(v any) string {
	text, err := jsonvalue.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// isName reports whether the token at index i is the name of a property, not a value or a variable.
func isName(list []token, i int) bool {
	before, after := "", ""
	if i > 0 {
		before = list[i-1].text
	}
	if i+1 < len(list) {
		after = list[i+1].text
	}
	if before == "." || before == "?." {
		return true
	}
	return (before == "{" || before == ",") && after == ":" || list[i].kind == js.StringToken && after == "("
}

// withInputs replaces constants in a program by inputs.
func withInputs(code string, inputs signature.Values) (string, error) {
	list, err := tokensOf(code)
	if err != nil {
		return "", err
	}
	var constants []string // for the error
	wanted, used := map[string]string{}, map[string]bool{}
	for _, in := range inputs {
		var v any
		if err := json.Unmarshal(in.JSON, &v); err != nil {
			return "", err
		}
		if other, twice := wanted[jsonOf(v)]; twice {
			return "", fmt.Errorf("the inputs %s and %s have the same constant", other, in.Name)
		}
		wanted[jsonOf(v)] = in.Name
	}
	var b strings.Builder
	end := 0
	for i, t := range list {
		if isName(list, i) {
			continue
		}
		if _, taken := inputs.Get(t.text); taken && js.IsIdentifier(t.kind) {
			return "", fmt.Errorf("the program has its own %s in line %d; choose another name for the input", t.text,
				1+strings.Count(code[:t.start], "\n"))
		}
		value := t.value()
		name := wanted[value]
		if value != "" && name == "" && !slices.Contains(constants, value) {
			constants = append(constants, value)
		}
		if value == "" || name == "" {
			continue
		}
		used[name] = true
		b.WriteString(code[end:t.start])
		if i > 0 && list[i-1].start+len(list[i-1].text) == t.start && js.IsIdentifierName(list[i-1].kind) {
			b.WriteByte(' ') // return"x"
		}
		b.WriteString(name)
		if end = t.start + len(t.text); i+1 < len(list) && list[i+1].start == end && js.IsIdentifierName(list[i+1].kind) {
			b.WriteByte(' ') // "x"in y
		}
	}
	var errs []error
	for _, in := range inputs {
		if !used[in.Name] {
			errs = append(errs, fmt.Errorf("the program does not have the constant %s of the input %s; it has: %s",
				in.JSON, in.Name, display.OneLine(display.Cut(strings.Join(constants, ", "), 500))))
		}
	}
	return b.String() + code[end:], errors.Join(errs...)
}
