package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
)

const (
	maxTypeDepth = 200    // levels of nesting; deeper types are printed as unknown
	maxTypeNodes = 10_000 // schemas printed in one type; each reference to a schema prints it again
)

// TypeOptions controls how much of a schema [Schema.TypeScript] prints.
type TypeOptions struct {
	// Docs adds constraints and descriptions as comments after properties.
	Docs bool
	// Describe returns the comment after a property, given its constraints and
	// description. It need not escape "*/". If Describe is nil and Docs is set, the comment
	// has the constraints and up to 160 bytes of the description, cut after a sentence.
	Describe func(property, constraints, description string) string
	// Show reports whether to print a property of the outermost object. If nil, all
	// properties are printed.
	Show func(property, typ string) bool
	// Brief leaves out constraints that callers rarely violate: large maximum lengths, and
	// a minimum length of 1.
	Brief bool
	// Depth is the number of object levels that are printed with their properties. Deeper objects are printed as
	// "object". Zero means no limit.
	Depth int
	// Enum is the number of values that are printed for an enum with more than Enum+1 values. The printed type then
	// also allows other values. Zero means no limit.
	Enum int
	// Cut is called, if it is not nil, whenever Depth or Enum leaves something out.
	Cut func()
}

// TypeScript returns the schema as an inline TypeScript type on one line, such as
//
//	{mood: "good" | "bad"; limit?: number /* integer, 1–100, default 20 */}
//
// If o is nil, the type has comments and full depth. Nothing in the schema can end a
// comment, a string or a fenced block early. Schemas that an inline type cannot express,
// such as recursive schemas and conditions, become unknown or are left out. Therefore every
// valid value has the type, but not every value of the type is valid.
func (s *Schema) TypeScript(o *TypeOptions) string {
	if o == nil {
		o = &TypeOptions{Docs: true}
	}
	p := &printer{schema: s, options: *o}
	whole := subschema{value: s.document.Value}
	return p.expression(whole).text + remark(p.unit(whole))
}

type printer struct {
	schema  *Schema
	options TypeOptions
	follows []string // pointers of the $ref targets being printed
	depth   int      // levels of schemas
	objects int      // levels of objects
	nodes   int      // schemas printed so far
}

// subschema is a schema in the document, and its place.
type subschema struct {
	at    []string
	value any
}

func (s subschema) keyword(name string) any {
	object, _ := s.value.(map[string]any)
	return object[name]
}

func (s subschema) text(name string) string {
	text, _ := s.keyword(name).(string)
	return text
}

func (s subschema) has(name string) bool {
	object, _ := s.value.(map[string]any)
	_, ok := object[name]
	return ok
}

// child returns the schema at a path of keywords and names within s.
func (s subschema) child(names ...string) subschema {
	v, _ := jsonvalue.Lookup(s.value, names)
	return subschema{at: append(s.at[:len(s.at):len(s.at)], names...), value: v}
}

// list returns the schemas in the array at a keyword.
func (s subschema) list(name string) []subschema {
	array, _ := s.keyword(name).([]any)
	all := make([]subschema, len(array))
	for i := range array {
		all[i] = s.child(name, strconv.Itoa(i))
	}
	return all
}

// names returns the names in the object at a keyword, in the order of the document.
func (s *Schema) names(of subschema, keyword string) []string {
	object, _ := of.keyword(keyword).(map[string]any)
	return s.document.Names(object)
}

func (p *printer) expression(s subschema) expr {
	p.nodes++
	if p.nodes > maxTypeNodes || p.depth >= maxTypeDepth {
		return unknownType
	}
	p.depth++
	defer func() { p.depth-- }()
	if allowed, ok := s.value.(bool); ok && !allowed {
		return expr{"never", atAtom}
	}
	switch {
	case s.has("const"):
		return expr{jsonvalue.Literal(s.keyword("const")), atAtom}
	case s.has("enum"):
		return p.enum(s)
	default:
		return intersect(p.parts(s))
	}
}

// parts returns the types whose intersection is a schema's type.
func (p *printer) parts(s subschema) []expr {
	parts := []expr{p.byType(s)}
	if s.has("$ref") {
		parts = append(parts, p.reference(s))
	}
	for _, each := range s.list("allOf") {
		parts = append(parts, p.expression(each))
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		if s.has(choice) {
			parts = append(parts, unite(p.each(s.list(choice))))
		}
	}
	return parts
}

func (p *printer) each(schemas []subschema) []expr {
	all := make([]expr, len(schemas))
	for i, s := range schemas {
		all[i] = p.expression(s)
	}
	return all
}

func (p *printer) enum(s subschema) expr {
	values, _ := s.keyword("enum").([]any)
	all := make([]expr, len(values))
	for i, v := range values {
		all[i] = expr{jsonvalue.Literal(v), atAtom}
	}
	if limit := p.options.Enum; limit > 0 && len(all) > limit+1 {
		p.cut()
		return some(all[:limit], len(all)-limit, kindOf(values))
	}
	return unite(all)
}

func (p *printer) cut() {
	if p.options.Cut != nil {
		p.options.Cut()
	}
}

// some prints a long enum's first values, and the common type of all its values.
func some(first []expr, more int, kind string) expr {
	shown := unite(first)
	if shown.text == unknownType.text {
		return unknownType
	}
	return expr{fmt.Sprintf("%s | %s /* and %d more values */", shown.text, kind, more), atUnion}
}

// kindOf returns the common type of values, "unknown" if their types differ, or "" if there are no values.
func kindOf(values []any) string {
	kind := ""
	for _, v := range values {
		this := "unknown"
		switch v.(type) {
		case string:
			this = "string"
		case json.Number:
			this = "number"
		case bool:
			this = "boolean"
		}
		if kind != "" && kind != this {
			return "unknown"
		}
		kind = this
	}
	return kind
}

// reference prints the target of a $ref, or unknown if the target is already being printed or is
// not in the document.
func (p *printer) reference(s subschema) expr {
	target, ok := p.schema.target(s)
	if !ok || slices.Contains(p.follows, jsonvalue.Pointer(target.at)) {
		return unknownType
	}
	p.follows = append(p.follows, jsonvalue.Pointer(target.at))
	defer func() { p.follows = p.follows[:len(p.follows)-1] }()
	return p.expression(target)
}

// target returns the schema to which a $ref refers, according to the compiled schema.
func (s *Schema) target(from subschema) (subschema, bool) {
	rule := s.rules[jsonvalue.Pointer(from.at)]
	if rule == nil || rule.Ref == nil {
		return subschema{}, false
	}
	at := jsonvalue.Tokens(place(rule.Ref.Location))
	v, ok := jsonvalue.Lookup(s.document.Value, at)
	return subschema{at, v}, ok
}

// byType prints the type according to "type" and the keywords of objects and arrays.
func (p *printer) byType(s subschema) expr {
	types := typesOf(s)
	if len(types) == 0 {
		return unknownType
	}
	all := make([]expr, len(types))
	for i, t := range types {
		all[i] = p.typed(t, s)
	}
	return unite(all)
}

// typesOf returns the types that a schema admits, or nil if it admits all types.
func typesOf(s subschema) []string {
	switch t := s.keyword("type").(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, name := range t {
			if name, ok := name.(string); ok {
				names = append(names, name)
			}
		}
		return names
	default:
		return implied(s)
	}
}

// implied returns the type that the keywords imply if "type" is missing.
func implied(s subschema) []string {
	switch {
	case s.has("properties"):
		return []string{"object"}
	case s.has("items") || s.has("prefixItems"):
		return []string{"array"}
	default:
		return nil
	}
}

func (p *printer) typed(name string, s subschema) expr {
	switch name {
	case "object":
		return expr{p.object(s), atAtom}
	case "array":
		return expr{p.array(s), atAtom}
	case "integer", "number":
		return expr{"number", atAtom}
	case "string":
		if s.has("contentSchema") {
			content := display.Comment(p.expression(s.child("contentSchema")).text)
			return expr{"string /* JSON.parse gives " + content + " */", atUnion}
		}
		return expr{name, atAtom}
	case "boolean", "null":
		return expr{name, atAtom}
	default:
		return unknownType
	}
}
