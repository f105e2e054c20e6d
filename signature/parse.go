package signature

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// Parse makes a signature from a string, for inputs and outputs that are known only
// at run time:
//
//	qa, err := signature.Parse(`question, context: list[str] -> answer: str, score: float(ge=0, le=1)`, "Be brief.")
//
// Commas separate fields, and an arrow separates inputs and outputs. A field is a
// name, followed by a ? if it may be left out, and a type, which is str by default.
// [Spec.String] writes any signature in this notation:
//
//	signature  = [ fields ] "->" fields .
//	fields     = field { "," field } [ "with" "schema" "(" JSON ")" ] .
//	field      = name [ "?" ] [ ":" type ] .
//	type       = one { "|" one } .
//	one        = ( named | object | "(" type ")" ) [ "(" rule { "," rule } ")" ] .
//	object     = "{" [ member { "," member } ] "}" .
//	member     = ( name | string ) [ "?" ] [ ":" type ] .
//	rule       = name "=" value .
//	value      = JSON | "True" | "False" | "None" | string in single quotes .
//
// The named types are Python's types, and DSPy's Image, File and History:
//
//	str int float bool bytes    strings (bytes as base64), numbers, true or false
//	date datetime time          strings such as 2026-01-31 and 2026-01-31T15:04:05Z
//	any None                    any value, null
//	Literal["a", 'b', 3]        one of the values
//	list list[T] set[T]         arrays; the values of a set are distinct
//	tuple[T, U]                 an array of exactly these items
//	dict dict[str, T]           objects with any names
//	Optional[T]                 T or null; a field or member may also be left out
//	Union[T, U]                 the same as T | U
//	Image File History          inputs that a module shows in their own form
//	schema({…})                 a JSON Schema
//
// The names of JSON Schema (string, integer, number, boolean, array, object, null),
// those of Python's typing, and names with their module, such as dspy.Image, are
// also accepted. An object has exactly the given members, like a Go struct. T | None
// admits null, but the field must be present.
//
// Strings have the rules min_length, max_length, pattern and format; numbers have ge, gt, le, lt and multiple_of;
// lists, sets and dicts have min_length and max_length; all types have desc, title, default and examples. A field or
// member with a default may be left out. [schema.Of] lists the formats.
//
// A syntax error names the column and says what to write. The other errors are the errors that [NewSpec] returns. Parse
// rejects strings of more than 64 KiB, more than 500 inputs or outputs, more than 500 alternatives, more than 1000
// schemas, and types nested deeper than 50.
func Parse(text, instructions string) (*Signature[Values, Values], error) {
	spec, err := parseSpec(text, instructions)
	if err != nil {
		return nil, err
	}
	return typed[Values, Values](spec)
}

// ParseField makes a field from a string in the notation of [Parse]. Use it to edit a [Spec]:
//
//	sure, err := signature.ParseField(`sure: float(ge=0, le=1, desc="how sure")`)
//	…
//	spec, err = spec.AppendOutputs(sure)
//
// It returns the same errors as Parse.
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
	s.end("write only one ->, and commas between fields")
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

// parsed is a field, or an object member, as the scanner has read it.
type parsed struct {
	name     string
	optional bool
	typ
}

func (p parsed) field() (Field, error) {
	raw := p.raw()
	s, err := schema.Compile(raw)
	if err != nil {
		return Field{}, err
	}
	return Field{p.name, description(raw), s, !p.mayBeAbsent()}, nil
}

// mayBeAbsent reports whether a field or member may be left out.
func (p parsed) mayBeAbsent() bool {
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

// rules reads the schema after "with", whose keywords concern several fields.
func (s *scanner) rules() Values {
	const advice = `write with schema({…}) after the last field`
	at := s.skip()
	if s.word() != "schema" {
		s.fail(at, "expected a schema after with; %s", advice)
	}
	s.want("(", advice)
	var rules Values
	at = s.skip()
	if err := json.Unmarshal(s.value(), &rules); err != nil || len(rules) == 0 {
		s.fail(at, "the schema after with is not an object with keywords; %s", advice)
	}
	if slices.ContainsFunc(rules, func(rule Value) bool { return slices.Contains(ownKeywords, rule.Name) }) {
		s.fail(at, "the schema after with must not describe the fields; remove %v", ownKeywords)
	}
	s.want(")", advice)
	return rules
}

// end fails unless the whole text has been read.
func (s *scanner) end(advice string) {
	if s.skip() < len(s.text) {
		s.fail(s.at, "expected the end, found %s; %s", s.next(), advice)
	}
}

func (s *scanner) field() parsed {
	at := s.skip()
	name := s.word()
	switch err := checkName(name); {
	case name == "" && s.at == len(s.text), name == "" && s.sees("->"):
		s.fail(at, "expected a field after the comma; add one, or remove the comma")
	case name == "":
		s.fail(at, "expected a field, found %s; write name: type", s.next())
	case err != nil:
		s.fail(at, "field %q: %v", name, err)
	}
	return s.typed(name)
}

// typed parses the part after a field or member name.
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
		s.fail(s.at, "write a description as a rule of the type: str(desc=\"…\")")
	case s.sees("?"):
		s.fail(s.at, "put the ? after the name; write name?: type")
	}
	return p
}

// misplaced reports a default that follows the type, as in Python. The error says how to
// write the default.
func (s *scanner) misplaced(p parsed, written string) {
	at := s.at
	s.take("=")
	start := s.skip()
	value := s.value()
	text := s.text[start:s.at]
	switch {
	case string(value) == "null" && p.mayBeAbsent():
		s.fail(at, "an optional field needs no default; remove = %s", text)
	case string(value) == "null":
		s.fail(at, "mark an optional field with a ? after its name; write %s",
			strings.TrimSuffix(p.name+"?: "+written, ": "))
	case written == "" && !strings.Contains("[{", text[:1]):
		s.fail(at, "write a default as a rule of the type: %s: %s(default=%s)", p.name, synonyms[typeOf(value)], text)
	case written == "" || strings.ContainsAny(written, "|()"):
		s.fail(at, "write a default as a rule in parentheses after the type, as in int(ge=0, default=20)")
	default:
		s.fail(at, "write a default as a rule of the type: %s(default=%s)", written, text)
	}
}
