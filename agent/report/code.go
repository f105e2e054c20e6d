package report

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
	"github.com/writ-go/writ/internal/tokens"
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
	source, _ = b.cut(source, maxPrompt)
	lines = []line{{}}
	for _, s := range highlight(strings.TrimRight(lineEnds.Replace(source), "\n")) {
		for i, part := range strings.Split(s.Text, "\n") {
			if i > 0 {
				lines = append(lines, line{})
				b.left -= 40 // for the elements
			}
			last, pieces := &lines[len(lines)-1], visible(part, s.Class)
			last.Text = append(last.Text, pieces...)
			b.left -= 20 * len(pieces)
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

// highlight splits a program into tokens. What follows an error is plain text.
func highlight(source string) (spans []span) {
	list, rest := tokens.Split(source)
	for _, t := range list {
		class := classes[t.Kind]
		if js.IsReservedWord(t.Kind) {
			class = "keyword"
		} else if js.IsNumeric(t.Kind) {
			class = "number"
		}
		spans = append(spans, span{class, t.Text})
	}
	if rest != "" {
		spans = append(spans, span{"", rest})
	}
	return spans
}

// classes has the classes of tokens in the page's style.
var classes = map[js.TokenType]string{
	js.CommentToken: "comment", js.CommentLineTerminatorToken: "comment",
	js.StringToken: "string", js.RegExpToken: "string", js.TemplateToken: "string", js.TemplateStartToken: "string",
	js.TemplateMiddleToken: "string", js.TemplateEndToken: "string",
	js.AsyncToken: "keyword", js.AwaitToken: "keyword", js.LetToken: "keyword", js.OfToken: "keyword",
}

// findingsOf returns what is known to be wrong with a program.
func findingsOf(o *sandbox.Outcome) (list []finding) {
	if f := o.Failure; f != nil && len(f.Findings) > 0 {
		list = findings("bad", f.Findings...)
	} else if f != nil {
		list = findings("bad", f.Finding)
	}
	return append(list, findings("warn", o.Warnings...)...)
}

func findings(class string, all ...sandbox.Finding) (list []finding) {
	all, _ = first(all, 200)
	for _, f := range all {
		list = append(list, finding{class, f})
	}
	return list
}
