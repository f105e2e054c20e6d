package report

import (
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

// finding is a finding of the class "bad" or "warn".
type finding struct {
	Class string
	sandbox.Finding
}

// lineEnds replaces all that ends a line in JavaScript.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// code returns the lines of a program, with the findings at their lines, and the findings without a line.
func (b *builder) code(source string, findings []finding) (lines []line, other []finding) {
	source = prefix(b.Secrets.Text(prefix(source, maxPrompt+maxSecret)), maxPrompt)
	b.left -= len(source)
	lines = []line{{}}
	for _, s := range highlight(strings.TrimRight(lineEnds.Replace(source), "\n")) {
		for i, part := range strings.Split(s.Text, "\n") {
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
	for _, f := range findings {
		if f.Line > 0 && f.Line <= len(lines) {
			lines[f.Line-1].Findings = append(lines[f.Line-1].Findings, f)
		} else {
			other = append(other, f)
		}
	}
	return lines, other
}

// highlight splits a program into tokens. It reads tokens in one pass, and does not parse the program. What follows an
// error is plain text.
func highlight(source string) (spans []span) {
	end := 0
	defer func() {
		if recover() != nil || end < len(source) {
			spans = append(spans, span{"", source[end:]})
		}
	}()
	l := js.NewLexer(parse.NewInputString(source))
	divides := false // whether a slash would divide
	for {
		kind, text := l.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && !divides {
			kind, text = l.RegExp()
		}
		if kind == js.ErrorToken || !strings.HasPrefix(source[end:], string(text)) {
			return spans
		}
		end += len(text)
		spans = append(spans, span{class(kind), string(text)})
		switch kind {
		case js.WhitespaceToken, js.LineTerminatorToken, js.CommentToken, js.CommentLineTerminatorToken:
		case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.ThisToken, js.NullToken, js.TrueToken,
			js.FalseToken, js.StringToken, js.TemplateToken, js.TemplateEndToken, js.RegExpToken:
			divides = true
		default:
			divides = js.IsNumeric(kind) || js.IsIdentifier(kind)
		}
	}
}

// class returns the class of a token in the page's style.
func class(t js.TokenType) string {
	switch t {
	case js.CommentToken, js.CommentLineTerminatorToken:
		return "comment"
	case js.StringToken, js.TemplateToken, js.TemplateStartToken, js.TemplateMiddleToken, js.TemplateEndToken,
		js.RegExpToken:
		return "string"
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

const maxFindings = 200

// findingsOf returns what is known to be wrong with a program.
func findingsOf(o *sandbox.Outcome) (list []finding) {
	if f := o.Failure; f != nil {
		class, all := "bad", f.Findings
		if f.Kind == sandbox.KindHeld {
			class = "warn"
		}
		if len(all) == 0 {
			all = []sandbox.Finding{f.Finding}
		}
		list = findings(class, all)
	}
	return append(list, findings("warn", o.Warnings)...)
}

func findings(class string, all []sandbox.Finding) (list []finding) {
	for _, f := range all[:min(len(all), maxFindings)] {
		list = append(list, finding{class, f})
	}
	return list
}
