// Package tokens splits programs into tokens.
package tokens

import (
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// Token is a token of a program.
type Token struct {
	Kind js.TokenType
	Text string
}

// Blank reports whether the token is white space or a comment.
func (t Token) Blank() bool {
	return t.Kind == js.WhitespaceToken || t.Kind == js.LineTerminatorToken ||
		t.Kind == js.CommentToken || t.Kind == js.CommentLineTerminatorToken
}

// Split splits a program into tokens, in one pass and without parsing it. The rest begins with the first error.
func Split(source string) (list []Token, rest string) {
	rest = source
	defer func() { _ = recover() }() // the lexer panics on some inputs
	l := js.NewLexer(parse.NewInputString(source))
	divides := false // whether a slash would divide
	for {
		kind, text := l.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && !divides {
			kind, text = l.RegExp()
		}
		if kind == js.ErrorToken || len(text) == 0 || !strings.HasPrefix(rest, string(text)) {
			return list, rest
		}
		t := Token{kind, string(text)}
		if list, rest = append(list, t), rest[len(text):]; !t.Blank() {
			divides = kind == js.StringToken || kind == js.RegExpToken || kind == js.TemplateToken ||
				kind == js.TemplateEndToken || js.IsNumeric(kind) || js.IsIdentifier(kind) ||
				kind == js.CloseParenToken || kind == js.CloseBracketToken || kind == js.CloseBraceToken
		}
	}
}
