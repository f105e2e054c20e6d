package declare

import (
	"math"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// level is how much the declarations say of each tool.
type level struct {
	tool   words // of what it does
	input  words // of each of its arguments
	output words // of each part of its result
	facts  facts // constraints that are shown
	in     int   // depth of argument types; 0 is all
	out    int   // depth of result types; 0 is all
	enum   int   // values shown of an enum; 0 is all
	echo   bool  // results go without what only repeats an argument
}

// facts are the constraints that are shown of arguments, and of results where
// these are described.
type facts int

const (
	none  facts = iota
	brief       // those that callers may violate
	full
)

// words are how many bytes of a description are shown: of sentences that say
// how a value must look, and of any.
type words struct{ telling, any int }

var all = words{math.MaxInt, math.MaxInt}

// levels from the most to the least telling.
var levels = []level{
	{tool: all, input: all, output: all, facts: full},
	{tool: words{600, 400}, input: words{400, 300}, output: words{200, 200}, facts: full, out: 4, enum: 60},
	{tool: words{300, 200}, input: words{300, 160}, output: words{120, 60}, facts: brief, out: 3, enum: 30},
	{tool: words{200, 120}, input: words{200, 60}, facts: brief, out: 2, enum: 20, echo: true}, // by default
	{tool: words{160, 80}, input: words{160, 0}, facts: brief, out: 2, enum: 12, echo: true},
	{tool: words{80, 80}, input: words{120, 0}, facts: none, out: 2, enum: 12, echo: true},
	{tool: words{80, 80}, input: words{80, 0}, facts: none, out: 2, enum: 8, echo: true},
	{tool: words{80, 80}, in: 4, out: 1, enum: 8, echo: true},
	{in: 2, out: 1, enum: 8, echo: true},
	{in: 1, out: 1, enum: 4, echo: true},
}

const byDefault = 3

// maxLead is how long the first sentence of a tool's description may be.
const maxLead = 300

// listing is a page on which one level is written.
type listing struct {
	page
	level
	said  map[string]bool   // by the object that is being declared
	given map[string]string // the arguments of the tool and their types
	cut   bool              // something was left out
}

// declare returns false if the tools do not fit into the budget.
func (l level) declare(objects []*object, budget int) (string, bool) {
	p := &listing{page: newPage(budget), level: l}
	for _, o := range objects {
		if !p.object(o) {
			return "", false
		}
	}
	head := types(objects)
	if p.cut {
		head = rest + head
	}
	return head + p.text.String(), p.left >= hundredths(head)
}

func (p *listing) object(o *object) bool {
	p.said = map[string]bool{}
	if o.name == "" {
		for _, t := range o.tools {
			if !p.add(p.doc(t, "") + "declare function " + t.Names[0] + p.signature(t) + ";\n") {
				return false
			}
		}
		return true
	}
	p.add("declare const " + o.name + ": {\n")
	for _, t := range o.tools {
		if !p.add(p.doc(t, "  ") + "  " + t.member() + p.signature(t) + ";\n") {
			return false
		}
	}
	return p.add("};\n")
}

func (p *listing) doc(t *tool, indent string) string {
	text := schema.Comment(p.pick("", schema.Sentences(t.Description), p.tool, true))
	if text == "" {
		return ""
	}
	return indent + "/** " + text + " */\n"
}

// pick chooses among the sentences of a description: of a tool the first, then
// those that say how a value must look, then the others, as long as there is
// room, and none that was said already of a property of that name.
func (p *listing) pick(property string, sentences []string, room words, lead bool) string {
	shown := make([]bool, len(sentences))
	used := 0
	take := func(i, most int) {
		key := property + "\x00" + sentences[i]
		if shown[i] || used+len(sentences[i]) > most || p.said[key] {
			return
		}
		shown[i] = true
		p.said[key] = !(lead && i == 0)
		used += len(sentences[i])
	}
	if lead && room.any > 0 && len(sentences) > 0 {
		take(0, max(room.any, maxLead))
	}
	for i, s := range sentences {
		if schema.MentionsFormat(s) {
			take(i, room.telling)
		}
	}
	for i := range sentences {
		take(i, room.any)
	}
	return p.joined(sentences, shown, property)
}

// describe writes what is to be known of a property, once for all properties of
// that name.
func (p *listing) describe(property, constraints, description string, room words) string {
	key := property + "\x00" + constraints + "\x00" + description
	if p.said[key] {
		return ""
	}
	text := p.pick(property, schema.Sentences(description), room, false)
	if constraints != "" && text != "" {
		constraints += ". "
	}
	p.said[key] = constraints+text != ""
	return constraints + text
}

// joined joins the chosen sentences in their order.
func (p *listing) joined(sentences []string, shown []bool, property string) string {
	var b strings.Builder
	for i, s := range sentences {
		switch {
		case !shown[i]:
			p.cut = p.cut || !p.said[property+"\x00"+s]
		case b.Len() == 0:
			b.WriteString(s)
		case strings.ContainsAny(b.String()[b.Len()-1:], ".!?:;"):
			b.WriteString(" " + s)
		default:
			b.WriteString("; " + s)
		}
	}
	return b.String()
}

// signature is the argument and result of a tool.
func (p *listing) signature(t *tool) string {
	return "(" + p.argument(t) + "): Promise<" + p.result(t) + ">"
}

func (p *listing) argument(t *tool) string {
	o := p.options(p.input, p.in)
	p.given = map[string]string{}
	o.Show = func(property, typ string) bool {
		p.given[property] = typ
		return true
	}
	typ := render(t.input(), o)
	switch typ {
	case "{}":
		return ""
	case unknown:
		typ = "object"
	}
	if t.optional() {
		return "args?: " + typ
	}
	return "args: " + typ
}

func (p *listing) result(t *tool) string {
	if t.mixed() {
		return "string | Content"
	}
	o := p.options(p.output, p.out)
	o.Docs = p.output.any > 0
	if p.echo {
		o.Show = p.news
	}
	return render(t.output(), o)
}

// news reports whether a property of a result is more than an argument that
// comes back.
func (p *listing) news(property, typ string) bool {
	echoed := p.given[property] == typ
	p.cut = p.cut || echoed
	return !echoed
}

// unknown is the type of which nothing is known.
const unknown = "unknown"

func render(s *schema.Schema, o *schema.TypeOptions) string {
	if s == nil {
		return unknown
	}
	text := s.TypeScript(o)
	if text == "{}" && o.Show != nil {
		o.Show = nil
		return s.TypeScript(o)
	}
	return text
}

func (p *listing) options(room words, depth int) *schema.TypeOptions {
	return &schema.TypeOptions{
		Docs: true, Brief: p.facts == brief, Depth: depth, Enum: p.enum, Cut: func() { p.cut = true },
		Describe: func(property, constraints, description string) string {
			if p.facts == none {
				constraints = ""
			}
			return p.describe(property, constraints, description, room)
		},
	}
}
