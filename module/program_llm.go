package module

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// askTool is the function llm(prompt, schema) for the programs of a [Program].
var askTool = &tools.Tool{
	Name: llmTool.Name, Params: []string{"prompt", "schema"},
	Description: "Asks a language model, which sees only the prompt. Returns a text or, if there is a JSON Schema, a " +
		"value that is valid against it.",
	InputSchema: json.RawMessage(`{"type": "object", "required": ["prompt"], "additionalProperties": false,
		"properties": {"prompt": {"type": "string", "minLength": 1}, "schema": {"type": "object"}}}`),
	Hints: tools.Hints{Class: tools.Read}, Handler: answerPrompt,
}

// sub returns the predictor that answers calls to llm.
func (o *Options) sub(model llms.Model) *Predictor {
	return &Predictor{Spec: subQuestion.Spec(), Briefing: prompt.Sub, Model: model, onEvent: o.OnEvent}
}

// maxAsking is added to a program's time limit if it may call llm.
const maxAsking = 10 * time.Minute

// withSub lets a program call llm if the environment has a predictor for these calls.
func (e *environment) withSub(ctx context.Context, p *sandbox.Program) context.Context {
	if e.sub == nil {
		return ctx
	}
	p.Limits.Time = cmp.Or(limitsOf(e.box).Time, time.Minute) + maxAsking
	return context.WithValue(ctx, askingKey{}, e.sub)
}

type askingKey struct{}

// answerPrompt handles calls to askTool.
func answerPrompt(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Prompt string
		Schema json.RawMessage
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	sub, _ := ctx.Value(askingKey{}).(*Predictor) // only programs of a Program have the tool
	p := sub.Clone()
	if in.Schema != nil {
		reply, err := schema.Compile(in.Schema)
		if err == nil {
			field := signature.Field{Name: "reply", Schema: reply, Required: true}
			p.Spec, err = p.Spec.WithField(field.Name, field)
		}
		if err != nil {
			return nil, &tools.ToolError{Kind: tools.KindInvalidArguments, Message: "the schema: " + bare(err)}
		}
	}
	sig, err := signature.Typed[signature.Values, signature.Values](p.Spec)
	if err != nil {
		return nil, err
	}
	type part struct{ Sub *Predictor }
	ctx = scopeOf(ctx).named(part{p}, part{sub}).in(ctx)
	question := signature.Values{{Name: "prompt", JSON: replies.Quote(in.Prompt)}}
	pred, err := predict(ctx, "llm", p, sig, question)
	if err != nil {
		return nil, modelError(ctx, "", err, reasonOf(err))
	}
	answer, _ := pred.Output.Get("reply")
	return answer, nil
}
