package signature

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/signature/schema"
)

// typ is a parsed type.
type typ struct {
	keywords Values          // keywords of the type's schema; empty if the type admits any value
	whole    json.RawMessage // the schema, if it is written as schema({…})
	family   string          // determines which rules apply: rules for strings, numbers, …
	missing  bool            // a field of this type may be left out, as with Optional
	choices  []typ           // the alternatives, if the type is a union without rules
}

// raw returns the JSON Schema of the type.
func (t typ) raw() json.RawMessage {
	switch {
	case t.whole != nil:
		return t.whole
	case len(t.keywords) == 0:
		return json.RawMessage("true")
	default:
		raw, _ := t.keywords.MarshalJSON() // the keywords are valid JSON
		return raw
	}
}

func (t typ) is(schema string) bool { return string(t.raw()) == schema }

func (s *scanner) typ() typ {
	s.enter()
	defer s.leave()
	choices := []typ{s.one()}
	for s.take("|") {
		if len(choices) == maxChoices {
			s.fail(s.at, "there are more than %d alternatives; use a type that admits all of them", maxChoices)
		}
		choices = append(choices, s.one())
	}
	return union(choices)
}

// union returns the union of types. Null comes last.
func union(choices []typ) typ {
	if len(choices) == 1 {
		return choices[0]
	}
	var flat []typ
	missing := false
	for _, c := range choices {
		missing = missing || c.missing
		if c.choices != nil {
			flat = append(flat, c.choices...)
		} else {
			flat = append(flat, c)
		}
	}
	null := func(t typ) bool { return t.is(nullSchema) }
	if slices.ContainsFunc(flat, null) {
		flat = append(slices.DeleteFunc(flat, null), named["None"])
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return typ{keywords: Values{{"anyOf", listOf(flat)}}, choices: flat, missing: missing}
}

// one reads one alternative of a union, and its rules.
func (s *scanner) one() typ {
	at := s.skip()
	var t typ
	switch {
	case s.take("("):
		t = s.typ()
		s.want(")", "close the parenthesis")
	case s.take("{"):
		t = s.object()
	default:
		t = s.named()
	}
	written := strings.TrimSpace(s.text[at:s.at])
	if s.take("(") {
		t = s.ruled(t, written)
	}
	if s.sees("[") {
		s.fail(s.at, "write a list as list[str]")
	}
	return t
}

// named parses a type's name and the contents of its brackets.
func (s *scanner) named() typ {
	at := s.skip()
	name, module := s.word(), ""
	if slices.Contains(modules, name) && s.take(".") {
		module, name = name, s.word()
	}
	if other, ok := synonyms[name]; ok {
		name = other
	}
	if name == "schema" && s.take("(") {
		return s.schema()
	}
	t, known := named[name]
	if s.sees("[") && (known || slices.Contains(generic, name)) {
		return s.brackets(name, at)
	}
	if !known && module == "dspy" {
		s.fail(at, "the DSPy type %s is not supported; use Image, File or History", name)
	}
	if !known {
		s.unknown(name, at)
	}
	return t
}

// unknown reports an unknown type and says what to write instead.
func (s *scanner) unknown(name string, at int) {
	all := slices.Concat(slices.Collect(maps.Keys(named)), generic)
	slices.Sort(all)
	switch near := similar.Nearest(name, all); {
	case name == "" && strings.HasPrefix(s.text[at:], "["):
		s.fail(at, "write a list as list[str]")
	case name == "" && (strings.HasPrefix(s.text[at:], `"`) || strings.HasPrefix(s.text[at:], "'")):
		s.fail(at, `write a constant as a type: Literal["a", "b"]`)
	case name == "":
		s.fail(at, "expected a type, found %s; write str, int, float, bool, list[str], …", s.next())
	case slices.Contains(generic, name):
		s.fail(at, "the type %s needs brackets; write %s", name, examples[name])
	case instead[name] != "":
		s.fail(at, "unknown type %q; write %s", name, instead[name])
	case near != "":
		s.fail(at, "unknown type %q; did you mean %s?", name, near)
	default:
		s.fail(at, "unknown type %q; use one of %s, or {name: type} for an object", name, strings.Join(all, ", "))
	}
}

// brackets parses the contents of the brackets after a type's name.
func (s *scanner) brackets(name string, at int) typ {
	advice, takes := examples[name]
	switch {
	case !takes && s.sees("[]"):
		s.fail(s.at, "write a list as list[%s]", name)
	case !takes:
		s.fail(s.at, "the type %s takes no brackets; remove them", name)
	}
	s.want("[", "")
	if name == "Literal" {
		return s.literals()
	}
	inner, open := s.inner()
	want, exact := map[string]int{"Optional": 1, "list": 1, "set": 1, "dict": 2}[name]
	if exact && (len(inner) != want || open) {
		s.fail(at, "the type %s takes %s; write %s", name, map[int]string{1: "one type", 2: "two types"}[want], advice)
	}
	if open && (name != "tuple" || len(inner) > 1) {
		s.fail(at, "three dots can only follow the single type of a tuple; write tuple[int, ...], or list[int | str]")
	}
	switch name {
	case "Optional":
		t := union([]typ{inner[0], named["None"]})
		if inner[0].is("true") { // any already admits null
			t = inner[0]
		}
		t.missing = true
		return t
	case "Union":
		return union(inner)
	case "dict":
		return s.dict(inner, at)
	case "tuple":
		return tuple(inner, open)
	}
	t := typ{family: lists, keywords: Values{{"type", json.RawMessage(`"array"`)}, {"items", inner[0].raw()}}}
	if name == "set" {
		t.keywords = append(t.keywords, Value{"uniqueItems", json.RawMessage("true")})
	}
	return t
}

// inner reads types up to the closing bracket. The result open reports whether three dots follow the types.
func (s *scanner) inner() (all []typ, open bool) {
	all = append(all, s.typ())
	for s.take(",") {
		if s.take("...") {
			open = true
			break
		}
		all = append(all, s.typ())
	}
	s.want("]", "separate types with commas and close the bracket")
	return all, open
}

func (s *scanner) dict(inner []typ, at int) typ {
	if !inner[0].is(`{"type":"string"}`) {
		s.fail(at, "names in JSON are strings; write dict[str, …]")
	}
	return typ{family: dicts, keywords: Values{
		{"type", json.RawMessage(`"object"`)}, {"additionalProperties", inner[1].raw()},
	}}
}

// tuple returns an array of exactly these items or, if open is set, of any number of items
// of the first type.
func tuple(items []typ, open bool) typ {
	if open {
		return typ{family: lists, keywords: Values{{"type", json.RawMessage(`"array"`)}, {"items", items[0].raw()}}}
	}
	n := literal(len(items))
	return typ{keywords: Values{
		{"type", json.RawMessage(`"array"`)}, {"prefixItems", listOf(items)}, {"minItems", n}, {"maxItems", n},
	}}
}

func (s *scanner) literals() typ {
	var all []json.RawMessage
	for first := true; first || s.take(","); first = false {
		at := s.skip()
		v := s.value()
		if v[0] == '[' || v[0] == '{' {
			s.fail(at, "a constant must be a string, a number, True, False or None")
		}
		if slices.ContainsFunc(all, func(other json.RawMessage) bool { return string(other) == string(v) }) {
			s.fail(at, "the constant %s is repeated; remove one", v)
		}
		all = append(all, v)
	}
	s.want("]", "separate constants with commas and close the bracket")
	return typ{keywords: enum(all)}
}

// enum returns the keywords of a type that admits several constants. If all constants have the same
// type, the keywords include it.
func enum(all []json.RawMessage) Values {
	values := Values{{"enum", literal(all)}}
	if t := typeOf(all[0]); !slices.ContainsFunc(all, func(v json.RawMessage) bool { return typeOf(v) != t }) {
		return append(Values{{"type", literal(t)}}, values...)
	}
	return values
}

// typeOf returns a constant's JSON Schema type.
func typeOf(v json.RawMessage) string {
	switch {
	case v[0] == '"':
		return "string"
	case v[0] == 't' || v[0] == 'f':
		return "boolean"
	case v[0] == 'n':
		return "null"
	case strings.ContainsAny(string(v), ".eE"):
		return "number"
	default:
		return "integer"
	}
}

func (s *scanner) object() typ {
	required, properties := []string{}, Values{}
	for !s.take("}") {
		if len(properties) > 0 {
			s.want(",", "separate members with commas and close the brace")
		}
		m := s.member()
		if _, twice := properties.Get(m.name); twice {
			s.fail(s.at, "the member %q is repeated; rename one", m.name)
		}
		properties = append(properties, Value{m.name, m.raw()})
		if !m.mayBeAbsent() {
			required = append(required, m.name)
		}
	}
	members, _ := properties.MarshalJSON() // the properties are valid JSON
	t := typ{keywords: Values{{"type", json.RawMessage(`"object"`)}, {"properties", members}}}
	if len(required) > 0 {
		t.keywords = append(t.keywords, Value{"required", literal(required)})
	}
	t.keywords = append(t.keywords, Value{"additionalProperties", json.RawMessage("false")})
	return t
}

// member parses an object member. Its name may be quoted.
func (s *scanner) member() parsed {
	at := s.skip()
	name := s.peek()
	if s.sees(`"`) || s.sees("'") {
		_ = json.Unmarshal(s.value(), &name) // a string
	} else if s.word(); name == "" {
		s.fail(at, "expected a member, found %s; write name: type", s.next())
	}
	return s.typed(name)
}

// schema reads a type that is written as JSON Schema.
func (s *scanner) schema() typ {
	at := s.skip()
	if s.schemas++; s.schemas > maxSchemas {
		s.fail(at, "there are more than %d schemas; use type names", maxSchemas)
	}
	raw := s.value()
	s.want(")", "close the parenthesis after the schema")
	if !strings.Contains("{tf", string(raw[:1])) {
		s.fail(at, "a schema must be an object, true or false")
	}
	if _, err := schema.Compile(raw); err != nil {
		s.fail(at, "the schema cannot be used: %v", err)
	}
	t := typ{whole: raw}
	if raw[0] == '{' {
		_ = json.Unmarshal(raw, &t.keywords) // it is an object, since it compiles
	}
	return t
}

// listOf returns the types' schemas as a JSON array.
func listOf(all []typ) json.RawMessage {
	raws := make([]json.RawMessage, len(all))
	for i, t := range all {
		raws[i] = t.raw()
	}
	return literal(raws)
}
