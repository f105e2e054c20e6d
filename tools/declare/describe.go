package declare

import "github.com/writ-go/writ/tools"

// Describe declares one tool with all that is known of it: whole descriptions,
// every constraint, types in full depth. It is what a program gets from
// tools.describe, where [TypeScript] had to leave something out; like there,
// nothing of the tool's can end a comment, a string or a fenced block.
func Describe(b *tools.Binding) string {
	t := &tool{Binding: b}
	p := &listing{level: levels[0], said: map[string]bool{}}
	head := ""
	if t.hasBlocks() {
		head = block
	}
	if b.Object == "" {
		return head + t.paragraphs("") + "declare function " + b.Names[0] + p.signature(t) + ";\n"
	}
	return head + "declare const " + b.Object + ": {\n" + t.paragraphs("  ") + "  " + t.member() + p.signature(t) + ";\n};\n"
}
