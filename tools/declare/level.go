package declare

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/prose"
	"github.com/writ-go/writ/signature/schema"
)

// level determines how much declarations say about each tool.
type level struct {
	tool   words // limit for the tool's description
	input  words // limit for each argument's description
	output words // limit for the description of each property in the result
	facts  facts // which constraints are shown
	in     int   // depth of argument types; 0 is no limit
	out    int   // depth of result types; 0 is no limit
	enum   int   // number of an enum's values that are shown; 0 is no limit
	echo   bool  // results omit properties that repeat an argument
}

// facts says which constraints are shown for arguments, and for results if the level
// shows their descriptions.
type facts int

const (
	none  facts = iota
	brief       // the constraints that callers may violate
	full
)

// words limits the sentences of a description, in bytes. Sentences about the format of a value are chosen first, up to
// format bytes, and then all other sentences, as long as the total is at most any bytes.
type words struct{ format, any int }

var all = words{math.MaxInt, math.MaxInt}

// levels go from the most to the least detailed.
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

const (
	byDefault        = 3 // the index of the default level
	withDescriptions = 8 // the number of levels that show tool descriptions
)

// maxLead is the maximum length of the first sentence of a tool's description.
const maxLead = 300

// listing is a page of declarations at one level.
type listing struct {
	page
	level
	said  map[string]bool   // sentences already shown in the current object
	given map[string]string // the tool's arguments and their types
	cut   bool              // something was left out
}

// declare declares objects, and reports whether they fit into the budget.
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
	words, _, _ := strings.Cut(t.Description, "\n```js\n") // the source of a saved program
	text := display.Comment(p.pick("", prose.Sentences(words), p.tool, true))
	if text == "" {
		return ""
	}
	return indent + "/** " + text + " */\n"
}

// pick chooses sentences of a description while there is room: if lead is set, the first sentence, then sentences about
// the format of a value, then all other sentences. It skips sentences that were already shown for a property with the
// same name.
func (p *listing) pick(property string, sentences []string, room words, lead bool) string {
	shown := make([]bool, len(sentences))
	used := 0
	take := func(i, limit int) {
		key := property + "\x00" + sentences[i]
		if shown[i] || used+len(sentences[i]) > limit || p.said[key] {
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
		if prose.MentionsFormat(s) {
			take(i, room.format)
		}
	}
	for i := range sentences {
		take(i, room.any)
	}
	return p.joined(sentences, shown, property)
}

// describe returns a property's comment, or "" if another property with the same name already had the same comment.
func (p *listing) describe(property, constraints, description string, room words) string {
	key := property + "\x00" + constraints + "\x00" + description
	if p.said[key] {
		return ""
	}
	text := p.pick(property, prose.Sentences(description), room, false)
	if constraints != "" && text != "" {
		constraints += ". "
	}
	p.said[key] = constraints+text != ""
	return constraints + text
}

// joined joins the chosen sentences in order.
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

// signature returns a tool's argument and result.
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
	if t.Params != nil {
		return p.parameters(t)
	}
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

// parameters returns the arguments of a tool that takes several.
func (p *listing) parameters(t *tool) string {
	var input struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(t.InputSchema, &input) // the set has compiled it
	list := make([]string, len(t.Params))
	for i, name := range t.Params {
		mark := "?: "
		if slices.Contains(input.Required, name) {
			mark = ": "
		}
		list[i] = name + mark + cmp.Or(p.given[name], unknown)
	}
	return strings.Join(list, ", ")
}

func (p *listing) result(t *tool) string {
	if t.mixed() {
		return "string | Content"
	}
	o := p.options(p.output, p.out)
	o.Docs = p.output.any > 0
	if p.echo {
		o.Show = p.isNew
	}
	return render(t.output(), o)
}

// isNew reports whether no argument has the same name and type as a property in a result.
func (p *listing) isNew(property, typ string) bool {
	echoed := p.given[property] == typ
	p.cut = p.cut || echoed
	return !echoed
}

// unknown is the type of any value.
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
