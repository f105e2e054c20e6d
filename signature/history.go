package signature

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/writ-go/writ/signature/schema"
)

// History is an input that is a conversation: earlier questions, each with its answer. A
// module shows each turn to the model as a question followed by the answer as the model
// would have written it. In modules that write programs, it is a variable of the program,
// an array of objects.
//
// Each turn has values for inputs and outputs of the same signature, by name;
// [Signature.Turn] makes one. A turn must have all required outputs, may lack inputs, and
// cannot have a history of its own.
type History []Values

// JSONSchema returns the schema of a history.
func (History) JSONSchema() *jsonschema.Schema { return mark(historySchema, KindHistory) }

const historySchema = `{"type": "array", "items": {"type": "object"}}`

// Turns returns the turns in the value of a field of [KindHistory]. It is an error if
// the value is neither null nor an array of objects, or if a turn repeats a name.
func Turns(value json.RawMessage) (History, error) {
	var h History
	if err := json.Unmarshal(value, &h); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return h, nil
}

// Turn returns one turn of a [History]: the inputs, except histories, and the output. The
// error is one of [Signature.Encode], or wraps an [*InvalidError] if the output does not
// fit.
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

// withoutPast adds empty histories to values that lack them, since a turn omits them.
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

// checkHistory checks the turns in one input.
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
			findings = append(findings, schema.Finding{Path: f.Name, Message: "is required", Hint: "a turn includes its answer"})
		}
	}
	return findings
}

// checkPast checks one value of a turn.
func (s *Spec) checkPast(v Value) []schema.Finding {
	f, known := s.Field(v.Name)
	switch {
	case !known:
		return []schema.Finding{{Path: v.Name, Message: "is not a field of the signature", Hint: "fields: " + s.names()}}
	case s.special[v.Name] == KindHistory:
		return []schema.Finding{{Path: v.Name, Message: "is a history within a history", Hint: "remove it"}}
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

// member makes of a path the part of a longer one.
func member(path string) string {
	if path == "" || path[0] == '[' {
		return path
	}
	return "." + path
}
