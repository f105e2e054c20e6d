// Package declare shows a set of tools to a model, as TypeScript.
//
// TypeScript is the shortest form that models write correct calls from: one
// object for each namespace, one line for each tool, with the argument's type
// in place. If there are too many tools for that, their names are listed in
// families, such as fleet_{get,list}_{driver,trip,vehicle}, after the TypeScript.
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

// DefaultBudget is how many tokens the declarations may take by default.
const DefaultBudget = 8000

// perTool is how many of them each of a few tools may take, on average.
const perTool = 120

// indexBudget is how many tokens an [index] may take by default.
const indexBudget = 1800

// Markdown declares the tools of a set in at most budget [Tokens]: as a fenced block of
// TypeScript and, where not all names fit in there, a list of them after the block. As
// the budget shrinks, it says less: first of what the tools mean, then of deep types,
// then only the name of each tool with what it does, then only names in families, and
// last how many tools each server has. What describes the form of a value is dropped last,
// and no sentence is cut. Where it leaves anything out, it declares tools.search and
// tools.describe, from which a program gets the rest ([Describe]). It exceeds the
// budget only if that is too small for the types that descriptions refer to.
//
// A budget of zero is the default: at most [DefaultBudget], and for each tool only what
// is needed to call it; if that is not enough for a declaration of every tool, it lists their
// names in about 1,800 tokens. A budget that is given is used as far as there is
// something to say.
//
// A sentence that a server repeats is shown once. Descriptions, names and schemas are
// data written by strangers; nothing in them can end a comment, a string or a fenced
// block, and outside of the block there are only names. The text is the same whenever the
// set's tools are. For a nil or empty set, Markdown returns the empty string.
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
			return fenced(tellAll(text, objects))
		}
	}
	if text, ok := outline(objects, names); ok {
		return fenced(text)
	}
	code := rest + types(objects)
	return fenced(code) + index(objects, names-Tokens(code))
}

func fenced(code string) string { return "```ts\n" + code + "```\n" }

// tellAll returns what says everything, if that is no longer: it need not say
// where the rest is.
func tellAll(text string, objects []*object) string {
	if everything, ok := levels[0].declare(objects, Tokens(text)); ok {
		return everything
	}
	return text
}

// The types that declarations refer to. [Markdown] declares them, so that [Describe] need
// not.
const (
	// content is what a tool without a declared result may return besides text.
	content = "type Content = Block[] /* if not all of it is text */" +
		" | {text: string; data: unknown; blocks?: Block[]} /* if the tool also sends data */;\n" +
		"type Block = {type: \"text\"; text: string} | {type: \"image\" | \"audio\"; data: string /* base64 */; mimeType: string}" +
		" | {type: \"resource_link\"; uri: string; name: string} | {type: \"resource\"; resource: {uri: string; text?: string; blob?: string}};\n"

	toolError = "declare class ToolError extends Error { tool: string; kind: string; data?: unknown }\n"

	// rest is how a program gets what declarations leave out.
	rest = "declare const tools: { search(query: string, options?: {server?: string; limit?: number; declare?: boolean}): Promise<{name: string; description: string; declaration?: string}[]>; describe(name: string | string[]): Promise<string> }; // describe returns whole declarations\n"
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
