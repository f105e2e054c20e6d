package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// What programs of an RLM call, as tools that read.

type subPrompt struct {
	Prompt string `json:"prompt" jsonschema:"minLength=1"`
}

// SubTask is what a program of an [RLM] delegates by rlm: the input of RLM.Nested.
type SubTask struct {
	Prompt  string          `json:"prompt" jsonschema:"minLength=1,description=the task"`
	Context json.RawMessage `json:"context" jsonschema:"description=the material: any value"`
}

// SubReply is what comes of a [SubTask]: the output of RLM.Nested.
type SubReply struct {
	Reply string `json:"reply"` // what rlm gives to the program, as it is
}

var (
	subQuestion  = signature.Must(signature.New[subPrompt, SubReply](""))
	taskQuestion = signature.Must(signature.New[SubTask, SubReply]("Do what the prompt says, with the context as the material."))
)

var (
	llmTool = &tools.Tool{
		Name: "llm", Description: "Asks a language model, which sees only the prompt. An array asks all its prompts at once.",
		InputSchema: json.RawMessage(llmInput), OutputSchema: json.RawMessage(llmOutput),
		Hints: tools.Hints{Class: tools.Read}, Handler: answerPrompts,
	}
	rlmTool = tools.Func("rlm", "Works out a task over a context that is too long for one prompt.",
		func(ctx context.Context, in SubTask) (string, error) { return subCallsOf(ctx).delegate(ctx, in) },
		&tools.Hints{Class: tools.Read})
)

const (
	llmInput = `{"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {"prompt": {"anyOf": [
		{"type": "string", "minLength": 1}, {"type": "array", "maxItems": 10000, "items": {"type": "string", "minLength": 1}}]}}}`
	llmOutput = `{"anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"},
		{"type": "object", "required": ["error"], "additionalProperties": false, "properties": {"error": {"type": "string"}}}]}}]}`
)

// answerPrompts is the handler of llm.
func answerPrompts(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	var in struct{ Prompt json.RawMessage }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	if first(in.Prompt) == '"' {
		text, err := subCallsOf(ctx).ask(ctx, subPrompt{replies.PlainText(in.Prompt)})
		if err != nil {
			return nil, err
		}
		return replies.Quote(text), nil
	}
	var prompts []string
	if err := json.Unmarshal(in.Prompt, &prompts); err != nil {
		return nil, err
	}
	return subCallsOf(ctx).askAll(ctx, prompts)
}

// maxAnswers is how many bytes the answers to an array of prompts may have together, so that they
// fit into a result.
const maxAnswers = 2 << 20

// askAll asks the model several questions, as many at the same time as the budget allows.
// An answer that is missing is an object that says why, so that the others are not lost.
func (c *subCalls) askAll(ctx context.Context, prompts []string) (json.RawMessage, error) {
	answers, errs := make([]any, len(prompts)), make([]error, len(prompts))
	answer := func(i int) {
		defer rescue("llm", &errs[i])
		answers[i], errs[i] = c.ask(ctx, subPrompt{prompts[i]})
	}
	var wg sync.WaitGroup
	var next, size atomic.Int64
	for range min(len(prompts), cap(c.budget.slots)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(prompts)) && size.Load() <= maxAnswers; i = next.Add(1) - 1 {
				answer(int(i))
				text, _ := answers[i].(string)
				size.Add(int64(len(text)))
			}
		})
	}
	wg.Wait()
	if size.Load() > maxAnswers {
		return nil, &tools.ToolError{Kind: tools.KindLimit, Message: fmt.Sprintf(
			"the answers have more than %d bytes together; ask fewer prompts at a time (those that were answered are free)", maxAnswers)}
	}
	for i, err := range errs {
		te, told := errors.AsType[*tools.ToolError](err)
		switch {
		case err == nil:
		case told && !tools.IsFatal(err):
			answers[i] = map[string]string{"error": te.Message}
		default:
			return nil, err
		}
	}
	return json.Marshal(answers)
}

// ask asks the model a question.
func (c *subCalls) ask(ctx context.Context, in subPrompt) (string, error) {
	return c.once(in, func() (string, error) {
		enclosing := scopeOf(ctx).run
		ctx, r, err := newRun(ctx, "llm", c.sub, question{inputs: signature.Values{{Name: "prompt", JSON: replies.Quote(in.Prompt)}}})
		if err != nil {
			return "", err
		}
		r.path = "Sub"
		r.keepUsageOnly() // there may be thousands
		defer func() { enclosing.count(r.recorder) }()
		if err := r.ask(ctx); err != nil {
			return "", unanswered(ctx, "", r.incomplete(err), err)
		}
		raw, _, err := r.read(c.sub.Spec)
		if err != nil {
			te := &tools.ToolError{Kind: tools.KindFailed, Message: err.Error(), Data: replies.Quote(r.last().Reply)}
			return "", te.WithCause(r.incomplete(err))
		}
		out, err := subQuestion.Decode(raw)
		if err != nil {
			return "", r.incomplete(err)
		}
		pred, err := answered(r, out, raw, "")
		if err != nil {
			return "", unanswered(ctx, "", err, err)
		}
		return pred.Output.Reply, nil
	})
}

// delegate has a run of its own work out a task. Each program that waits for one
// keeps its worker: so that these cannot all wait for each other, only the
// innermost run beside each other.
func (c *subCalls) delegate(ctx context.Context, in SubTask) (string, error) {
	return c.once(in, func() (string, error) {
		if c.nested.Nested != nil {
			select {
			case c.turn <- struct{}{}:
				defer func() { <-c.turn }()
			case <-ctx.Done():
				return "", over(ctx)
			}
		}
		pred, err := c.nested.Run(ctx, in)
		if err == nil {
			return pred.Output.Reply, nil
		}
		return "", unanswered(ctx, "the task was not worked out: ", err, reasonOf(err))
	})
}

// verbatim is the adapter of a question in words that has an answer in words: the
// prompt is the input as it is, and the output the reply as it is.
type verbatim struct{}

// System implements [Adapter].
func (verbatim) System(spec *signature.Spec, briefing string) string {
	return strings.TrimSpace(briefing + "\n" + spec.Instructions())
}

// Question implements [Adapter].
func (verbatim) Question(_ *signature.Spec, inputs signature.Values) string { return onlyText(inputs) }

// Answer implements [Adapter].
func (verbatim) Answer(_ *signature.Spec, outputs signature.Values) string { return onlyText(outputs) }

func onlyText(values signature.Values) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, replies.PlainText(v.JSON))
	}
	return strings.Join(texts, "\n\n")
}

// Read implements [Adapter].
func (verbatim) Read(spec *signature.Spec, reply string, truncated bool) (signature.Values, error) {
	text, err := replies.Verbatim(reply, truncated)
	if err != nil {
		return nil, err
	}
	return signature.Values{{Name: spec.Outputs()[0].Name, JSON: replies.Quote(text)}}, nil
}
