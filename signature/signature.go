// Package signature describes a task's inputs and outputs.
//
// A [Signature] is made from two Go structs. It encodes inputs, describes the
// output to a model in TypeScript, and decodes the model's answer. If the answer
// does not fit, the error lists all problems:
//
//	package main
//
//	import (
//		"fmt"
//
//		"github.com/writ-go/writ/signature"
//	)
//
//	type Review struct {
//		Text string `json:"text"`
//	}
//
//	type Verdict struct {
//		Mood  string  `json:"mood" jsonschema:"enum=good,enum=bad"`
//		Score float64 `json:"score" jsonschema:"minimum=0,maximum=1"`
//	}
//
//	func main() {
//		judge := signature.Must(signature.New[Review, Verdict]("Judge the review."))
//		fmt.Println(judge.Spec().OutputTypeScript())
//
//		verdict, err := judge.Decode([]byte(`{"mood": "bad", "score": 0.1}`))
//		fmt.Println(verdict.Mood, err)
//
//		_, err = judge.Decode([]byte(`{"mood": "great", "score": 3}`))
//		fmt.Println(err)
//	}
//
// # Fields
//
// Each exported field of a struct is a field of the signature, with the name that encoding/json uses. A field can have
// any type that encoding/json accepts: nested structs, slices, maps, [time.Time], [json.RawMessage], any, types with
// methods that encode and decode them, and big integers, which keep all digits. Tags in the notation of
// github.com/invopop/jsonschema constrain and describe a field; [schema.Of] lists the rules. In short:
//
//	Limit  *int              `json:"limit"`                              // may be missing or null
//	Note   string            `json:"note,omitempty"`                     // may be missing
//	Score  float64           `json:"score" jsonschema:"minimum=0,maximum=1"`
//	Lang   string            `json:"lang" jsonschema:"default=en"`       // "en" if it is missing
//	Mood   Mood              `json:"mood"`                               // with func (Mood) Enum() []Mood
//	Due    signature.Date    `json:"due"`                                // 2026-01-31; see also [Time]
//	Sent   time.Time         `json:"sent"`                               // 2026-01-31T15:04:05Z
//	Photo  signature.Image   `json:"photo"`                              // shown as a picture; []Image works, too
//	Before signature.History `json:"before"`                             // earlier turns of a conversation
//
// A default is used for an output that the model leaves out, and for an input that is
// absent: a zero value with omitempty, or a name that is missing from [Values].
//
// # Without Go types
//
// [Parse] makes a signature from a string in the notation of DSPy. Its inputs and
// outputs are [Values]:
//
//	qa, err := signature.Parse(`question, context: list[str] -> answer: str`, "Answer briefly.")
//
// A [Spec] is a signature without Go types. Modules work with a Spec; a Signature
// is a typed wrapper. Methods that edit a Spec, such as [Spec.WithInstructions],
// [Spec.AppendOutputs] and [Spec.WithDescription], return copies, and [Typed] adds
// Go types to the result. [Spec.String] writes a Spec as a string that [Parse] reads.
package signature

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/writ-go/writ/signature/schema"
)

// Signature is a [Spec] with the Go types of its inputs and outputs. It is
// immutable and safe for concurrent use.
type Signature[In, Out any] struct {
	spec       *Spec
	checks     []func(context.Context, Out) error
	validating map[reflect.Type]bool // see addValidating
}

// typed adds Go types to a spec. It returns an error if the output type cannot hold the defaults of the outputs.
func typed[In, Out any](spec *Spec) (*Signature[In, Out], error) {
	if err := holdsDefaults(reflect.TypeFor[Out](), spec.outputs); err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	s := &Signature[In, Out]{spec: spec, validating: map[reflect.Type]bool{}}
	addValidating(reflect.TypeFor[Out](), s.validating)
	return s, nil
}

// New makes a signature from two structs. Their exported fields are the inputs and outputs, with the names that
// encoding/json uses and the schemas that [schema.Of] makes. A signature may have no inputs, but needs an output.
//
// The error names the field that cannot be used and says why: its type is recursive or cannot be encoded as JSON; a tag
// does not apply to the type, or has a default that does not fit; the name is not a JavaScript identifier, or is
// repeated; or an image, file or history is an output or is nested too deeply for a module to show it.
func New[In, Out any](instructions string) (*Signature[In, Out], error) {
	in, err := structSchema(reflect.TypeFor[In]())
	if err != nil {
		return nil, fmt.Errorf("signature: input %w", err)
	}
	out, err := structSchema(reflect.TypeFor[Out]())
	if err != nil {
		return nil, fmt.Errorf("signature: output %w", err)
	}
	spec, err := specOf(instructions, in, out)
	if err != nil {
		return nil, err
	}
	return typed[In, Out](spec)
}

// Must returns s, or panics if err is not nil. Use it for signatures in package
// variables:
//
//	var judge = signature.Must(signature.New[Review, Verdict]("Judge the review."))
func Must[In, Out any](s *Signature[In, Out], err error) *Signature[In, Out] {
	if err != nil {
		panic(err)
	}
	return s
}

// Spec returns the signature without its Go types. Spec of nil returns nil.
func (s *Signature[In, Out]) Spec() *Spec {
	if s == nil {
		return nil
	}
	return s.spec
}

// WithInstructions returns a copy with the given instructions.
func (s *Signature[In, Out]) WithInstructions(text string) *Signature[In, Out] {
	if !s.Spec().made() {
		return s
	}
	edited := *s
	edited.spec = s.spec.WithInstructions(text)
	return &edited
}

// Encode returns the inputs as JSON, in the order of the fields. It encodes nil slices and
// maps as empty ones. The error wraps an [*InvalidError] if an input violates its tags, if
// an image or file is empty, or if a turn of a history does not fit the signature.
func (s *Signature[In, Out]) Encode(in In) (Values, error) {
	if !s.Spec().made() {
		return nil, errUnmade
	}
	if values, ok := any(in).(Values); ok {
		return s.spec.Encode(values)
	}
	raw, err := s.spec.in.Encode(&in)
	if err != nil {
		return nil, fmt.Errorf("signature: input: %w", err)
	}
	values, err := s.spec.check(raw)
	if err != nil {
		return nil, fmt.Errorf("signature: input: %w", err)
	}
	return values, nil
}

// encodeOutput returns the outputs as JSON, in the order of the fields.
func (s *Signature[In, Out]) encodeOutput(out Out) (Values, error) {
	raw, err := s.spec.out.Encode(&out)
	if err != nil {
		return nil, fmt.Errorf("signature: output: %w", err)
	}
	values, err := s.spec.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("signature: output: %w", err)
	}
	return values, nil
}

// Decode decodes a JSON object into the output type. If the object does not fit, the error is an [*InvalidError] and
// the output is the zero value. Decode never drops data silently: it rejects unknown properties and integers that
// overflow, and a number in a field of type any becomes a [json.Number]. A date in a [time.Time] field becomes midnight
// UTC.
func (s *Signature[In, Out]) Decode(output json.RawMessage) (Out, error) {
	var out, zero Out
	if !s.Spec().made() {
		return zero, errUnmade
	}
	if values, ok := any(&out).(*Values); ok {
		var err error
		*values, err = s.spec.Decode(output)
		return out, err
	}
	if findings := s.spec.Validate(output); findings != nil {
		return zero, &InvalidError{findings}
	}
	full := s.spec.out.Complete(output)
	if err := schema.Unmarshal(full, &out); err != nil {
		finding := decodeFinding(err)
		finding.Path = cmp.Or(finding.Path, undecodable(full, reflect.TypeFor[Out]()))
		return zero, &InvalidError{[]schema.Finding{finding}}
	}
	return out, nil
}

// decodeFinding describes why a value that fits its schema cannot be decoded into its Go type: for example, a number
// overflows an int64.
func decodeFinding(err error) schema.Finding {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return schema.Finding{Message: "cannot be decoded: " + err.Error()}
	}
	return schema.Finding{
		Path: wrong.Field, Message: fmt.Sprintf("does not fit the Go type %v: %s", wrong.Type, wrong.Value),
	}
}

// undecodable returns the name of the first field whose value cannot be decoded. It is for errors from the field's own
// UnmarshalJSON or UnmarshalText, which do not name the field.
func undecodable(object json.RawMessage, t reflect.Type) string {
	var values Values
	if json.Unmarshal(object, &values) != nil {
		return ""
	}
	for i, v := range values {
		if schema.Unmarshal(literal(values[i:i+1]), reflect.New(t).Interface()) != nil {
			return v.Name
		}
	}
	return ""
}
