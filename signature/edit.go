package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// WithInstructions returns a copy with the given instructions.
func (s *Spec) WithInstructions(text string) *Spec {
	edited := *s
	edited.instructions = text
	return &edited
}

// AppendInputs returns a copy with more inputs at the end. It returns the same errors
// as [NewSpec].
func (s *Spec) AppendInputs(fields ...Field) (*Spec, error) {
	edited := *s
	edited.inputs = slices.Concat(s.inputs, fields)
	return edited.built()
}

// AppendOutputs returns a copy with more outputs at the end. It returns the same
// errors as [NewSpec].
func (s *Spec) AppendOutputs(fields ...Field) (*Spec, error) {
	edited := *s
	edited.outputs = slices.Concat(s.outputs, fields)
	return edited.built()
}

// PrependOutputs returns a copy with more outputs at the beginning. A model writes the outputs
// in their order. PrependOutputs returns the same errors as [NewSpec].
func (s *Spec) PrependOutputs(fields ...Field) (*Spec, error) {
	edited := *s
	edited.outputs = slices.Concat(fields, s.outputs)
	return edited.built()
}

// Delete returns a copy without the given input or output. It returns an error if the field
// does not exist, is the only output, or is part of a rule about several fields.
func (s *Spec) Delete(name string) (*Spec, error) {
	if err := s.has(name); err != nil {
		return nil, err
	}
	if s.ruled(name) {
		return nil, fmt.Errorf("signature: field %q: a rule about several fields refers to it, so it cannot be "+
			"deleted; make a new signature", name)
	}
	edited := *s
	named := func(f Field) bool { return f.Name == name }
	edited.inputs = slices.DeleteFunc(slices.Clone(s.inputs), named)
	edited.outputs = slices.DeleteFunc(slices.Clone(s.outputs), named)
	return edited.built()
}

// WithField returns a copy in which field replaces the field with the given name. The new field may have a different
// name. WithField returns an error if no field has the given name; its other errors are the errors that [NewSpec]
// returns.
//
//	score, _ := spec.Field("score")
//	score.Required = false
//	spec, err = spec.WithField("score", score)
func (s *Spec) WithField(name string, field Field) (*Spec, error) {
	if err := s.has(name); err != nil {
		return nil, err
	}
	if field.Name != name && s.ruled(name) {
		return nil, fmt.Errorf("signature: field %q: a rule about several fields refers to it, so it cannot be "+
			"renamed; make a new signature", name)
	}
	edited := *s
	edited.inputs = replaced(s.inputs, name, field)
	edited.outputs = replaced(s.outputs, name, field)
	return edited.built()
}

// WithDescription returns a copy in which an input or output has the given description,
// which may be empty. It returns an error if the field does not exist.
func (s *Spec) WithDescription(name, text string) (*Spec, error) {
	f, _ := s.Field(name)
	if err := s.has(name); err != nil {
		return nil, err
	}
	f.Description = text
	var keywords Values
	if json.Unmarshal(f.Schema.Raw(), &keywords) == nil { // the schema is not true or false
		var err error
		if f.Schema, err = compiled(literal(keywords.Without("description"))); err != nil {
			return nil, fmt.Errorf("signature: field %q: %w", name, err)
		}
	}
	return s.WithField(name, f)
}

func replaced(fields []Field, name string, field Field) []Field {
	fields = slices.Clone(fields)
	for i := range fields {
		if fields[i].Name == name {
			fields[i] = field
		}
	}
	return fields
}

// has returns an error if a field does not exist.
func (s *Spec) has(name string) error {
	if _, known := s.Field(name); !known {
		return fmt.Errorf("signature: unknown field %q; the fields are %s", name, s.names())
	}
	return nil
}

// ruled reports whether a rule about several fields names this field.
func (s *Spec) ruled(name string) bool {
	return slices.ContainsFunc(slices.Concat(s.inRules, s.outRules), func(rule Value) bool {
		var v any
		return rule.Name != "title" && rule.Name != "description" && json.Unmarshal(rule.JSON, &v) == nil &&
			bytes.Contains(literal(v), literal(name))
	})
}
