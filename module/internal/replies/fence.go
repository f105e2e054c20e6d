package replies

import "strings"

// block is a fenced block of code.
type block struct{ tag, text string }

// fences takes a text apart into its fenced blocks and what stands outside of
// them, as Markdown does: a fence is closed by one that is at least as long and
// has no tag, is not indented by four more, and does not stand in a text of a Python
// program. Open says that the last block is not closed; it is then missing.
func fences(text string) (blocks []block, outside string, open bool) {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return nil, text, false
	}
	var around, inside []string
	var mark, tag string
	var indent, quotes int
	for line := range strings.SplitSeq(text, "\n") {
		run, info := fence(line)
		switch {
		case mark == "" && run != "":
			mark, inside, indent, quotes = run, nil, indentOf(line), 0
			tag, _, _ = strings.Cut(strings.ToLower(info), " ")
		case mark == "":
			around = append(around, line)
		case run != "" && info == "" && strings.HasPrefix(run, mark) && indentOf(line) < indent+4 && !(ofPython[tag] && quotes%2 == 1):
			blocks = append(blocks, block{tag, strings.Join(inside, "\n")})
			mark = ""
		default:
			inside = append(inside, line)
			quotes += strings.Count(line, `"""`)
		}
	}
	return blocks, strings.Join(around, "\n"), mark != ""
}

var ofPython = wordSet("python py python3")

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// fence returns the run of backticks or tildes that makes a line a fence, and
// what is said behind it.
func fence(line string) (run, info string) {
	line = strings.Trim(line, " \t")
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return "", ""
	}
	info = strings.TrimLeft(line, line[:1])
	if run = line[:len(line)-len(info)]; len(run) < 3 || strings.Contains(info, "`") {
		return "", ""
	}
	return run, strings.TrimSpace(info)
}

// Unfence returns what stands in a fence, if the text is that and nothing else.
func Unfence(text string) string {
	if blocks, outside, open := fences(text); len(blocks) == 1 && blank(outside) && !open {
		return blocks[0].text
	}
	return text
}

// closesFence reports whether a text is a fence without a tag.
func closesFence(text string) bool {
	run, info := fence(text)
	return run != "" && info == "" && !strings.Contains(text, "\n")
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
