package prompt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Text from tools and programs appears next to the library's own text and must not be mistaken for it. It is escaped
// into one line, indented, or fenced.

const lineBreaks = "\n\r\u2028\u2029"

var (
	// escaper keeps text on one line.
	escaper  = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`)
	indenter = strings.NewReplacer(
		"\r\n", "\n    ", "\n", "\n    ", "\r", "\n    ", "\u2028", "\n    ", "\u2029", "\n    ")
)

// Indented returns text that follows other text on a line: its later lines are indented, and long text is cut.
func Indented(text string) string {
	const limit = maxObservation / 2
	return Cut(indenter.Replace(Cut(text, limit)), limit)
}

// errorLine returns an error's text on one line, without the tool's name.
func errorLine(err error, limit int) string {
	text := fmt.Sprint(err)
	if te, ok := errors.AsType[*tools.ToolError](err); ok {
		text = te.Message
	}
	return escaper.Replace(display.Cut(text, limit))
}

// findings lists findings, each on its own line and followed by its frame.
func findings(list []sandbox.Finding) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString("\n" + finding(f))
	}
	return b.String()
}

func finding(f sandbox.Finding) string {
	f.Message = Indented(f.Message)
	return f.String()
}

// fenced puts a string of several lines into a fence that the string cannot close.
func fenced(text string) string {
	start := strings.TrimLeft(text, " ") // Markdown allows a fence to be indented
	opens := strings.HasPrefix(start, "```") || strings.HasPrefix(start, "~~~")
	if !strings.ContainsAny(text, lineBreaks) && !opens {
		return text
	}
	return replies.Fenced("", text)
}

// fencedIn returns part of a string in at most the given number of bytes, including its fence, if it needs a fence.
func fencedIn(limit int, part func(limit int) string) string {
	if text := fenced(part(limit)); len(text) <= limit {
		return text
	}
	for room := limit - len(fenced("\n")) + 1; room > 0; room = room * 3 / 4 {
		if text := fenced(part(room)); len(text) <= limit {
			return text
		}
	}
	return ""
}
