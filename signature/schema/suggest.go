package schema

import "strings"

// Nearest returns the one of among that whoever wrote name probably meant, or
// "" if none is near.
func Nearest(name string, among []string) string { return nearest(name, among) }

// Comment makes of a description what may stand in a comment of a declaration:
// one line, cut at the end of a sentence, in which nothing can end the comment
// or a fenced block.
func Comment(description string) string {
	return harmless(summary(strings.Join(strings.Fields(description), " ")))
}
