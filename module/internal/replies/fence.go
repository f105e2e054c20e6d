package replies

import "strings"

// block is a fenced block of code and its position in the text.
type block struct {
	tag, text  string
	start, end int
}

// fences finds the fenced blocks in text by the rules of Markdown: a closing fence has the same character as the
// opening one, is at least as long, and has no tag. Open reports that the last block is not closed; it is not among the
// blocks.
func fences(text string) (blocks []block, open bool) {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return nil, false
	}
	var mark string
	var b block
	var inside int // where the block's text begins
	for at := 0; at <= len(text); {
		line, _, more := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		run, info := fence(line)
		switch {
		case mark == "" && run != "":
			tag, _, _ := strings.Cut(strings.ToLower(info), " ")
			mark, inside, b = run, min(next, len(text)), block{tag: tag, start: at}
		case mark != "" && info == "" && strings.HasPrefix(run, mark):
			b.text, b.end = strings.TrimSuffix(text[inside:at], "\n"), at+len(line)
			blocks, mark = append(blocks, b), ""
		}
		if at = next; !more {
			break
		}
	}
	return blocks, mark != ""
}

// fence returns the backticks or tildes of a line that is a fence, and the rest of the line.
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

// Unfence returns the content of a single fenced block, and any other text unchanged.
func Unfence(text string) string {
	text = strings.TrimSpace(text)
	if blocks, open := fences(text); len(blocks) == 1 && !open && blocks[0].start == 0 && blocks[0].end == len(text) {
		return blocks[0].text
	}
	return text
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
