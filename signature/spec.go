package signature

import (
	"bytes"
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
	// Name must be a JavaScript identifier.
	Name string
	// Description tells the model what the field means; it may be empty.
	Description string
	// Schema is the value's schema. If nil, any value is valid.
	Schema *schema.Schema
	// Required means that the value must be present. [NewSpec] sets it to false if the
	// field has a default.
	Required bool
}

// Spec is a signature without Go types: inputs, outputs and instructions. It is
// immutable and safe for concurrent use; methods that edit it return copies.
type Spec struct {
	instructions    string
	inputs, outputs []Field
	in, out         *schema.Schema
	// inRules and outRules are those keywords in the two objects' schemas that concern several fields, such as oneOf.
	inRules, outRules Values
	special           map[string]Kind // the kinds of the inputs that are not KindValue, by name
}

// errUnmade is the error that methods of a nil or zero signature return.
var errUnmade = errors.New("signature: nil or zero signature; make one with New, Parse or NewSpec")

func (s *Spec) made() bool { return s != nil && s.out != nil }

// NewSpec makes a spec from fields. The inputs may be empty, but at least one output is
// required. The names of all inputs and outputs must be unique, and must be
// JavaScript identifiers that are not reserved, because programs use them as
// variables. The error names the field. The spec checks values against the formats in
// the schemas.
func NewSpec(instructions string, inputs, outputs []Field) (*Spec, error) {
	return (&Spec{instructions: instructions, inputs: inputs, outputs: outputs}).built()
}

// built returns a complete spec for s's fields.
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

// specOf makes a spec from the schemas of the two objects that hold the inputs and the outputs.
func specOf(instructions string, in, out *schema.Schema) (*Spec, error) {
	s := Spec{instructions: instructions}
	var err error
	if s.inputs, s.inRules, err = decompose(in); err != nil {
		return nil, fmt.Errorf("signature: input %w", err)
	}
	if s.outputs, s.outRules, err = decompose(out); err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	return s.built()
}

// Instructions returns the instructions for the model.
func (s *Spec) Instructions() string { return s.instructions }

// Inputs returns the input fields.
func (s *Spec) Inputs() []Field { return slices.Clone(s.inputs) }

// Outputs returns the output fields.
func (s *Spec) Outputs() []Field { return slices.Clone(s.outputs) }

// Field returns the input or output with the given name, and whether it exists.
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

// names lists the field names, inputs first.
func (s *Spec) names() string {
	var names []string
	for _, f := range slices.Concat(s.inputs, s.outputs) {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// InputSchema returns the schema of the object that holds all inputs.
func (s *Spec) InputSchema() *schema.Schema { return s.in }

// OutputSchema returns the schema of the object that holds all outputs.
func (s *Spec) OutputSchema() *schema.Schema { return s.out }

// OutputTypeScript returns the TypeScript type of the object that holds all outputs, for a prompt:
//
//	{mood: "good" | "bad"; score: number /* 0–1 */}
func (s *Spec) OutputTypeScript() string {
	if !s.made() {
		return "{}"
	}
	return s.out.TypeScript(nil)
}

// Validate checks an object that holds all outputs. It returns the problems in the order of
// the fields, or nil if the object is valid. A string that contains an unpaired surrogate
// escape, such as "\ud83d", is not valid.
func (s *Spec) Validate(output json.RawMessage) []schema.Finding {
	if !s.made() {
		hint := "make one with New, Parse or NewSpec"
		return []schema.Finding{{Message: "cannot be checked: nil or zero signature", Hint: hint}}
	}
	if findings := s.out.Validate(output); findings != nil {
		return arranged(findings, s.outputs)
	}
	return s.checkStrings(output)
}

// Encode checks inputs and returns them in field order, with the defaults of missing inputs. The error wraps an
// [*InvalidError] that lists all problems: unknown or repeated names, missing required inputs, and values that do not
// fit.
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

// check checks an object that holds the inputs, and returns its members in the order of
// the fields.
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

// Decode checks a JSON object that holds the outputs, and returns its members in field order, with the defaults of
// missing outputs. The error is an [*InvalidError] if the object does not fit.
func (s *Spec) Decode(output json.RawMessage) (Values, error) {
	if !s.made() {
		return nil, errUnmade
	}
	if findings := s.Validate(output); findings != nil {
		return nil, &InvalidError{findings}
	}
	values, err := split(bytes.Clone(s.out.Complete(output)))
	if err != nil {
		return nil, err
	}
	return ordered(values, s.outputs), nil
}

// ordered returns values in the order of the fields. Additional properties, which a
// schema may admit, come last.
func ordered(values Values, fields []Field) Values {
	if slices.EqualFunc(values, fields, func(v Value, f Field) bool { return v.Name == f.Name }) {
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
