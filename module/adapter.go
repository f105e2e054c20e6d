package module

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

// Adapter formats the questions for a model and parses its replies. Use [Native], [Markers], [JSON], or your own
// Adapter. An Adapter must be able to read what it writes, and must be safe for concurrent use.
type Adapter interface {
	// System returns the system prompt: the spec's instructions and fields, the reply format, and the briefing. It
	// should be the same for every question of a Predictor, so that providers can cache it.
	System(spec *signature.Spec, briefing string) string

	// Question returns the inputs of a question or a demo as text, followed by a reminder of the reply format. If
	// inputs is nil, it returns only the reminder.
	Question(spec *signature.Spec, inputs signature.Values) string

	// Answer returns outputs as text in the reply format, for demos and history. The text says which required outputs
	// are missing; missing optional outputs are left out.
	Answer(spec *signature.Spec, outputs signature.Values) string

	// Read parses a reply. Truncated reports whether the reply was truncated at the token limit. Read returns outputs
	// that are valid for their fields and include all required ones, or an error that tells the model everything that
	// is wrong.
	Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error)
}

// Markers returns the adapter that puts each value below a marker: a line with the name of its field, [[ ## name ## ]].
// Values do not contain markers by accident. Strings need no escaping, and the end marker distinguishes a complete
// reply from a truncated one.
func Markers() Adapter { return prompt.Markers{} }

// JSON returns the adapter that asks for the outputs as one JSON object, for models that were trained to reply in JSON.
// It writes the inputs below marker lines, like [Markers].
func JSON() Adapter { return prompt.Object{} }

// Native returns the adapter that has the provider constrain replies to the JSON Schema of the outputs. A Predictor
// without an Adapter already uses Native if the model supports it and at least one output is not plain text. Set Native
// to require it: then Run returns an error if the model does not support it, or if the providers' subset of JSON Schema
// cannot express an output, such as a map.
func Native() Adapter { return prompt.Native{} }

// adapter returns the adapter for the predictor's own question. If the question asks only for a program, the adapter is
// [prompt.Program] instead of [Markers].
func (p *Predictor) adapter() Adapter {
	adapter := p.adapterFor(p.Spec)
	if _, ok := adapter.(prompt.Markers); !ok || p.task == nil {
		return adapter
	}
	fields := p.Spec.Outputs()
	code := func(f signature.Field) bool { return f.Name == "code" }
	other := func(f signature.Field) bool { return f.Name != "code" && f.Name != "reasoning" }
	if slices.ContainsFunc(fields, other) || !slices.ContainsFunc(fields, code) {
		return adapter
	}
	return prompt.Program{}
}

// adapterFor returns the adapter for a question with the given spec.
func (p *Predictor) adapterFor(spec *signature.Spec) Adapter {
	switch {
	case p.Adapter != nil:
		return p.Adapter
	case spec == p.Spec && p.toolCalling() != nil:
		return p.calling
	case lm.CapabilitiesOf(p.Model).Schema && p.schemaOf(spec).byDefault:
		return prompt.Native{}
	}
	return Markers()
}

// wireSchema is the schema for a spec's outputs in the form that is sent to providers.
type wireSchema struct {
	raw       json.RawMessage // nil if the providers' subset of JSON Schema cannot express the outputs
	byDefault bool            // raw is used if no Adapter is set: raw is not nil, and an output is not plain text
}

func (p *Predictor) schemaOf(spec *signature.Spec) wireSchema {
	return p.schema.Get(spec, func() wireSchema {
		raw, _ := spec.OutputSchema().Strict()
		isTyped := func(f signature.Field) bool { return !f.Schema.AnyText() }
		return wireSchema{raw, raw != nil && slices.ContainsFunc(spec.Outputs(), isTyped)}
	})
}

// replySchema returns the schema that the provider constrains the reply to, or nil if the reply is not constrained.
func (p *Predictor) replySchema(spec *signature.Spec) json.RawMessage {
	if _, ok := p.adapterFor(spec).(prompt.Native); !ok {
		return nil
	}
	return p.schemaOf(spec).raw
}

// checkNative returns an error if [Native] is set but cannot be used.
func (p *Predictor) checkNative() error {
	if _, ok := p.Adapter.(prompt.Native); !ok {
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
	errNotNative = errors.New("module: the adapter is Native, but the model does not state that it can constrain its " +
		"output; leave Options.Adapter nil, or use a model with the capability Schema")
	errNotExpressible = errors.New("module: the adapter is Native, but providers cannot enforce the schema of the " +
		"outputs, because it has a map, a value of any type, a tuple or a recursive type; leave Options.Adapter nil")
)

// toolCalling returns the adapter for tool calls in the provider's protocol, or nil if the model writes calls as text.
func (p *Predictor) toolCalling() *conversation.Calling {
	switch {
	case p.calling == nil || p.Adapter != nil:
		return nil
	case p.decided:
		return p.calling
	}
	can := lm.CapabilitiesOf(p.Model)
	if _, refused := p.refused.Load(can.Model); refused || !can.Tools {
		return nil
	}
	return p.calling
}

func (p *Predictor) formatter() conversation.Formatter {
	return conversation.Formatter{Spec: p.Spec, Adapter: p.adapter()}
}

// opening returns the messages from the system prompt to the question.
func (p *Predictor) opening(q conversation.Question) ([]conversation.Message, error) {
	system := p.systemPrompt(cmp.Or(q.Briefing, p.Briefing))
	return p.formatter().Opening(system, internalDemos(p.Demos), q, p.Hint)
}

// read finds the outputs of spec in a reply, and returns the predictor's other outputs as the reasoning. Needed reports
// whether the reply must have an output. Since read caches the lenient spec, all calls for a predictor must pass
// functions that report the same.
func (p *Predictor) read(
	s *Step, spec *signature.Spec, needed func(name string) bool,
) (outputs signature.Values, reasoning string, err error) {
	lenient := p.lenient.Get(p.Spec, func() *signature.Spec { return replies.Lenient(p.Spec, needed) })
	values, err := p.adapter().Read(lenient, s.Reply, s.Truncated)
	if err != nil {
		return nil, "", err
	}
	outputs, reasoning = replies.Explained(p.Spec, spec, values)
	return outputs, reasoning, nil
}

// read finds spec's outputs in the last reply, and returns them as a JSON object.
func (r *run) read(spec *signature.Spec) (raw json.RawMessage, reasoning string, err error) {
	needed := func(name string) bool { _, ok := spec.Field(name); return ok }
	outputs, reasoning, err := r.predictor.read(r.last(), spec, needed)
	if err != nil {
		return nil, "", err
	}
	raw, err = outputs.MarshalJSON()
	return raw, reasoning, err
}
