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

// Adapter writes questions for a model and reads its replies: [Native], [Markers], [JSON], or one of your own. It
// must be able to read what it writes, and must be safe for concurrent use.
type Adapter interface {
	// System returns the system prompt: the spec's instructions, the fields, the form of replies, and the
	// briefing. It should be the same for every question of a Predictor, so that providers can cache it.
	System(spec *signature.Spec, briefing string) string

	// Question writes the inputs of a question or a demo, and then a reminder of the form of replies. If inputs
	// is nil, it is only the reminder.
	Question(spec *signature.Spec, inputs signature.Values) string

	// Answer writes outputs in the form that the model should use, for demos and history. If a required output is
	// missing, the text says so; a missing optional output is left out.
	Answer(spec *signature.Spec, outputs signature.Values) string

	// Read finds the outputs in a reply; truncated reports whether the reply was cut off at the token limit. Read
	// returns all required outputs, each valid for its field, or an error that tells the model everything that is wrong.
	Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error)
}

// Markers returns the adapter that puts every field under a line of its own, [[ ## name ## ]], which no value
// contains by accident. Texts need no escapes, and the end marker distinguishes a complete reply from one that
// is cut off.
func Markers() Adapter { return prompt.Markers{} }

// JSON returns the adapter that asks for the outputs as one JSON object, for models that were trained to reply
// like that. The inputs are written under field markers, as by [Markers].
func JSON() Adapter { return prompt.Object{} }

// Native returns the adapter that has the provider constrain replies to the JSON Schema of the outputs. If no adapter
// is set, Native is used if the model supports it and at least one output is not plain text; set it to require it. If
// the model does not support it, or the providers' subset of JSON Schema cannot express the outputs, such as maps,
// Run returns an error.
func Native() Adapter { return prompt.Native{} }

// adapter returns the adapter for the predictor's own question: [prompt.Program] if it asks for a program and
// nothing else, in the form of markers.
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

// adapterFor returns the adapter for questions of a spec.
func (p *Predictor) adapterFor(spec *signature.Spec) Adapter {
	switch {
	case p.Adapter != nil:
		return p.Adapter
	case spec == p.Spec && p.callsTools() != nil:
		return p.calling
	case lm.CapabilitiesOf(p.Model).Schema && p.schemaOf(spec).auto:
		return prompt.Native{}
	}
	return Markers()
}

// wireSchema is the schema of a spec's outputs as it is sent to providers.
type wireSchema struct {
	raw  json.RawMessage // nil if their subset of JSON Schema cannot express it
	auto bool            // raw is not nil, and an output is not plain text
}

func (p *Predictor) schemaOf(spec *signature.Spec) wireSchema {
	return p.schema.Get(spec, func() wireSchema {
		raw, _ := spec.OutputSchema().Strict()
		isTyped := func(f signature.Field) bool { return !f.Schema.AnyText() }
		return wireSchema{raw, raw != nil && slices.ContainsFunc(spec.Outputs(), isTyped)}
	})
}

// constrains returns the schema that is sent with a question of a spec, or nil.
func (p *Predictor) constrains(spec *signature.Spec) json.RawMessage {
	if _, ok := p.adapterFor(spec).(prompt.Native); !ok {
		return nil
	}
	return p.schemaOf(spec).raw
}

// checkNative reports why [Native] cannot be used, if it is set.
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
		"output; leave Options.Adapter nil, or use a model of models.Open that can")
	errNotExpressible = errors.New("module: the adapter is Native, but providers cannot enforce the schema of the " +
		"outputs, which has a map, a value of any type, a tuple or a recursive type; leave Options.Adapter nil")
)

// callsTools returns the adapter for calls in the provider's protocol, or nil if the model writes calls as text.
func (p *Predictor) callsTools() *conversation.Calling {
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

// forRun returns a copy that calls tools in one way, whatever other runs find out about the model.
func (p *Predictor) forRun() *Predictor {
	c := p.Clone()
	c.calling, c.decided = p.callsTools(), true
	return c
}

// form returns the form of the predictor's messages.
func (p *Predictor) form() conversation.Form {
	return conversation.Form{Spec: p.Spec, Adapter: p.adapter()}
}

// opening returns the messages up to a question.
func (p *Predictor) opening(q conversation.Question) ([]conversation.Message, error) {
	var demos []conversation.Demo
	for _, d := range p.Demos {
		demos = append(demos, conversation.Demo(d))
	}
	return p.form().Opening(p.systemPrompt(cmp.Or(q.Briefing, p.Briefing)), demos, q, p.Hint)
}

// read finds the outputs of spec in a reply. The predictor's other outputs are the reasoning. Those that are not
// needed may be missing; a predictor always needs the same ones.
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

// read finds the outputs of spec in the last reply, and returns them as an object.
func (r *run) read(spec *signature.Spec) (raw json.RawMessage, reasoning string, err error) {
	needed := func(name string) bool { _, ok := spec.Field(name); return ok }
	outputs, reasoning, err := r.predictor.read(r.last(), spec, needed)
	if err != nil {
		return nil, "", err
	}
	raw, err = outputs.MarshalJSON()
	return raw, reasoning, err
}
