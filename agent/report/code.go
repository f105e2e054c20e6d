package report

import (
	"fmt"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/sandbox"
)

// line is a line of a program, with the findings about it.
type line struct {
	Text     []span
	Findings []finding
}

// finding is a finding about a program.
type finding struct {
	Class, Kind, Where string
	Message, Hint      []span
}

// code returns the lines of a program, with the findings at their lines, and the findings without a line.
func (b *builder) code(source string, findings []finding, at []int) (lines []line, other []finding) {
	source = b.options.Secrets.Text(prefix(source, maxPrompt+maxSecret))
	source = prefix(source, maxPrompt)
	b.left -= len(source)
	lines = []line{{}}
	for _, s := range highlight(source) {
		for i, part := range strings.Split(lineEnds.Replace(s.Text), "\n") {
			if i > 0 {
				lines = append(lines, line{})
			}
			last := &lines[len(lines)-1]
			for _, v := range visible(part) {
				if v.Class == "" {
					v.Class = s.Class
				}
				last.Text = append(last.Text, v)
			}
		}
	}
	for len(lines) > 1 && len(lines[len(lines)-1].Text) == 0 {
		lines = lines[:len(lines)-1]
	}
	for i, f := range findings {
		if n := at[i]; n > 0 && n <= len(lines) {
			lines[n-1].Findings = append(lines[n-1].Findings, f)
		} else {
			other = append(other, f)
		}
	}
	return lines, other
}

// lineEnds replaces all that ends a line in JavaScript.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// highlight splits a program into tokens. It only reads tokens, in one pass, and does not parse the program. What follows
// an error is plain text.
func highlight(source string) (spans []span) {
	end := 0
	defer func() {
		if recover() != nil || end < len(source) {
			spans = append(spans, span{"", source[end:]})
		}
	}()
	l := js.NewLexer(parse.NewInputString(source))
	before := js.ErrorToken // the last token that is neither space nor a comment
	for {
		kind, text := l.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && !endsValue(before) {
			kind, text = l.RegExp()
		}
		if kind == js.ErrorToken || !strings.HasPrefix(source[end:], string(text)) {
			return spans
		}
		end += len(text)
		spans = append(spans, span{class(kind), string(text)})
		switch kind {
		case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
		default:
			before = kind
		}
	}
}

// endsValue reports whether a slash after the token divides.
func endsValue(t js.TokenType) bool {
	switch t {
	case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.StringToken, js.TemplateToken,
		js.TemplateEndToken, js.RegExpToken, js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken,
		js.IncrToken, js.DecrToken, js.PrivateIdentifierToken:
		return true
	}
	return js.IsNumeric(t) || js.IsIdentifier(t)
}

// class returns the class of a token in the page's style.
func class(t js.TokenType) string {
	switch t {
	case js.CommentToken, js.CommentLineTerminatorToken:
		return "comment"
	case js.StringToken, js.TemplateToken, js.TemplateStartToken, js.TemplateMiddleToken, js.TemplateEndToken,
		js.RegExpToken:
		return "string"
	case js.TrueToken, js.FalseToken, js.NullToken:
		return "number"
	case js.AsyncToken, js.AwaitToken, js.LetToken, js.OfToken, js.StaticToken, js.YieldToken:
		return "keyword"
	}
	switch {
	case js.IsNumeric(t):
		return "number"
	case js.IsReservedWord(t):
		return "keyword"
	}
	return ""
}

// findings returns what is known to be wrong with a program, and the lines.
func (b *builder) findings(o *sandbox.Outcome) (list []finding, at []int) {
	add := func(class string, f sandbox.Finding) {
		one := finding{Class: class, Kind: b.line(string(f.Kind), 40),
			Message: b.value(f.Message, maxValue).Text, Hint: b.value(f.Hint, maxValue).Text}
		if f.Line > 0 {
			one.Where = fmt.Sprintf("line %d, column %d", f.Line, f.Column)
		}
		list, at = append(list, one), append(at, f.Line)
	}
	if f := o.Failure; f != nil {
		class := "bad"
		if f.Kind == sandbox.KindHeld {
			class = "warn"
		}
		if all := f.Findings; len(all) > 0 {
			for _, one := range all[:min(len(all), maxFindings)] {
				add(class, one)
			}
		} else {
			add(class, f.Finding)
		}
	}
	for _, w := range o.Warnings[:min(len(o.Warnings), maxFindings)] {
		add("warn", w)
	}
	return list, at
}

const maxFindings = 200
