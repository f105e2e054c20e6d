// Package declare describes a set of tools to a model in TypeScript.
//
// TypeScript is the shortest notation with which models write correct calls: one object per namespace and one line per
// tool, with the type of the argument inline. If there are too many tools for the prompt, their names are listed after
// the TypeScript in families, such as fleet_{get,list}_{driver,trip,vehicle}. [LearnedTypes] are the result types of
// tools that declare no output schema.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//
//		"github.com/writ-go/writ/tools"
//		"github.com/writ-go/writ/tools/declare"
//	)
//
//	type Order struct {
//		ID string `json:"id"`
//	}
//
//	func refund(ctx context.Context, o Order) (bool, error) { return true, nil }
//
//	func main() {
//		set, err := tools.NewSet(context.Background(), tools.Func("refund", "Refund one order.", refund, nil))
//		if err != nil {
//			panic(err)
//		}
//		fmt.Print(declare.Markdown(set, 0))
//	}
package declare

import (
	"strings"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/bm25"
)

// defaultBudget is the default token limit for declarations.
const defaultBudget = 8000

// perTool is the default token limit per tool for small sets.
const perTool = 120

// indexBudget is the default token limit for an index.
const indexBudget = 1800

// Default limits, in tokens, for prompts that have a task. The rest of a prompt takes about 700 tokens. If the set is
// too large to be declared, a run's first prompt therefore has about 3,300 tokens.
const (
	promptBudget = 3300 // for the declarations of all tools
	namedBudget  = 2600 // for small servers, names, and the tools that match, if not all declarations fit
)

// Limits of the tools that match a task.
const (
	maxMatches = 12
	minMatch   = 0.35 // minimum score, as a fraction of the best score
)

// Markdown declares a set's tools in at most budget [Tokens]: as a fenced block of TypeScript and, if not all names fit
// there, a list of names after the block. With a smaller budget it leaves out more: first parts of the descriptions,
// then nested types, then all but the name and the first sentence of each tool, then all but the names in families, and
// finally all but the number of tools per server. Sentences about the format of a value are left out last, and no
// sentence is cut. If Markdown leaves anything out, it declares tools.search and tools.describe, with which a program
// gets the rest ([Describe]). Markdown exceeds the budget only if the budget is too small for the types that
// declarations refer to.
//
// A budget of zero is the default: at most 8000 tokens, with only what is needed to call each tool; if that is
// not enough to declare every tool, Markdown lists the names in about 1,800 tokens. With an explicit budget, it
// includes as much as fits.
//
// A sentence that a server repeats is shown once. Descriptions, names and schemas are untrusted; nothing in them can
// end a comment, a string or a fenced block early, and the text outside the block contains only names. The same tools
// always yield the same text. For a nil or empty set, Markdown returns the empty string.
func Markdown(set *tools.Set, budget int) string {
	r := explicit(budget)
	if budget <= 0 {
		all := min(defaultBudget, 200+perTool*set.Len())
		r = rooms{levels: levels[byDefault:], all: all, names: min(all, indexBudget)}
	}
	return r.declare(set).Text
}

// rooms are the limits for the parts of declarations, in tokens.
type rooms struct {
	levels []level
	all    int // for the declarations of all tools
	small  int // for the declarations of small servers, if not all tools fit
	names  int // for the other tools' names
	total  int // for small servers, names, and the tools that match a task
}

func explicit(budget int) rooms {
	return rooms{levels: levels, all: budget, names: budget, total: budget}
}

// Declarations are a set's declarations, for prompts that also have a task.
type Declarations struct {
	Text string // the same for every task, so that providers can cache it

	named map[string]*tools.Binding // the tools that Text only names
	index *bm25.Index
	room  int // limit, in tokens, for the declarations that Matching returns
}

// New declares a set's tools like [Markdown], for prompts that also have a task. By default, all declarations take at
// most about 3,300 tokens. If that is not enough, Text has the declarations of servers with up to ten tools and the
// names of the other tools, and [Declarations.Matching] declares those that match a task.
func New(set *tools.Set, budget int) *Declarations {
	r := explicit(budget)
	if budget <= 0 {
		r = rooms{levels: levels[byDefault:withDescriptions], all: min(promptBudget, 200+perTool*set.Len()),
			small: namedBudget / 2, names: indexBudget, total: namedBudget}
	}
	return r.declare(set)
}

func (r rooms) declare(set *tools.Set) *Declarations {
	if set.Len() == 0 {
		return &Declarations{}
	}
	fence := Tokens(fenced(""))
	objects := group(set.Bindings())
	for _, l := range r.levels {
		if text, ok := l.declare(objects, r.all-fence); ok {
			return &Declarations{Text: fenced(complete(text, objects))}
		}
	}
	code, large := small(objects, r.small)
	d := &Declarations{named: map[string]*tools.Binding{}, index: bm25.New(set.Bindings())}
	if text, ok := outline(large, types(objects), r.names-fence); ok {
		d.Text = fenced(text + code)
	} else {
		head := rest + types(objects)
		d.Text = fenced(head+code) + index(large, min(r.names, max(r.total, r.names)-Tokens(code))-fence-Tokens(head))
	}
	for _, o := range large {
		for _, t := range o.tools {
			d.named[t.Path()] = t.Binding
		}
	}
	d.room = r.total - Tokens(d.Text)
	return d
}

// maxSmall is the maximum number of tools on a small server.
const maxSmall = 10

// small declares as many small servers as fit, and returns the other servers.
func small(objects []*object, room int) (code string, others []*object) {
	for _, o := range objects {
		p := &listing{page: newPage(room), level: levels[byDefault]}
		if len(o.tools) > maxSmall || !p.object(o) {
			others = append(others, o)
			continue
		}
		code += p.text.String()
		room = p.left / 100
	}
	return code, others
}

// Matching returns a fenced TypeScript block that declares the tools that match a task best and that Text does not
// declare. If no such tool matches, it returns "".
func (d *Declarations) Matching(task string) string {
	if d == nil || d.index == nil {
		return ""
	}
	var best []*tools.Binding
	var code string
	hits := d.index.Search(task, "", maxMatches)
	for _, h := range hits {
		b := d.named[h.Path()]
		if b == nil || h.Score <= minMatch*hits[0].Score {
			continue
		}
		p := &listing{page: newPage(d.room - Tokens(fenced(""))), level: levels[byDefault]}
		for _, o := range group(append(best, b)) {
			p.object(o)
		}
		if p.left >= 0 {
			best, code = append(best, b), p.text.String()
		}
	}
	if code == "" {
		return ""
	}
	return fenced(code)
}

func fenced(code string) string { return "```ts\n" + code + "```\n" }

// complete returns the complete declarations if they are no longer than text, and otherwise text. Complete
// declarations can be shorter, since they omit tools.search and tools.describe.
func complete(text string, objects []*object) string {
	if everything, ok := levels[0].declare(objects, Tokens(text)); ok {
		return everything
	}
	return text
}

// The types that declarations refer to. [Markdown] declares them, and [Describe] does
// not repeat them.
const (
	// content declares the types of results that are not plain text, for tools without an output schema.
	content = "type Content = Block[] /* if not all of it is text */" +
		" | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;\n" +
		"type Block = {type: \"text\"; text: string} | {type: \"image\" | \"audio\"; data: string /* base64 */; " +
		"mimeType: string}" +
		" | {type: \"resource_link\"; uri: string; name: string} | {type: \"resource\"; resource: {uri: string; " +
		"text?: string; blob?: string}};\n"

	toolError = "declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }\n"

	// rest declares the functions with which a program finds the tools that the declarations leave out.
	rest = "declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: " +
		"boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | " +
		"string[]): Promise<string> }; // describe returns whole declarations\n"
)

// page collects text within a budget. It ends before the first part that does not fit.
type page struct {
	text strings.Builder
	left int // hundredths of a token
}

func newPage(budget int) page {
	return page{left: min(budget, maxBudget) * 100}
}

const maxBudget = 1 << 40 // so that hundredths do not overflow

// add appends text if it fits, and reports whether it does.
func (p *page) add(text string) bool {
	p.left -= hundredths(text)
	if p.left >= 0 {
		p.text.WriteString(text)
	}
	return p.left >= 0
}
