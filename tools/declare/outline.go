package declare

import (
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/prose"
)

const (
	// outlined declares the type of a tool that is declared only by name.
	outlined = "type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration\n"

	// maxGist is the maximum length of a sentence next to a name.
	maxGist = 160
)

// outline declares tools by name, each with the first sentence of its description. It
// reports whether they fit into the budget, with the types that declarations refer to.
func outline(objects []*object, types string, budget int) (string, bool) {
	p := newPage(budget)
	p.add(rest + types + outlined)
	for _, o := range objects {
		if !p.outline(o) {
			return "", false
		}
	}
	return p.text.String(), p.left >= 0
}

func (p *page) outline(o *object) bool {
	if o.name != "" {
		p.add("declare const " + o.name + ": {\n")
	}
	for _, t := range o.tools {
		line := "  " + t.member() + ": Tool;"
		if o.name == "" {
			line = "declare const " + t.Names[0] + ": Tool;"
		}
		if gist := t.gist(); gist != "" {
			line += " // " + gist
		}
		if !p.add(line + "\n") {
			return false
		}
	}
	return o.name == "" || p.add("};\n")
}

// gist returns the first sentence of a tool's description if it is short.
func (t *tool) gist() string {
	head := strings.ToValidUTF8(t.Description[:min(len(t.Description), 2*maxGist)], "")
	sentences := prose.Sentences(head)
	if len(sentences) == 0 || len(sentences[0]) > maxGist {
		return ""
	}
	return display.OneLine(sentences[0])
}
