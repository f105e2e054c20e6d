package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

const (
	// outlined stands for a tool of which only the name is shown.
	outlined = "type Tool = (args?: any) => Promise<any>; // tools.describe(name) returns its declaration\n"

	// maxGist is how long a sentence beside a name may be.
	maxGist = 160
)

// names declares the tools by their names, with the first sentence of what each
// does or without.
func names(objects []*object, budget int, gists bool) (string, bool) {
	p := newPage(budget)
	p.add(rest + "\n" + toolError + outlined)
	for _, o := range objects {
		if !p.outline(o, gists) {
			return "", false
		}
	}
	return p.text.String(), p.left >= 0
}

func (p *page) outline(o *object, gists bool) bool {
	if o.name != "" {
		p.add("declare const " + o.name + ": {\n")
	}
	for _, t := range o.tools {
		line := "  " + t.member() + ": Tool;"
		if o.name == "" {
			line = "declare const " + t.Names[0] + ": Tool;"
		}
		if gist := t.gist(); gists && gist != "" {
			line += " // " + gist
		}
		if !p.add(line + "\n") {
			return false
		}
	}
	return o.name == "" || p.add("};\n")
}

// gist is the first sentence of a tool's description, if it is short.
func (t *tool) gist() string {
	head := strings.ToValidUTF8(t.Description[:min(len(t.Description), 2*maxGist)], "")
	sentences := schema.Sentences(head)
	if len(sentences) == 0 || len(sentences[0]) > maxGist {
		return ""
	}
	return schema.Harmless(sentences[0])
}

// counts declares the servers and how many tools each has: first the host's own
// functions, then the largest servers, as many as fit.
func counts(objects []*object, budget int) string {
	text := rest + "\n" + outlined
	left := budget - Tokens(text)
	lines := countLines(objects)
	tools := 0
	for _, line := range lines {
		tools += line.tools
	}
	for i, line := range lines {
		left -= Tokens(line.text)
		last := i == len(lines)-1
		if left < 0 || !last && left < maxRemainder {
			return text + fmt.Sprintf("// … and %d more, with %s\n", len(lines)-i, plural(tools, "tool"))
		}
		text += line.text
		tools -= line.tools
	}
	return text
}

// maxRemainder is how many tokens the line takes that stands for the others.
const maxRemainder = 16

// count is one line about some tools.
type count struct {
	tools int
	text  string
}

func countLines(objects []*object) []count {
	var own, servers []count
	for _, o := range objects {
		if o.name == "" {
			for _, t := range o.tools {
				own = append(own, count{1, "declare const " + t.Names[0] + ": Tool;\n"})
			}
			continue
		}
		n := len(o.tools)
		servers = append(servers, count{n, fmt.Sprintf("declare const %s: Record<string, Tool>; // %s\n", o.name, plural(n, "tool"))})
	}
	slices.SortStableFunc(servers, func(a, b count) int { return cmp.Compare(b.tools, a.tools) })
	return append(own, servers...)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
