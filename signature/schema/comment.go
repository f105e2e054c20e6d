package schema

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/prose"
)

const (
	maxFact    = 60 // bytes of a pattern, of a default, or of the constraints of items
	maxResolve = 20 // references followed to reach the schema that constrains a value
)

// comment returns the comment after a property, or "". The comment has a number's unit and, if the option Docs is set,
// the constraints and the description.
func (p *printer) comment(s subschema, property string) string {
	text, unit := p.docs(s, property), p.unit(s)
	switch {
	case text == "":
		return remark(unit)
	case !strings.Contains(text, unit):
		return remark(joinDocs(unit, text))
	}
	return remark(text)
}

func remark(text string) string {
	if text == "" {
		return ""
	}
	return " /* " + text + " */"
}

func (p *printer) docs(s subschema, property string) string {
	if !p.options.Docs {
		return ""
	}
	constraints, description := strings.Join(p.facts(s), ", "), p.description(s)
	describe := p.options.Describe
	if describe == nil {
		describe = briefly
	}
	return display.Comment(describe(property, constraints, description))
}

// briefly is the default of TypeOptions.Describe.
func briefly(_, constraints, description string) string {
	return joinDocs(constraints, prose.Summary(strings.Join(strings.Fields(description), " ")))
}

// joinDocs joins constraints and a description.
func joinDocs(constraints, description string) string {
	if constraints == "" || description == "" {
		return constraints + description
	}
	return constraints + ". " + description
}

func (p *printer) description(s subschema) string {
	if text := s.text("description"); text != "" {
		return text
	}
	return p.schema.concrete(s).text("description")
}

// concrete follows references, and goes from each nullable schema to its alternative to
// null, until it reaches the schema that constrains the value.
func (s *Schema) concrete(from subschema) subschema {
	for range maxResolve {
		next, ok := s.target(from)
		if !ok {
			next, ok = notNull(from)
		}
		if !ok {
			return from
		}
		from = next
	}
	return from
}

// notNull returns the alternative that is not null, if s has two alternatives and one of them is null.
func notNull(s subschema) (subschema, bool) {
	either := append(s.list("anyOf"), s.list("oneOf")...)
	if len(either) != 2 {
		return subschema{}, false
	}
	switch {
	case either[1].text("type") == "null":
		return either[0], true
	case either[0].text("type") == "null":
		return either[1], true
	default:
		return subschema{}, false
	}
}

// facts returns the constraints that are worth showing, the unit, and the default.
func (p *printer) facts(of subschema) []string {
	of = p.schema.concrete(of)
	all := p.constraints(of)
	if of.has("items") {
		each := p.constraints(p.schema.concrete(of.child("items")))
		all = append(all, short("each ", strings.Join(each, ", "), ""))
	}
	all = append(all, p.unit(of))
	if text := jsonvalue.Literal(of.keyword("default")); of.has("default") && !slices.Contains(blank, text) {
		all = append(all, short("default ", text, ""))
	}
	return slices.DeleteFunc(all, func(fact string) bool { return fact == "" })
}

// unit returns the unit of a number, or of the numbers in nested lists and maps, or "".
func (p *printer) unit(s subschema) string {
	for range maxResolve {
		s = p.schema.concrete(s)
		switch {
		case s.text("format") == Nanoseconds:
			return Nanoseconds
		case s.has("items"):
			s = s.child("items")
		default:
			s = s.child("additionalProperties")
		}
	}
	return ""
}

// format returns the format of a string. The format of a number is its unit.
func format(s subschema) string {
	if name := s.text("format"); name != Nanoseconds {
		return name
	}
	return ""
}

// blank are the defaults that are not worth showing.
var blank = []string{"false", "null", `""`, "[]", "{}"}

func (p *printer) constraints(s subschema) []string {
	all := append(kindOfNumber(s),
		bound(s, "exclusiveMinimum", "> "),
		bound(s, "exclusiveMaximum", "< "),
		bound(s, "multipleOf", "multiple of "),
		p.size(s, "minLength", "maxLength", " character"),
		p.size(s, "minItems", "maxItems", " item"),
		format(s),
		s.text("contentEncoding"),
		short("/", s.text("pattern"), "/"),
	)
	if s.keyword("uniqueItems") == true {
		all = append(all, "unique")
	}
	return slices.DeleteFunc(all, func(fact string) bool { return fact == "" })
}

// kindOfNumber returns the range of a number, and whether the number is an integer. It returns nil
// for an enum, whose values show both.
func kindOfNumber(s subschema) []string {
	if s.has("enum") {
		return nil
	}
	all := []string{bounds(s, "minimum", "maximum", "")}
	if types := typesOf(s); slices.Contains(types, "integer") && !slices.Contains(types, "number") {
		return append([]string{"integer"}, all...)
	}
	return all
}

// short returns a fact between two strings, or "" if the fact is empty or long.
func short(before, fact, after string) string {
	if fact == "" || len(fact) > maxFact {
		return ""
	}
	return before + fact + after
}

// size returns a range of lengths. With the option Brief, it returns only narrow ranges.
func (p *printer) size(s subschema, low, high, unit string) string {
	from, to := jsonvalue.Literal(s.keyword(low)), jsonvalue.Literal(s.keyword(high))
	if p.options.Brief && (from == "1" || !s.has(low)) && (len(to) > 2 || !s.has(high)) {
		return ""
	}
	return bounds(s, low, high, unit)
}

// bounds returns a range: 1–100, ≥ 1 or ≤ 100.
func bounds(s subschema, low, high, unit string) string {
	from, to := jsonvalue.Literal(s.keyword(low)), jsonvalue.Literal(s.keyword(high))
	lower, upper := s.has(low) && !unremarkable[from], s.has(high) && !unremarkable[to]
	if unit != "" && (upper && to != "1" || !upper && from != "1") {
		unit += "s"
	}
	switch {
	case lower && upper && from == to:
		return from + unit
	case lower && upper:
		return from + "–" + to + unit
	case lower:
		return "≥ " + from + unit
	case upper:
		return "≤ " + to + unit
	default:
		return ""
	}
}

func bound(s subschema, name, sign string) string {
	if !s.has(name) {
		return ""
	}
	if _, flag := s.keyword(name).(bool); flag { // in draft 4, where minimum has the number
		return ""
	}
	return sign + jsonvalue.Literal(s.keyword(name))
}

// unremarkable are the bounds that schema generators add to every number of a certain
// type. Validation checks them, but comments leave them out, since ordinary values never
// reach them.
var unremarkable = map[string]bool{
	"-9007199254740991": true, "9007199254740991": true,
	"-2147483648": true, "2147483647": true, "4294967295": true,
	"-340282346638528859811704183484516925440": true, "340282346638528859811704183484516925440": true,
}
