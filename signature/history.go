package signature

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature/schema"
)

// History is an input that holds a conversation: earlier questions and their answers. A module shows each turn to the
// model as a question, followed by the answer in the form in which the model writes answers. If the model writes
// programs, the history is also a variable in the program, an array of objects. Other modules replace
// the oldest turns of a long history by a summary (see Options.Compact in package module).
//
// Each turn holds inputs and outputs for the same signature. [Signature.Turn] makes a turn. A turn must have all
// required outputs. Inputs may be missing, and a turn cannot contain a history.
type History []Values

// JSONSchema returns a history's schema.
func (History) JSONSchema() *jsonschema.Schema { return mark(historySchema, KindHistory) }

const historySchema = `{"type": "array", "items": {"type": "object"}}`

// Turns returns the turns in the value of a [KindHistory] field. It returns an error if the value is neither null nor
// an array of objects, or if a turn repeats a name.
func Turns(value json.RawMessage) (History, error) {
	var h History
	if err := json.Unmarshal(value, &h); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return h, nil
}

// Turn returns a turn of a [History]: the inputs, except histories, and the outputs. It returns the errors that
// [Signature.Encode] returns, and an error that wraps an [*InvalidError] if the output does not fit.
func (s *Signature[In, Out]) Turn(in In, out Out) (Values, error) {
	inputs, err := s.Encode(s.withoutPast(in))
	if err != nil {
		return nil, err
	}
	outputs, err := s.encodeOutput(out)
	if err != nil {
		return nil, err
	}
	var turn Values
	for _, v := range append(inputs, outputs...) {
		if s.spec.special[v.Name] != KindHistory {
			turn = append(turn, v)
		}
	}
	return turn, nil
}

// withoutPast adds an empty history for each missing input of KindHistory, since a turn has no history.
func (s *Signature[In, Out]) withoutPast(in In) In {
	values, ok := any(in).(Values)
	if !ok || !s.Spec().made() {
		return in
	}
	values = slices.Clone(values)
	for _, f := range s.spec.inputs {
		if _, given := values.Get(f.Name); !given && f.Kind() == KindHistory {
			values = append(values, Value{f.Name, json.RawMessage("[]")})
		}
	}
	return any(values).(In)
}

func (s *Spec) checkHistory(input Value) []schema.Finding {
	turns, err := Turns(input.JSON)
	if err != nil {
		return []schema.Finding{{Path: input.Name, Message: "cannot be used: " + err.Error()}}
	}
	var findings []schema.Finding
	for i, turn := range turns {
		for _, f := range s.checkTurn(turn) {
			f.Path = fmt.Sprintf("%s[%d].%s", input.Name, i, f.Path)
			findings = append(findings, f)
		}
	}
	return findings
}

func (s *Spec) checkTurn(turn Values) []schema.Finding {
	var findings []schema.Finding
	for _, v := range turn {
		findings = append(findings, s.checkPast(v)...)
	}
	for _, f := range s.outputs {
		if _, given := turn.Get(f.Name); f.Required && !given {
			findings = append(findings,
				schema.Finding{Path: f.Name, Message: "is required", Hint: "a turn needs its answer"})
		}
	}
	return findings
}

func (s *Spec) checkPast(v Value) []schema.Finding {
	f, known := s.Field(v.Name)
	switch {
	case !known:
		wrong := schema.Finding{Path: v.Name, Message: "is not a field of the signature", Hint: "fields: " + s.names()}
		return []schema.Finding{wrong}
	case s.special[v.Name] == KindHistory:
		wrong := schema.Finding{Path: v.Name, Message: "is a history within a history", Hint: "remove it from the turn"}
		return []schema.Finding{wrong}
	}
	findings := f.Schema.Validate(v.JSON)
	if findings == nil {
		return s.checkMedia(v)
	}
	for i, finding := range findings {
		findings[i].Path = v.Name + member(finding.Path)
	}
	return findings
}

// member returns a path as it is written after a field's name.
func member(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}
