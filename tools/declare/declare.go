// Package declare shows a set of tools to a model, as TypeScript.
//
// TypeScript is the shortest form that models write correct calls from: one
// object for each namespace, one line for each tool, with the argument's type
// in place.
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
//		fmt.Print(declare.TypeScript(set, 0))
//	}
package declare

import (
	"strings"

	"github.com/writ-go/writ/tools"
)

// DefaultBudget is how many tokens the declarations may take by default.
const DefaultBudget = 8000

// perTool is how many of them each of a few tools may take, on the average.
const perTool = 120

// TypeScript declares the tools of a set in at most budget [Tokens]. As the
// budget shrinks, it says less: first of what the tools mean, then of deep
// types, then only names with what each tool does, and at last which servers
// there are and how many tools each has, and some of the host's own functions. If
// not even the servers fit, the largest are named and the others counted. What says
// how a value must look is kept longest, and no sentence is cut in two. Where anything is left out, the text
// says so and declares tools.search and tools.describe, by which a program gets
// the rest ([Describe]). Only a budget too small for one line is exceeded.
//
// A budget of zero is the default: at most [DefaultBudget], and of each tool no
// more than calls of it need. A budget that is given is used as far as there is
// something to say.
//
// A sentence that a server repeats is shown once. Descriptions, names and
// schemas are data written by strangers; nothing in them can end a comment, a
// string or a fenced block. The text is the same whenever the set's tools are. A
// nil or empty set is declared by no text at all.
func TypeScript(set *tools.Set, budget int) string {
	if set.Len() == 0 {
		return ""
	}
	list := levels
	if budget <= 0 {
		budget, list = min(DefaultBudget, 200+perTool*set.Len()), levels[byDefault:]
	}
	objects := group(set.Bindings())
	for _, l := range list {
		if text, ok := l.declare(objects, budget); ok {
			return shorter(text, objects)
		}
	}
	if text, ok := names(objects, budget, true); ok {
		return text
	}
	if text, ok := names(objects, budget, false); ok {
		return text
	}
	return counts(objects, budget)
}

// shorter returns what says everything, if that is no longer: it need not say
// where the rest is.
func shorter(text string, objects []*object) string {
	if everything, ok := levels[0].declare(objects, Tokens(text)); ok {
		return everything
	}
	return text
}

// The types that declarations refer to. [TypeScript] declares them, so that
// [Describe] need not; only where there is room for little more than the names of
// servers does it leave out toolError and content.
const (
	// content is what a tool without a declared result may return besides text.
	content = "type Content = Block[] /* if not all of it is text */" +
		" | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;\n" +
		"type Block = {type: \"text\"; text: string} | {type: \"image\" | \"audio\"; data: string /* base64 */; mimeType: string}" +
		" | {type: \"resource_link\"; uri: string; name: string} | {type: \"resource\"; resource: {uri: string; text?: string; blob?: string}};\n"

	toolError = "declare class ToolError extends Error { tool: string; kind: string; data?: unknown }\n"

	rest = "declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> };"

	discovery = rest + " // describe returns what is left out here of a tool\n"
)

// page is a text under a budget. What does not fit is not written, and nothing
// after it.
type page struct {
	text strings.Builder
	left int // hundredths of tokens
}

func newPage(budget int) page {
	return page{left: min(budget, maxBudget) * 100}
}

const maxBudget = 1 << 40 // so that hundredths do not overflow

// add reports whether the text still fits.
func (p *page) add(text string) bool {
	p.left -= hundredths(text)
	if p.left >= 0 {
		p.text.WriteString(text)
	}
	return p.left >= 0
}
