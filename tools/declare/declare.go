// Package declare describes a set of tools to a model in TypeScript.
//
// TypeScript is the shortest notation with which models write correct calls: one object per namespace and one line
// per tool, with the type of the argument inline. If there are too many tools for the prompt, their names are listed
// after the TypeScript in families, such as fleet_{get,list}_{driver,trip,vehicle}. [LearnedTypes] are the types of
// results for which a tool declares no schema.
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
)

// DefaultBudget is the default limit of tokens for declarations.
const DefaultBudget = 8000

// perTool is the default limit of tokens per tool for small sets.
const perTool = 120

// indexBudget is the default limit of tokens for an index.
const indexBudget = 1800

// Markdown declares the tools of a set in at most budget [Tokens]: as a fenced block of TypeScript and, if not all
// names fit there, a list of names after the block. With a smaller budget it leaves out more: first parts of the
// descriptions, then nested types, then all but the name and the first sentence of each tool, then all but the names
// in families, and finally all but the number of tools per server. Sentences about the form of a value are dropped
// last, and no sentence is cut. If it leaves anything out, it declares tools.search and tools.describe, from which a
// program gets the rest ([Describe]). It exceeds the budget only if the budget is too small for the types that
// descriptions refer to.
//
// A budget of zero is the default: at most [DefaultBudget], with only what is needed to call each tool; if that is
// not enough to declare every tool, Markdown lists the names in about 1,800 tokens. With an explicit budget, it
// includes as much as fits.
//
// A sentence that a server repeats is shown once. Descriptions, names and schemas are untrusted; nothing in them can
// end a comment, a string or a fenced block early, and the text outside the block contains only names. The same tools
// always yield the same text. For a nil or empty set, Markdown returns the empty string.
func Markdown(set *tools.Set, budget int) string {
	if set.Len() == 0 {
		return ""
	}
	list, names := levels, budget
	if budget <= 0 {
		budget, list = min(DefaultBudget, 200+perTool*set.Len()), levels[byDefault:]
		names = min(budget, indexBudget)
	}
	fence := Tokens(fenced(""))
	budget, names = budget-fence, names-fence
	objects := group(set.Bindings())
	for _, l := range list {
		if text, ok := l.declare(objects, budget); ok {
			return fenced(complete(text, objects))
		}
	}
	if text, ok := outline(objects, names); ok {
		return fenced(text)
	}
	code := rest + types(objects)
	return fenced(code) + index(objects, names-Tokens(code))
}

func fenced(code string) string { return "```ts\n" + code + "```\n" }

// complete returns the complete declarations if they are no longer than text, since
// they need not declare tools.search and tools.describe.
func complete(text string, objects []*object) string {
	if everything, ok := levels[0].declare(objects, Tokens(text)); ok {
		return everything
	}
	return text
}

// The types that declarations refer to. [Markdown] declares them, and [Describe] does
// not repeat them.
const (
	// content is the result, other than text, of a tool without an output schema.
	content = "type Content = Block[] /* if not all of it is text */" +
		" | {[name: string]: any} /* data */ | {text: string; data: any; blocks?: Block[]} /* if they differ */;\n" +
		"type Block = {type: \"text\"; text: string} | {type: \"image\" | \"audio\"; data: string /* base64 */; " +
		"mimeType: string}" +
		" | {type: \"resource_link\"; uri: string; name: string} | {type: \"resource\"; resource: {uri: string; text?: " +
		"string; blob?: string}};\n"

	toolError = "declare class ToolError extends Error { tool: string; kind: string; id?: string; data?: unknown }\n"

	// rest declares the functions that return what declarations leave out.
	rest = "declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: " +
		"boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | " +
		"string[]): Promise<string> }; // describe returns whole declarations\n"
)

// page is a text within a budget. It ends before the first part that does not fit.
type page struct {
	text strings.Builder
	left int // hundredths of a token
}

func newPage(budget int) page {
	return page{left: min(budget, maxBudget) * 100}
}

const maxBudget = 1 << 40 // so that hundredths do not overflow

// add appends a text if it fits, and reports whether it does.
func (p *page) add(text string) bool {
	p.left -= hundredths(text)
	if p.left >= 0 {
		p.text.WriteString(text)
	}
	return p.left >= 0
}
