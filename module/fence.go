package module

import (
	"regexp"
	"strings"
)

// block is a fenced block of code.
type block struct{ tag, text string }

var (
	opensFence  = regexp.MustCompile("^[ \t]*(`{3,})[ \t]*([^\\s`]*)[^`]*$")
	closesFence = regexp.MustCompile("^[ \t]*(`{3,})[ \t]*$")
)

// fences takes a text apart into its fenced blocks and what stands outside of
// them, as Markdown does: a fence is closed by one that is at least as long and
// has no tag. Open says that the last block is not closed; it is then missing.
func fences(text string) (blocks []block, outside string, open bool) {
	var around, inside []string
	var mark, tag string
	for line := range strings.SplitSeq(text, "\n") {
		var start, end []string
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "```") { // few lines do
			start, end = opensFence.FindStringSubmatch(line), closesFence.FindStringSubmatch(line)
		}
		switch {
		case mark == "" && start != nil:
			mark, tag, inside = start[1], strings.ToLower(start[2]), nil
		case mark == "":
			around = append(around, line)
		case end != nil && len(end[1]) >= len(mark):
			blocks = append(blocks, block{tag, strings.Join(inside, "\n")})
			mark = ""
		default:
			inside = append(inside, line)
		}
	}
	return blocks, strings.Join(around, "\n"), mark != ""
}

// unfence returns what stands in a fence, if the text is that and nothing else.
func unfence(text string) string {
	if blocks, outside, open := fences(text); len(blocks) == 1 && blank(outside) && !open {
		return blocks[0].text
	}
	return text
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
