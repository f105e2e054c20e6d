package signature

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// Parse makes a signature of a text, for inputs and outputs that are known only
// when the program runs:
//
//	qa, err := signature.Parse(`question, context: list[str] -> answer: str, score: float(ge=0, le=1)`, "Answer briefly.")
//
// Fields are separated by commas, inputs and outputs by an arrow. A field is a
// name, with a ? if it may be left out, and a type; without one it is a str.
// [Spec.String] writes any signature in this notation, which is
//
//	signature  = [ fields ] "->" fields .
//	fields     = field { "," field } [ "with" "schema" "(" JSON ")" ] .
//	field      = name [ "?" ] [ ":" type ] .
//	type       = one { "|" one } .
//	one        = ( named | object | "(" type ")" ) [ "(" rule { "," rule } ")" ] .
//	object     = "{" [ member { "," member } ] "}" .
//	member     = ( name | string ) [ "?" ] [ ":" type ] .
//	rule       = name "=" value .
//	value      = JSON | "True" | "False" | "None" | text in single quotes .
//
// The named types are those of Python, and Image, File and History of DSPy:
//
//	str int float bool bytes    texts (bytes as base64), numbers, true or false
//	date datetime time          texts such as 2026-01-31 and 2026-01-31T15:04:05Z
//	any None                    any value, null
//	Literal["a", 'b', 3]        one of the values
//	list list[T] set[T]         arrays; a set has no value twice
//	tuple[T, U]                 an array of exactly these
//	dict dict[str, T]           objects with any names
//	Optional[T]                 T or null; a field or member may also be left out
//	Union[T, U]                 the same as T | U
//	Image File History          inputs that a model is shown as such
//	schema({…})                 whatever this JSON Schema says
//
// So are the names of JSON Schema (string, integer, number, boolean, array,
// object, null), those of Python's typing, and what is written with its module,
// as dspy.Image. An object has the given members and no others, as a Go struct
// has. T | None admits null, but the field must be there.
//
// Rules are, for texts, min_length, max_length, pattern and format; for numbers
// ge, gt, le, lt and multiple_of; for lists, sets and dicts min_length and
// max_length; for any type desc, title, default and examples. A field or member
// with a default may be left out. A format is one that [schema.CheckFormat] takes.
//
// The error names the column of what cannot be read and says what to write, or
// is that of [NewSpec]. Texts of more than 64 KiB, more than 500 inputs or
// outputs, 500 alternatives or 1000 schemas, and types nested deeper than 50 are
// refused.
func Parse(text, instructions string) (*Signature[Values, Values], error) {
	spec, err := parseSpec(text, instructions)
	if err != nil {
		return nil, err
	}
	return typed[Values, Values](spec)
}

// ParseField makes a field of a text as in [Parse], for edits of a [Spec]:
//
//	sure, err := signature.ParseField(`sure: float(ge=0, le=1, desc="how sure")`)
//	…
//	spec, err = spec.AppendOutputs(sure)
//
// The error is as that of Parse.
func ParseField(text string) (f Field, err error) {
	s, err := newScanner(text)
	if err != nil {
		return Field{}, err
	}
	defer rescue(&err)
	parsed := s.field()
	s.end("write one field")
	return parsed.field()
}

func parseSpec(text, instructions string) (spec *Spec, err error) {
	s, err := newScanner(text)
	if err != nil {
		return nil, err
	}
	defer rescue(&err)
	inputs, inRules := s.fields()
	s.want("->", "write input -> output")
	outputs, outRules := s.fields()
	s.end("write only one ->, and , between fields")
	edited := Spec{instructions: instructions, inRules: inRules, outRules: outRules}
	for _, p := range inputs {
		f, err := p.field()
		if err != nil {
			return nil, fmt.Errorf("signature: input field %q: %w", p.name, err)
		}
		edited.inputs = append(edited.inputs, f)
	}
	for _, p := range outputs {
		f, err := p.field()
		if err != nil {
			return nil, fmt.Errorf("signature: output field %q: %w", p.name, err)
		}
		edited.outputs = append(edited.outputs, f)
	}
	return edited.built()
}

// parsed is a field or member of an object as it is written.
type parsed struct {
	name     string
	optional bool
	typ
}

// field returns what was parsed as a field.
func (p parsed) field() (Field, error) {
	raw := p.raw()
	s, err := schema.Compile(raw)
	if err != nil {
		return Field{}, err
	}
	return Field{p.name, description(raw), s, !p.mayMiss()}, nil
}

// mayMiss reports whether a field or member may be left out.
func (p parsed) mayMiss() bool {
	_, backed := p.keywords.Get("default")
	return p.optional || p.missing || backed
}

// fields reads one side of a signature.
func (s *scanner) fields() ([]parsed, Values) {
	var all []parsed
	if s.sees("->") || s.skip() == len(s.text) {
		return nil, nil
	}
	if s.peek() != "with" {
		all = append(all, s.field())
		for s.take(",") {
			if len(all) == maxFields {
				s.fail(s.at, "there are more than %d fields; put them into an object", maxFields)
			}
			all = append(all, s.field())
		}
	}
	if s.peek() == "with" {
		s.word()
		return all, s.rules()
	}
	return all, nil
}

// rules reads what a struct says about several fields together.
func (s *scanner) rules() Values {
	const advice = `write with schema({…}) behind the last field`
	at := s.skip()
	if s.word() != "schema" {
		s.fail(at, "what follows with is not a schema; %s", advice)
	}
	s.want("(", advice)
	var rules Values
	at = s.skip()
	if err := json.Unmarshal(s.value(), &rules); err != nil || len(rules) == 0 {
		s.fail(at, "rules are not an object with keywords; %s", advice)
	}
	if slices.ContainsFunc(rules, func(rule Value) bool { return slices.Contains(ownKeywords, rule.Name) }) {
		s.fail(at, "rules repeat what the fields say; leave out %v", ownKeywords)
	}
	s.want(")", advice)
	return rules
}

// end makes sure that nothing follows.
func (s *scanner) end(advice string) {
	if s.skip() < len(s.text) {
		s.fail(s.at, "there is %s where the end is expected; %s", s.next(), advice)
	}
}

func (s *scanner) field() parsed {
	at := s.skip()
	name := s.word()
	switch err := checkName(name); {
	case name == "" && s.at == len(s.text), name == "" && s.sees("->"):
		s.fail(at, "there is no field behind the comma; add one, or leave out the comma")
	case name == "":
		s.fail(at, "there is %s where a field is expected; write name: type", s.next())
	case err != nil:
		s.fail(at, "field %q: %v", name, err)
	}
	return s.typed(name)
}

// typed reads what follows the name of a field or member.
func (s *scanner) typed(name string) parsed {
	p := parsed{name: name, optional: s.take("?"), typ: named["str"]}
	written := ""
	if s.take(":") {
		at := s.skip()
		p.typ = s.typ()
		written = strings.TrimSpace(s.text[at:s.at])
	}
	s.skip()
	switch {
	case s.sees("=") && !s.sees("=>"):
		s.misplaced(p, written)
	case s.sees(`"`), s.sees("'"):
		s.fail(s.at, "a description is a rule of the type; write str(desc=\"…\")")
	case s.sees("?"):
		s.fail(s.at, "a ? stands behind the name; write name?: type")
	}
	return p
}

// misplaced says how the default that comes next is written, which Python has behind the
// type.
func (s *scanner) misplaced(p parsed, written string) {
	at := s.at
	s.take("=")
	start := s.skip()
	value := s.value()
	text := s.text[start:s.at]
	switch {
	case string(value) == "null" && p.mayMiss():
		s.fail(at, "what may be left out needs no default; leave out = %s", text)
	case string(value) == "null":
		s.fail(at, "what may be left out has a ? behind its name; write %s", strings.TrimSuffix(p.name+"?: "+written, ": "))
	case written == "" && !strings.Contains("[{", text[:1]):
		s.fail(at, "a default is a rule of the type; write %s: %s(default=%s)", p.name, synonyms[typeOf(value)], text)
	case written == "" || strings.ContainsAny(written, "|()"):
		s.fail(at, "a default is a rule of the type; write it in the parentheses behind the type, as in int(ge=0, default=20)")
	default:
		s.fail(at, "a default is a rule of the type; write %s(default=%s)", written, text)
	}
}
