package signature

import (
	"bytes"
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
	// Required says that the value may not be missing.
	Required bool
}

// Spec is a signature without Go types: what goes in, what must come out, and
// the instructions. It is immutable and safe for concurrent use; edits return
// copies.
type Spec struct {
	instructions    string
	inputs, outputs []Field
	in, out         *schema.Schema
	special         map[string]Kind // of inputs, but for values
}

// NewSpec makes a spec of fields. There may be no inputs; there must be an
// output. Names must be unique among inputs and outputs together, and
// JavaScript identifiers that are not reserved, because programs use them as
// variables; the error names the field.
func NewSpec(instructions string, inputs, outputs []Field) (*Spec, error) {
	if err := checkFields(inputs, outputs); err != nil {
		return nil, err
	}
	in, err := compose(inputs)
	if err != nil {
		return nil, fmt.Errorf("signature: inputs: %w", err)
	}
	out, err := compose(outputs)
	if err != nil {
		return nil, fmt.Errorf("signature: outputs: %w", err)
	}
	return newSpec(instructions, complete(inputs), complete(outputs), in, out), nil
}

func newSpec(instructions string, inputs, outputs []Field, in, out *schema.Schema) *Spec {
	special := map[string]Kind{}
	for _, f := range inputs {
		if k := f.Kind(); k != KindValue {
			special[f.Name] = k
		}
	}
	return &Spec{instructions, inputs, outputs, in, out, special}
}

// specOf makes a spec of the schemas of two objects.
func specOf(instructions string, in, out *schema.Schema) (*Spec, error) {
	inputs, err := decompose(in)
	if err != nil {
		return nil, fmt.Errorf("signature: input %w", err)
	}
	outputs, err := decompose(out)
	if err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	if err := checkFields(inputs, outputs); err != nil {
		return nil, err
	}
	return newSpec(instructions, inputs, outputs, in, out), nil
}

// Instructions returns what the model is asked to do.
func (s *Spec) Instructions() string { return s.instructions }

// WithInstructions returns a copy with other instructions.
func (s *Spec) WithInstructions(text string) *Spec {
	edited := *s
	edited.instructions = text
	return &edited
}

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
func (s *Spec) OutputTypeScript() string { return s.out.TypeScript(nil) }

// Validate returns everything that is wrong with an object of all outputs, or
// nil if it fits.
func (s *Spec) Validate(output json.RawMessage) []schema.Finding { return s.out.Validate(output) }

// Encode checks inputs and returns them in the order of the fields. The error
// wraps an [*InvalidError] that says everything that is wrong: a name that is
// unknown or given twice, a required input that is missing, a value that does
// not fit.
func (s *Spec) Encode(inputs Values) (Values, error) {
	raw, err := inputs.MarshalJSON()
	if err != nil {
		return nil, err
	}
	values, err := s.check(raw)
	if err != nil {
		return nil, fmt.Errorf("signature: input: %w", err)
	}
	return ordered(values, s.inputs), nil
}

// check checks an object of inputs and takes it apart.
func (s *Spec) check(inputs json.RawMessage) (Values, error) {
	if findings := s.in.Validate(inputs); findings != nil {
		return nil, &InvalidError{findings}
	}
	var values Values
	if err := values.UnmarshalJSON(inputs); err != nil {
		return nil, err
	}
	if len(s.special) > 0 {
		if findings := s.checkSpecial(values); findings != nil {
			return nil, &InvalidError{findings}
		}
	}
	return values, nil
}

// Decode turns a JSON object into the outputs, in the order of the fields. The
// error is an [*InvalidError] if the object does not fit.
func (s *Spec) Decode(output json.RawMessage) (Values, error) {
	if findings := s.out.Validate(output); findings != nil {
		return nil, &InvalidError{findings}
	}
	var values Values
	if err := values.UnmarshalJSON(output); err != nil {
		return nil, err
	}
	return ordered(values, s.outputs), nil
}

// ordered puts values into the order of fields, all of which are among them.
func ordered(values Values, fields []Field) Values {
	sorted := make(Values, 0, len(values))
	for _, f := range fields {
		if raw, given := values.Get(f.Name); given {
			sorted = append(sorted, Value{f.Name, raw})
		}
	}
	return sorted
}

// complete copies fields and gives those without a schema one that admits
// anything.
func complete(fields []Field) []Field {
	fields = slices.Clone(fields)
	for i := range fields {
		if fields[i].Schema == nil {
			fields[i].Schema, _ = schema.Compile(json.RawMessage("true")) // always compiles
		}
	}
	return fields
}

// compose returns the schema of an object with the given fields.
func compose(fields []Field) (*schema.Schema, error) {
	required, properties := []string{}, Values{}
	for _, f := range fields {
		property, err := f.property()
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		properties = append(properties, Value{f.Name, property})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	raw, err := json.Marshal(object{"object", properties, required, false})
	if err != nil {
		return nil, err
	}
	return schema.Compile(raw)
}

// object is the schema of an object.
type object struct {
	Type       string   `json:"type"`
	Properties Values   `json:"properties"`
	Required   []string `json:"required"`
	Additional bool     `json:"additionalProperties"`
}

// property returns the field's schema as part of a larger one: with its
// description, and as a resource of its own if it refers to parts of itself.
func (f Field) property() (json.RawMessage, error) {
	raw := json.RawMessage("{}")
	if f.Schema != nil {
		raw = f.Schema.Raw()
	}
	if bytes.Equal(raw, []byte("true")) {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' {
		return raw, nil
	}
	var keywords Values
	if err := json.Unmarshal(raw, &keywords); err != nil {
		return nil, err
	}
	if bytes.Contains(raw, []byte(`"$ref"`)) {
		keywords = keywords.with("$id", "field:"+f.Name)
	}
	if f.Description != "" {
		keywords = keywords.with("description", f.Description)
	}
	return json.Marshal(keywords)
}

// with returns a copy with one text set.
func (v Values) with(name, text string) Values {
	literal, _ := json.Marshal(text) // a string always encodes
	v = slices.DeleteFunc(slices.Clone(v), func(value Value) bool { return value.Name == name })
	return append(v, Value{name, literal})
}

// decompose returns the fields of the schema of a struct.
func decompose(s *schema.Schema) ([]Field, error) {
	var o struct {
		Type       string
		Properties Values
		Required   []string
	}
	if err := json.Unmarshal(s.Raw(), &o); err != nil || o.Type != "object" {
		return nil, errors.New("type encodes itself, so its fields are not known; use a plain struct")
	}
	fields := make([]Field, len(o.Properties))
	for i, p := range o.Properties {
		property, err := schema.Compile(p.JSON)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", p.Name, err)
		}
		fields[i] = Field{p.Name, description(p.JSON), property, slices.Contains(o.Required, p.Name)}
	}
	return fields, nil
}

func description(property json.RawMessage) string {
	var d struct {
		Description string `json:"description"`
	}
	_ = json.Unmarshal(property, &d) // a schema may also be a boolean
	return d.Description
}
