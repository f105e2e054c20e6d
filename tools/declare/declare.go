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
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// DefaultBudget is how many tokens the declarations may take by default.
const DefaultBudget = 8000

// level is how much the declarations say.
type level struct {
	whole  bool // descriptions are not cut
	tools  bool // what tools do
	docs   bool // what their arguments and results mean
	input  int  // depth of argument types; 0 is all
	output int  // depth of result types
}

// levels from the most to the least telling. All of them declare every tool.
var levels = []level{
	{tools: true, docs: true, output: 3},
	{tools: true, docs: true, output: 2},
	{tools: true, input: 4, output: 2},
	{tools: true, input: 2, output: 1},
	{input: 1, output: 1},
}

// whole is all that is known of a tool.
var whole = level{whole: true, tools: true, docs: true}

// TypeScript declares the tools of a set in at most budget [Tokens], as far as
// that is possible while still naming every tool with its arguments: as the
// budget shrinks, deep result types go first, then the comments on arguments,
// then deep argument types, and last what the tools do. A budget of zero is
// [DefaultBudget].
//
// Descriptions, names and schemas are data written by strangers; nothing in
// them can end a comment, a string or a fenced block. The text is the same
// whenever the set's tools are. A nil or empty set is declared by no text at
// all.
func TypeScript(set *tools.Set, budget int) string {
	if set.Len() == 0 {
		return ""
	}
	if budget <= 0 {
		budget = DefaultBudget
	}
	objects := group(set)
	var text string
	for _, l := range levels {
		if text = l.declare(objects); Tokens(text) <= budget {
			break
		}
	}
	return text
}

// Tokens estimates how many tokens a model counts in a text: one for every 3.5
// bytes. Of the declarations in testdata, the tokenizers o200k and cl100k make
// one of 2.9 to 3.9 bytes; those of other models, and texts in other languages,
// may be further off.
func Tokens(text string) int { return (len(text)*2 + 6) / 7 }

func (l level) declare(objects []*object) string {
	var b strings.Builder
	if slices.ContainsFunc(objects, (*object).hasBlocks) {
		b.WriteString(block)
	}
	for _, o := range objects {
		if o.name == "" {
			for _, t := range o.tools {
				fmt.Fprintf(&b, "%sdeclare function %s%s;\n", l.comment(t, ""), t.Names[0], l.signature(t))
			}
			continue
		}
		fmt.Fprintf(&b, "declare const %s: {\n", o.name)
		for _, t := range o.tools {
			fmt.Fprintf(&b, "%s  %s%s;\n", l.comment(t, "  "), t.member(), l.signature(t))
		}
		b.WriteString("};\n")
	}
	return b.String()
}

// block is what a tool without a declared result may return besides text.
const block = "type Block = {type: \"text\"; text: string} | {type: \"image\" | \"audio\"; data: string /* base64 */; mimeType: string}" +
	" | {type: \"resource_link\"; uri: string; name: string} | {type: \"resource\"; resource: {uri: string; text?: string; blob?: string}};\n"

func (l level) comment(t *tool, indent string) string {
	if t.comment == "" || !l.tools {
		return ""
	}
	return indent + "/** " + t.comment + " */\n"
}

// signature is the argument and result of a tool.
func (l level) signature(t *tool) string {
	return "(" + l.argument(t) + "): Promise<" + l.result(t) + ">"
}

func (l level) argument(t *tool) string {
	typ := l.render(t.input, l.input)
	switch typ {
	case "{}":
		return ""
	case unknown:
		typ = "object"
	}
	if t.optional {
		return "args?: " + typ
	}
	return "args: " + typ
}

func (l level) result(t *tool) string {
	if t.hasBlocks() {
		return "string | Block[]"
	}
	return l.render(t.output, l.output)
}

// unknown is the type of which nothing is known.
const unknown = "unknown"

func (l level) render(s *schema.Schema, depth int) string {
	if s == nil {
		return unknown
	}
	return s.TypeScript(&schema.TypeOptions{Docs: l.docs, Whole: l.whole, Depth: depth})
}
