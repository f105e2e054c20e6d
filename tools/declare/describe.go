package declare

import (
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
)

// Describe declares tools completely: with whole descriptions, every constraint, types in full depth, and a remark
// after read-only tools. Programs get this text from the function tools.describe. As in [Markdown], no text from a tool
// can end a comment, a string or a fenced block early.
//
// Describe does not declare the types Content, Block and ToolError, which [Markdown]
// declares.
func Describe(list ...*tools.Binding) string {
	var text strings.Builder
	for _, o := range group(list) {
		p := &listing{level: levels[0], said: map[string]bool{}}
		start, end, indent := "", "", ""
		if o.name != "" {
			start, end, indent = "declare const "+o.name+": {\n", "};\n", "  "
		}
		text.WriteString(start)
		for _, t := range o.tools {
			head := "declare function " + t.Names[0]
			if o.name != "" {
				head = indent + t.member()
			}
			text.WriteString(t.paragraphs(indent) + head + p.signature(t) + ";")
			if t.reads() {
				text.WriteString(" /* read-only */")
			}
			text.WriteByte('\n')
		}
		text.WriteString(end)
	}
	return text.String()
}

// ReadOnly reports whether a tool changes nothing, according to the host or, if the host
// does not classify the tool, according to its server.
func ReadOnly(b *tools.Binding) bool {
	unsaid := b.Hints.Class == tools.Unclassified && !b.Hints.Destructive
	return b.Hints.Class == tools.Read || unsaid && b.Claimed == tools.Read
}

func (t *tool) reads() bool { return ReadOnly(t.Binding) }

// Signature returns how a program calls a tool, on one line and without descriptions,
// except those about the format of a value:
//
//	orders.list(args: {status?: "open" | "closed"; month: string /* YYYY-MM */})
//
// It is for error messages. If even the shortest form has more than limit bytes, it is cut.
func Signature(b *tools.Binding, limit int) string {
	t := &tool{Binding: b}
	text := ""
	for _, l := range levels[byDefault:] {
		p := &listing{level: l, said: map[string]bool{}}
		text = b.Path() + "(" + strings.ReplaceAll(p.argument(t), "\n", " ") + ")"
		if len(text) <= limit {
			return text
		}
	}
	return display.Cut(text, limit)
}

// paragraphs returns a tool's whole description as a comment that keeps its lines.
func (t *tool) paragraphs(indent string) string {
	var lines []string
	for line := range strings.Lines(t.Description) {
		if line = display.Comment(line); line != "" {
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
