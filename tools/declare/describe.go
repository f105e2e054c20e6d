package declare

import (
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Describe declares one tool with all that is known of it: whole descriptions,
// every constraint, types in full depth. It is what a program gets from
// tools.describe, where [TypeScript] had to leave something out; like there,
// nothing of the tool's can end a comment, a string or a fenced block.
func Describe(b *tools.Binding) string {
	t := &tool{Binding: b}
	p := &listing{level: levels[0], said: map[string]bool{}}
	head := ""
	if t.mixed() {
		head = content
	}
	if b.Object == "" {
		return head + t.paragraphs("") + "declare function " + b.Names[0] + p.signature(t) + ";\n"
	}
	return head + "declare const " + b.Object + ": {\n" + t.paragraphs("  ") + "  " + t.member() + p.signature(t) + ";\n};\n"
}

// Signature is how a program calls one tool, on one line and without descriptions
// that are not of the form of a value:
//
//	orders.list(args: {status?: "open" | "closed"; month: string /* YYYY-MM */})
//
// It is for errors, and is cut short where it has more bytes than most.
func Signature(b *tools.Binding, most int) string {
	t := &tool{Binding: b}
	text := ""
	for _, l := range levels[byDefault:] {
		p := &listing{level: l, said: map[string]bool{}}
		text = b.Path() + "(" + strings.ReplaceAll(p.argument(t), "\n", " ") + ")"
		if len(text) <= most {
			return text
		}
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// paragraphs is the whole description of a tool as a comment, with its lines kept.
func (t *tool) paragraphs(indent string) string {
	var lines []string
	for line := range strings.Lines(t.Description) {
		if line = schema.Comment(line); line != "" {
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
