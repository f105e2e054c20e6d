package signature

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/signature/internal/formats"
	"github.com/writ-go/writ/signature/schema"
)

// rule is a kind of rule that can follow a type in parentheses.
type rule struct {
	name, keyword, family string
	takes                 string // describes the values that the rule accepts
}

// rules are all rules, in the order in which [Spec.String] writes them.
var rules = []rule{
	{"ge", "minimum", numbers, aNumber},
	{"gt", "exclusiveMinimum", numbers, aNumber},
	{"le", "maximum", numbers, aNumber},
	{"lt", "exclusiveMaximum", numbers, aNumber},
	{"multiple_of", "multipleOf", numbers, aNumber},
	{"min_length", "minLength", texts, aCount},
	{"max_length", "maxLength", texts, aCount},
	{"pattern", "pattern", texts, aText},
	{"format", "format", texts, aText},
	{"min_length", "minItems", lists, aCount},
	{"max_length", "maxItems", lists, aCount},
	{"min_length", "minProperties", dicts, aCount},
	{"max_length", "maxProperties", dicts, aCount},
	{"title", "title", anything, aText},
	{"default", "default", anything, aValue},
	{"examples", "examples", anything, aList},
	{"desc", "description", anything, aText},
}

const (
	aNumber = "a number"
	aCount  = "an integer of at least 0"
	aText   = "a string in quotes"
	aList   = "a list in brackets"
	aValue  = "a value"
)

// others maps rule names in other notations to their names in [Parse]'s notation.
var others = map[string]string{
	"description": "desc", "minimum": "ge", "min": "ge", "maximum": "le", "max": "le",
	"exclusiveMinimum": "gt", "exclusiveMaximum": "lt", "multipleOf": "multiple_of",
	"minLength": "min_length", "minItems": "min_length", "min_items": "min_length", "minProperties": "min_length",
	"maxLength": "max_length", "maxItems": "max_length", "max_items": "max_length", "maxProperties": "max_length",
	"regex": "pattern", "example": "examples",
}

// ruled reads the rules in the parentheses after a type. The argument written is the type's source text.
func (s *scanner) ruled(t typ, written string) typ {
	given := Values{}
	at := map[string]int{} // each value's position, by keyword
	for first := true; first || s.take(","); first = false {
		here := s.skip()
		name := s.word()
		r := s.rule(name, t, here, written)
		if _, twice := given.Get(r.keyword); twice {
			s.fail(here, "the rule %s is repeated; remove one", name)
		}
		s.want("=", "write "+name+"=…")
		here = s.skip()
		value := s.value()
		if json.Unmarshal(value, new(any)) != nil { // it is valid JSON, so a number is out of range
			s.fail(here, "%.40s is out of range for a number", value)
		}
		if !r.fits(value) {
			s.fail(here, "the rule %s takes %s, not %s", name, r.takes, value)
		}
		if r.keyword == "format" {
			s.format(value, here)
		}
		at[r.keyword] = here
		given = append(given, Value{r.keyword, value})
	}
	s.want(")", "separate rules with commas and close the parenthesis")
	t.keywords = slices.Clone(t.keywords)
	for _, r := range rules {
		if value, ok := given.Get(r.keyword); ok {
			t.keywords = append(t.keywords, Value{r.keyword, value})
		}
	}
	t.choices = nil
	if list, ok := given.Get("examples"); ok {
		s.examples(t, list, at["examples"])
	}
	return t
}

// format fails if schemas do not check a format.
func (s *scanner) format(value json.RawMessage, here int) {
	var name string
	_ = json.Unmarshal(value, &name) // the value is a string
	if err := formats.Check(name); err != nil {
		s.fail(here, "%v", err)
	}
}

// examples fails if an example does not fit the type.
func (s *scanner) examples(t typ, list json.RawMessage, here int) {
	var all []json.RawMessage
	_ = json.Unmarshal(list, &all) // the value is a list
	own, err := compiled(t.raw())
	if err != nil { // NewSpec reports it
		return
	}
	for _, v := range all {
		if findings := own.Validate(v); findings != nil {
			s.fail(here, "the example %s does not fit: %s", v, schema.Summary(findings))
		}
	}
}

// rule returns the rule with the given name, or fails if no such rule applies to the type.
func (s *scanner) rule(name string, t typ, here int, written string) rule {
	var known []string
	for _, r := range rules {
		if r.family != anything && r.family != t.family || t.whole != nil {
			continue
		}
		if _, has := t.keywords.Get(r.keyword); has { // the type implies the rule
			continue
		}
		if r.name == name {
			return r
		}
		known = append(known, r.name)
	}
	near := others[name]
	if !slices.Contains(known, near) {
		near = similar.Nearest(name, known)
	}
	switch {
	case t.whole != nil:
		s.fail(here, "a schema takes no rules; put them into schema({…})")
	case name == "":
		s.fail(here, "expected a rule, found %s; write name=value, such as desc=\"…\"", s.next())
	case near != "":
		s.fail(here, "unknown rule %q; did you mean %s?", name, near)
	case len(t.choices) > 0 && isRule(name):
		s.fail(here, "the rule %s does not apply to a union; put it after the type to which it applies, as in "+
			"int(ge=0) | None", name)
	}
	s.fail(here, "the rule %q does not apply to %s; use one of %s", name, written, strings.Join(known, ", "))
	return rule{}
}

func isRule(name string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.name == name })
}

// fits reports whether a rule accepts a value.
func (r rule) fits(value json.RawMessage) bool {
	switch r.takes {
	case aNumber:
		return strings.Contains("-0123456789", string(value[:1]))
	case aCount:
		var n uint32
		return json.Unmarshal(value, &n) == nil && value[0] != 'n'
	case aText:
		return value[0] == '"'
	case aList:
		return value[0] == '['
	default:
		return true
	}
}
