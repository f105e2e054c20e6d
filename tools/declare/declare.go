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
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// DefaultBudget is how many tokens the declarations may take by default.
const DefaultBudget = 8000

// level is how much the declarations say.
type level struct {
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

// TypeScript declares the tools of a set in at most budget tokens, as far as
// that is possible while still naming every tool with its arguments: as the
// budget shrinks, comments go first, then the depth of types. A budget of zero
// is [DefaultBudget]. Descriptions are data written by strangers; nothing in
// them can end a comment or a fenced block.
func TypeScript(set *tools.Set, budget int) string {
	if set.Len() == 0 {
		return ""
	}
	if budget <= 0 {
		budget = DefaultBudget
	}
	var text string
	for _, l := range levels {
		if text = l.declare(set); Tokens(text) <= budget {
			break
		}
	}
	return text
}

// Tokens estimates how many tokens a model counts in a text of this kind.
func Tokens(text string) int { return (len(text)*2 + 6) / 7 }

func (l level) declare(set *tools.Set) string {
	var b strings.Builder
	for _, object := range objects(set) {
		if object.name == "" {
			for _, tool := range object.tools {
				fmt.Fprintf(&b, "%sdeclare function %s%s;\n", l.comment(tool, ""), tool.Names[0], l.signature(tool))
			}
			continue
		}
		fmt.Fprintf(&b, "declare const %s: {\n", object.name)
		for _, tool := range object.tools {
			fmt.Fprintf(&b, "%s  %s%s;\n", l.comment(tool, "  "), member(tool), l.signature(tool))
		}
		b.WriteString("};\n")
	}
	if strings.Contains(b.String(), "Block[]") {
		return block + b.String()
	}
	return b.String()
}

// block is what a tool without a declared result may return besides text.
const block = "type Block = {type: \"text\"; text: string} | {type: \"image\" | \"audio\"; data: string /* base64 */; mimeType: string}" +
	" | {type: \"resource_link\"; uri: string; name: string} | {type: \"resource\"; resource: {uri: string; text?: string; blob?: string}};\n"

// object is a namespace with its tools, in the order of the set.
type object struct {
	name  string
	tools []*tools.Binding
}

func objects(set *tools.Set) []*object {
	var list []*object
	byName := map[string]*object{}
	for _, b := range set.Bindings() {
		o := byName[b.Object]
		if o == nil {
			o = &object{name: b.Object}
			byName[b.Object] = o
			list = append(list, o)
		}
		o.tools = append(o.tools, b)
	}
	return list
}

// member is how a tool is declared within its object: by its own name if that
// is what a program should write.
func member(b *tools.Binding) string {
	if len(b.Names) > 1 {
		return strconv.Quote(b.Names[1])
	}
	return b.Names[0]
}

func (l level) comment(b *tools.Binding, indent string) string {
	text := schema.Comment(b.Description)
	if text == "" || !l.tools {
		return ""
	}
	return indent + "/** " + text + " */\n"
}

// signature is the argument and result of a tool.
func (l level) signature(b *tools.Binding) string {
	return "(" + l.argument(b) + "): Promise<" + l.result(b) + ">"
}

func (l level) argument(b *tools.Binding) string {
	t := l.render(b.InputSchema, l.input)
	switch {
	case t == "" || t == "unknown":
		return "args?: object"
	case t == "{}":
		return ""
	case len(b.Check([]byte(`{}`), nil)) == 0:
		return "args?: " + t
	}
	return "args: " + t
}

// result is string | Block[] where nothing is declared of a tool that comes
// from elsewhere.
func (l level) result(b *tools.Binding) string {
	switch {
	case b.OutputSchema != nil:
		return l.render(b.OutputSchema, l.output)
	case b.Namespace == "":
		return "unknown"
	}
	return "string | Block[]"
}

// render prints a schema, or says that it can't be known.
func (l level) render(raw json.RawMessage, depth int) string {
	if raw == nil {
		return ""
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return "unknown"
	}
	return s.TypeScript(&schema.TypeOptions{Docs: l.docs, Depth: depth})
}
