package codemode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func textContent(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }

// content implements [result]. It returns the content blocks of the value and, for clients that ignore
// structured content, a text with the same information.
func (e execution) content() []mcp.Content {
	var parts []string
	if e.failed() {
		parts = append(parts, "failed: "+e.ErrorType)
	} else {
		parts = append(parts, e.valueText())
	}
	for _, d := range e.Diagnostics {
		parts = append(parts, d.text())
	}
	parts = appendSection(parts, "console:", e.Stdout)
	parts = appendSection(parts, "console errors:", e.Stderr)
	for _, d := range e.Warnings {
		parts = append(parts, "warning: "+d.text())
	}
	if e.failed() || e.Run != "" || slices.ContainsFunc(e.Calls, func(c call) bool { return c.Pending || c.Recorded }) {
		parts = appendSection(parts, "tool calls:", e.callsText())
	}
	if e.Advice != "" {
		parts = append(parts, e.Advice)
	}
	if e.Session != "" {
		parts = append(parts, "session: "+e.Session)
	}
	return append(textContent(strings.Join(parts, "\n\n")), e.blocks...)
}

// valueText returns the value of the program: a string unchanged, and any other value as JSON.
func (e execution) valueText() string {
	var text string
	if json.Unmarshal(e.Result, &text) == nil && text != "" {
		return text
	}
	if len(e.Result) == 0 || string(e.Result) == "null" {
		return "The program has no value."
	}
	return string(e.Result)
}

func appendSection(parts []string, title, text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return parts
	}
	return append(parts, title+"\n"+text)
}

func (d diagnostic) text() string {
	text := d.Message
	if d.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", d.Line, d.Column, text)
	}
	if d.Frame != "" {
		text += "\n" + d.Frame
	}
	if d.Hint != "" {
		text += "\nhint: " + d.Hint
	}
	return text
}

func (e execution) callsText() string {
	var lines []string
	for _, c := range e.Calls {
		state := "ok"
		switch {
		case c.Pending:
			state = "had no result when the program ended; its effect is unknown"
		case c.Rejected:
			state = "was not made: " + c.Error
		case !c.OK:
			state = "failed: " + c.Error
		}
		if c.Recorded {
			state += " (recorded; the tool was not called)"
		}
		line := fmt.Sprintf("%s %s(%s): %s", c.Entry, c.Tool, c.Args, state)
		lines = append(lines, "- "+strings.TrimPrefix(line, " "))
	}
	return strings.Join(counted(lines), "\n")
}

// counted merges identical lines into one line with their count, and limits the number of lines.
func counted(lines []string) []string {
	const maxLines = 50
	number := map[string]int{}
	var distinct []string
	for _, line := range lines {
		if number[line]++; number[line] == 1 {
			distinct = append(distinct, line)
		}
	}
	for i, line := range distinct {
		if n := number[line]; n > 1 {
			distinct[i] = fmt.Sprintf("%s (%d times)", line, n)
		}
	}
	if len(distinct) > maxLines {
		return append(distinct[:maxLines], fmt.Sprintf("… and %d more", len(distinct)-maxLines))
	}
	return distinct
}
