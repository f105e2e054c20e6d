package declare

import (
	"fmt"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Describe declares one tool with all that is known of it: whole descriptions,
// every constraint, types in full depth. It is what a program gets from
// tools.describe, where [TypeScript] had to leave something out; like there,
// nothing of the tool's can end a comment, a string or a fenced block.
func Describe(b *tools.Binding) string {
	t := prepare(b)
	var text strings.Builder
	if t.hasBlocks() {
		text.WriteString(block)
	}
	if b.Object == "" {
		fmt.Fprintf(&text, "%sdeclare function %s%s;\n", t.paragraphs(""), b.Names[0], whole.signature(t))
	} else {
		fmt.Fprintf(&text, "declare const %s: {\n%s  %s%s;\n};\n", b.Object, t.paragraphs("  "), t.member(), whole.signature(t))
	}
	return text.String()
}

// paragraphs is the whole description as a comment, with its lines kept.
func (t *tool) paragraphs(indent string) string {
	var lines []string
	for line := range strings.Lines(t.Description) {
		if line = schema.Harmless(line); line != "" {
			lines = append(lines, line)
		}
	}
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return indent + "/** " + lines[0] + " */\n"
	default:
		newline := "\n" + indent + " * "
		return indent + "/**" + newline + strings.Join(lines, newline) + "\n" + indent + " */\n"
	}
}
