package codemode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// minDescription is the minimum of Options.Description. It is enough to explain programs without declaring tools.
const minDescription = 1024

// Some clients show only the beginning of a description, so the text that every program needs comes first.
const (
	aboutPrograms = `
Modern JavaScript in strict mode with top-level await. Available: console, setTimeout, sleep(ms) and the ` +
		`language's built-in objects. Not available: files, network, processes. The result is what the program ` +
		`returns, or the value of its last expression. To return an image or a file, return an MCP content block. ` +
		`The program is checked first; if it is refused, nothing has run. It may take %s, at most %s of it computing.`

	aboutTools = `
Tools are global objects by server. A tool takes one object and returns a promise. A string result is plain text, ` +
		`never parsed. A failure throws ToolError. Run independent calls at the same time with Promise.all.`

	aboutSearch = `
search_tools finds tools that are not declared below, and describe_tool declares one; in a program, use ` +
		`tools.search and tools.describe.`

	aboutSearchInside = `
In a program, tools.search("what it does") finds tools that are not declared below, and tools.describe(name) ` +
		`declares one.`

	aboutUnlisted = `
Not connected yet: %s. Once they are, programs can call their tools, and tools.search finds them.`
)

// describeExecute returns the description of execute_code: an introduction, and as many tool declarations as fit into
// [Options.Description].
func (c *client) describeExecute(v *view) string {
	const attempts = 10
	short, limit := c.introduction(v.set, true), c.app.options.Description
	room := limit - utf8.RuneCountInString(short) - len("\n")
	budget := c.app.options.Declarations
	if limit > 0 {
		budget = min(budget, max(room, 1)) // a token has at least one character
	}
	for range attempts {
		declarations := v.declarations(budget)
		size := utf8.RuneCountInString(declarations)
		if limit == 0 || size <= room || size == 0 {
			partial := strings.Contains(declarations, "declare const tools: ")
			return strings.TrimSuffix(c.introduction(v.set, partial)+"\n"+declarations, "\n")
		}
		less := declare.Tokens(declarations) * room / size
		if budget > 0 {
			less = min(less, budget*9/10)
		}
		if budget = less; budget <= 0 {
			break
		}
	}
	return short
}

// introduction returns the description without the declarations. If partial is set, the
// declarations do not include all tools.
func (c *client) introduction(set *tools.Set, partial bool) string {
	l := c.app.box.Limits()
	text := definition("execute_code").Description + fmt.Sprintf(aboutPrograms, l.Time, min(l.Compute, l.Time))
	text += c.describeUnlisted()
	if set.Len() == 0 {
		return text
	}
	text += aboutTools
	switch {
	case !partial:
		return text
	case c.offers("search_tools") && c.offers("describe_tool"):
		return text + aboutSearch
	}
	return text + aboutSearchInside
}

// describeUnlisted lists the servers whose tools may be added later. Clients that do not request the
// description again need this list.
func (c *client) describeUnlisted() string {
	var names []string
	for _, s := range c.unlisted() {
		names = append(names, global(s.Name))
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(aboutUnlisted, strings.Join(names, ", "))
}
