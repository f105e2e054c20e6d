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
	p.add(rest + "\n" + types(objects) + outlined)
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

// counts declares the servers and how many tools each has, the largest first, and
// then the host's own functions: all of them if they fit, else how many there are
// and the first few. Where not even the servers fit, it says how many more there
// are.
func counts(objects []*object, budget int) string {
	head := rest + "\n" + outlined
	if t := types(objects); 4*Tokens(t) <= budget { // else the names of servers are worth more
		head = rest + "\n" + t + outlined
	}
	servers, functions := countLines(objects)
	var each strings.Builder
	for _, name := range functions {
		each.WriteString("declare const " + name + ": Tool;\n")
	}
	for _, own := range []string{each.String(), few(functions)} {
		text := head
		for _, s := range servers {
			text += s.text
		}
		text += own
		if Tokens(text) <= budget {
			return text
		}
	}
	return head + most(servers, functions, budget-Tokens(head))
}

// most is as many servers as fit, and a line about the others; only that line is
// written in any case.
func most(servers []count, functions []string, left int) string {
	text, own, open := "", few(functions), servers
	remaining := 0
	for _, s := range servers {
		remaining += s.tools
	}
	for i, s := range servers {
		with := text + s.text
		if Tokens(with)+Tokens(own)+Tokens(remainder(len(servers)-i-1, remaining-s.tools, 0)) > left {
			break
		}
		text, open, remaining = with, servers[i+1:], remaining-s.tools
	}
	if text == "" {
		return remainder(len(servers), remaining, len(functions))
	}
	return text + own + remainder(len(open), remaining, 0)
}

// count is one line about the tools of a server.
type count struct {
	tools int
	text  string
}

func countLines(objects []*object) (servers []count, functions []string) {
	for _, o := range objects {
		if o.name == "" {
			for _, t := range o.tools {
				functions = append(functions, t.Names[0])
			}
			continue
		}
		n := len(o.tools)
		servers = append(servers, count{n, fmt.Sprintf("declare const %s: Record<string, Tool>; // %s\n", o.name, plural(n, "tool"))})
	}
	slices.SortStableFunc(servers, func(a, b count) int { return cmp.Compare(b.tools, a.tools) })
	return servers, functions
}

// few is how many functions there are, with the names of some.
func few(functions []string) string {
	const shown = 5
	if len(functions) == 0 {
		return ""
	}
	names := strings.Join(functions[:min(shown, len(functions))], ", ")
	if len(functions) > shown {
		names += ", …"
	}
	return fmt.Sprintf("// %s without a server: %s\n", plural(len(functions), "function"), names)
}

// remainder stands for what there is no room for.
func remainder(servers, tools, functions int) string {
	var parts []string
	if servers > 0 {
		parts = append(parts, fmt.Sprintf("%s with %s", plural(servers, "more server"), plural(tools, "tool")))
	}
	if functions > 0 {
		parts = append(parts, plural(functions, "function"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "// … and " + strings.Join(parts, " and ") + "; tools.search(query) finds them\n"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
