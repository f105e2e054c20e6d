package module

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/signature"
)

// Native returns the adapter that has the provider constrain replies to the JSON Schema of
// the outputs. It is what a nil adapter is where the model can do that and an output is
// not plain text; set it to insist. With a model that cannot, or outputs that the
// providers' subset of JSON Schema does not express, such as maps, Run returns an error.
func Native() Adapter { return native{} }

// native is the adapter of structured output: a JSON object, to which the provider
// constrains the reply. Where it does not, the prompt asks for the same.
type native struct{ object }

// System says what the fields are and in which form to answer.
func (native) System(spec *signature.Spec, briefing string) string {
	return prompt.Native(spec, briefing)
}

// Read reads that form, in which null stands for what is not set.
func (n native) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	return n.object.Read(spec, string(spec.OutputSchema().DropUnset(json.RawMessage(reply))), truncated)
}

// adapterFor is the adapter for questions of a spec.
func (p *Predictor) adapterFor(spec *signature.Spec) Adapter {
	switch {
	case p.Adapter != nil:
		return p.Adapter
	case spec == p.Spec && p.callsTools() != nil:
		return p.calling
	case lm.CapabilitiesOf(p.Model).Schema && p.schemaOf(spec).auto:
		return native{}
	}
	return Markers()
}

// callsTools returns how the model calls tools by its provider's protocol, or nil if it does
// not.
func (p *Predictor) callsTools() *calling {
	if p.calling == nil || p.Adapter != nil || p.mode == byText {
		return nil
	}
	if p.mode == byCalls {
		return p.calling
	}
	can := lm.CapabilitiesOf(p.Model)
	if _, refused := p.refused.Load(can.Model); refused || !can.Tools {
		return nil
	}
	return p.calling
}

// mode is how tools are called in a run.
type mode int

const (
	undecided mode = iota
	byCalls
	byText
)

// forRun returns a copy whose mode is decided.
func (p *Predictor) forRun() *Predictor {
	c := p.Clone()
	c.mode = byText
	if p.callsTools() != nil {
		c.mode = byCalls
	}
	return c
}

// wireSchema is what providers are sent as the schema of a spec's outputs.
type wireSchema struct {
	spec *signature.Spec
	raw  json.RawMessage // nil if their subset cannot express it
	auto bool            // it can, and an output is not plain text
}

// schemaOf makes the schema once for each spec that is asked in turn.
func (p *Predictor) schemaOf(spec *signature.Spec) *wireSchema {
	if made := p.schema.Load(); made != nil && made.spec == spec {
		return made
	}
	made := &wireSchema{spec: spec}
	made.raw, _ = spec.OutputSchema().Strict()
	isTyped := func(f signature.Field) bool { return !f.Schema.AnyText() }
	made.auto = made.raw != nil && slices.ContainsFunc(spec.Outputs(), isTyped)
	p.schema.Store(made)
	return made
}

// constrains returns the schema that goes with a question of a spec, or nil.
func (p *Predictor) constrains(spec *signature.Spec) json.RawMessage {
	if _, ok := p.adapterFor(spec).(native); !ok {
		return nil
	}
	return p.schemaOf(spec).raw
}

// insisting says why [Native] cannot be had.
func (p *Predictor) insisting() error {
	if _, ok := p.Adapter.(native); !ok {
		return nil
	}
	switch {
	case !lm.CapabilitiesOf(p.Model).Schema:
		return errNotNative
	case p.schemaOf(p.Spec).raw == nil:
		return errNotExpressible
	}
	return nil
}

var (
	errNotNative = errors.New("module: the adapter is Native, but the model does not state that it can constrain its output; " +
		"leave Options.Adapter nil, or use a model of models.Open that can")
	errNotExpressible = errors.New("module: the adapter is Native, but providers cannot enforce the schema of the outputs, " +
		"which has a map, a value of any type, a tuple or a recursive type; leave Options.Adapter nil")
)
