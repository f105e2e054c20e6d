package module

import (
	"errors"
	"fmt"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// What tools and programs say stands beside what the library says, and must not
// pass for it: it is one line, or indented, or fenced.

// breaks are what a reader may take for the end of a line.
const breaks = "\n\r\u2028\u2029"

var (
	escape = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`)
	indent = strings.NewReplacer("\r\n", "\n    ", "\n", "\n    ", "\r", "\n    ", "\u2028", "\n    ", "\u2029", "\n    ")
)

// escapeBreaks puts a text on one line.
func escapeBreaks(text string) string { return escape.Replace(text) }

// errorLine is how the text of an error begins, on one line. A tool's error does not name the tool.
func errorLine(err error, most int) string {
	text := fmt.Sprint(err)
	if te, ok := errors.AsType[*tools.ToolError](err); ok {
		text = te.Message
	}
	return escapeBreaks(shorten(text, most))
}

// hanging is a text, or its ends, whose first line stands behind something else.
func hanging(text string) string {
	const most = maxObservation / 2
	return cut(indent.Replace(cut(text, most)), most)
}

// fenced puts a text of several lines into a fence that it cannot close.
func fenced(text string) string {
	fence := "```"
	start := strings.TrimLeft(text, " ") // a fence may be indented
	opens := strings.HasPrefix(start, fence) || strings.HasPrefix(start, "~~~")
	if !strings.ContainsAny(text, breaks) && !opens {
		return text
	}
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// findingText is a finding, of which only the frame has lines of its own.
func findingText(f sandbox.Finding) string {
	f.Message = hanging(f.Message)
	return f.String()
}
