package signature

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature/schema"
)

// Field is one named input or output.
type Field struct {
	// Name is a JavaScript identifier.
	Name string
	// Description tells the model what the field means; it may be empty.
	Description string
	// Schema is what values look like. Nil admits anything.
	Schema *schema.Schema
	// Required says that the value may not be missing. A field with a default is
	// never required.
	Required bool
}

// Spec is a signature without Go types: what goes in, what must come out, and
// the instructions. It is immutable and safe for concurrent use; edits return
// copies.
type Spec struct {
	instructions    string
	inputs, outputs []Field
	in, out         *schema.Schema
	// rules are what tags of a struct say about several fields together: keywords
	// of the schema of the object.
	inRules, outRules Values
	special           map[string]Kind // of inputs, but for values
}

// errUnmade is the error of what was not made by this package: it has no fields, and
// would take anything.
var errUnmade = errors.New("signature: there is no signature; make one by New, Parse or NewSpec")

func (s *Spec) made() bool { return s != nil && s.out != nil }

// NewSpec makes a spec of fields. There may be no inputs; there must be an
// output. Names must be unique among inputs and outputs together, and
// JavaScript identifiers that are not reserved, because programs use them as
// variables; the error names the field. Formats that the schemas name are
// checked.
func NewSpec(instructions string, inputs, outputs []Field) (*Spec, error) {
	return (&Spec{instructions: instructions, inputs: inputs, outputs: outputs}).built()
}

// built completes a spec whose fields are new.
func (s Spec) built() (*Spec, error) {
	if err := checkFields(s.inputs, s.outputs); err != nil {
		return nil, err
	}
	var err error
	if s.inputs, s.in, err = compose(s.inputs, s.inRules); err != nil {
		return nil, fmt.Errorf("signature: input %w", err)
	}
	if s.outputs, s.out, err = compose(s.outputs, s.outRules); err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	return s.ready()
}

// ready completes a spec with what is looked up in every run.
func (s Spec) ready() (*Spec, error) {
	if err := cmp.Or(checkDefaults("input", s.inputs), checkDefaults("output", s.outputs)); err != nil {
		return nil, err
	}
	s.special = map[string]Kind{}
	for _, f := range s.inputs {
		if k := f.Kind(); k != KindValue {
			s.special[f.Name] = k
		}
	}
	return &s, nil
}

// specOf makes a spec of the schemas of two objects.
func specOf(instructions string, in, out *schema.Schema) (*Spec, error) {
	s := Spec{instructions: instructions, in: in, out: out}
	var err error
	if s.inputs, s.inRules, err = decompose(in); err != nil {
		return nil, fmt.Errorf("signature: input %w", err)
	}
	if s.outputs, s.outRules, err = decompose(out); err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	if err := checkFields(s.inputs, s.outputs); err != nil {
		return nil, err
	}
	return s.ready()
}

// Instructions returns what the model is asked to do.
func (s *Spec) Instructions() string { return s.instructions }

// Inputs returns the fields that go in.
func (s *Spec) Inputs() []Field { return slices.Clone(s.inputs) }

// Outputs returns the fields that must come out.
func (s *Spec) Outputs() []Field { return slices.Clone(s.outputs) }

// Field returns the input or output of a name, and whether there is one.
func (s *Spec) Field(name string) (Field, bool) {
	for _, fields := range [][]Field{s.inputs, s.outputs} {
		for _, f := range fields {
			if f.Name == name {
				return f, true
			}
		}
	}
	return Field{}, false
}

// names lists the fields, inputs first.
func (s *Spec) names() string {
	var names []string
	for _, f := range slices.Concat(s.inputs, s.outputs) {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// InputSchema returns the schema of the object of all inputs.
func (s *Spec) InputSchema() *schema.Schema { return s.in }

// OutputSchema returns the schema of the object of all outputs.
func (s *Spec) OutputSchema() *schema.Schema { return s.out }

// OutputTypeScript returns the type of the object of all outputs, for a prompt:
//
//	{mood: "good" | "bad"; score: number /* 0–1 */}
func (s *Spec) OutputTypeScript() string {
	if !s.made() {
		return "{}"
	}
	return s.out.TypeScript(nil)
}

// Declare returns one input or output as a member of a TypeScript type, with its
// constraints and what the description begins with, for a prompt; nothing if
// there is none of that name:
//
//	score?: number /* 0–1. how sure */
//
// What is not shown as text is called Image, File or History.
func (s *Spec) Declare(name string) string {
	o := &schema.TypeOptions{Docs: true, Show: func(property, _ string) bool { return property == name }}
	for _, side := range []struct {
		fields []Field
		object *schema.Schema
	}{{s.inputs, s.in}, {s.outputs, s.out}} {
		i := slices.IndexFunc(side.fields, func(f Field) bool { return f.Name == name })
		switch {
		case i >= 0 && side.fields[i].Kind() != KindValue:
			return side.fields[i].declareKind()
		case i >= 0:
			return strings.TrimSuffix(strings.TrimPrefix(side.object.TypeScript(o), "{"), "}")
		}
	}
	return ""
}

// Validate returns everything that is wrong with an object of all outputs, in the
// order of the fields, or nil if it fits. A text with half of a character, as in "\ud83d", does not.
func (s *Spec) Validate(output json.RawMessage) []schema.Finding {
	if !s.made() {
		return []schema.Finding{{Message: "is that of no signature", Hint: "make one by New, Parse or NewSpec"}}
	}
	if findings := s.out.Validate(output); findings != nil {
		return arranged(findings, s.outputs)
	}
	return s.checkTexts(output)
}

// Encode checks inputs and returns them in the order of the fields. The error
// wraps an [*InvalidError] that says everything that is wrong: a name that is
// unknown or given twice, a required input that is missing, a value that does
// not fit. An input that is left out has its default.
func (s *Spec) Encode(inputs Values) (Values, error) {
	if !s.made() {
		return nil, errUnmade
	}
	raw, err := inputs.MarshalJSON()
	if err != nil {
		return nil, err
	}
	values, err := s.check(raw)
	if err != nil {
		return nil, fmt.Errorf("signature: input: %w", err)
	}
	return values, nil
}

// check checks an object of inputs and returns its members in the order of the
// fields.
func (s *Spec) check(inputs json.RawMessage) (Values, error) {
	if findings := s.in.Validate(inputs); findings != nil {
		return nil, &InvalidError{arranged(findings, s.inputs)}
	}
	values, err := split(s.in.Complete(inputs))
	if err != nil {
		return nil, err
	}
	if len(s.special) > 0 {
		if findings := s.checkSpecial(values); findings != nil {
			return nil, &InvalidError{findings}
		}
	}
	return ordered(values, s.inputs), nil
}

// Decode turns a JSON object into the outputs, in the order of the fields. An
// output that is left out has its default. The error is an [*InvalidError] if
// the object does not fit.
func (s *Spec) Decode(output json.RawMessage) (Values, error) {
	if !s.made() {
		return nil, errUnmade
	}
	if findings := s.Validate(output); findings != nil {
		return nil, &InvalidError{findings}
	}
	values, err := split(s.out.Complete(output))
	if err != nil {
		return nil, err
	}
	return ordered(values, s.outputs), nil
}

// ordered puts values into the order of fields. Those of which the schema of a
// struct knows no more than that they may be there come last.
func ordered(values Values, fields []Field) Values {
	if inOrder(values, fields) {
		return values
	}
	sorted := make(Values, 0, len(values))
	for _, f := range fields {
		if raw, given := values.Get(f.Name); given {
			sorted = append(sorted, Value{f.Name, raw})
		}
	}
	for _, v := range values {
		if len(sorted) == len(values) {
			break
		}
		if _, done := sorted.Get(v.Name); !done {
			sorted = append(sorted, v)
		}
	}
	return sorted
}

func inOrder(values Values, fields []Field) bool {
	for _, f := range fields {
		if len(values) > 0 && values[0].Name == f.Name {
			values = values[1:]
		}
	}
	return len(values) == 0
}
