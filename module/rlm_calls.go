package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/memo"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type subPrompt struct {
	Prompt string `json:"prompt" jsonschema:"minLength=1"`
}

// subTask is what a program of an [RLM] delegates with rlm: the input to RLM.Nested.
type subTask struct {
	Prompt  string          `json:"prompt"  jsonschema:"minLength=1,description=the task"`
	Context json.RawMessage `json:"context" jsonschema:"description=the material: any value"`
}

// subReply is the answer to a [subTask]: the output from RLM.Nested.
type subReply struct {
	Reply string `json:"reply"` // rlm returns it unchanged
}

var (
	subQuestion  = signature.Must(signature.New[subPrompt, subReply](""))
	taskQuestion = signature.Must(signature.New[subTask, subReply](
		"Do what the prompt says, with the context as the material."))
)

var (
	llmTool = &tools.Tool{
		Name: "llm", Description: "Asks a language model, which sees only the prompt. " +
			"An array asks all its prompts at once.",
		InputSchema: json.RawMessage(llmInput), OutputSchema: json.RawMessage(llmOutput),
		Hints: tools.Hints{Class: tools.Read}, Handler: answerPrompts,
	}
	rlmTool = tools.Func("rlm", "Works out a task over a context that is too long for one prompt.",
		func(ctx context.Context, in subTask) (string, error) {
			defer tools.Pause(ctx)()
			return subCallsOf(ctx).delegate(ctx, in)
		}, &tools.Hints{Class: tools.Read})
)

const (
	llmInput = `{"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {
		"prompt": {"anyOf": [{"type": "string", "minLength": 1},
		{"type": "array", "maxItems": 10000, "items": {"type": "string", "minLength": 1}}]}}}`
	llmOutput = `{"anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"},
		{"type": "object", "required": ["error"], "additionalProperties": false,
		"properties": {"error": {"type": "string"}}}]}}]}`
)

// answerPrompts handles llm.
func answerPrompts(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	var in struct{ Prompt json.RawMessage }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	if in.Prompt[0] == '"' {
		text, err := subCallsOf(ctx).ask(ctx, replies.PlainText(in.Prompt))
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

// subCalls makes the model calls for the programs of one run. It keeps the replies, so that a program that repeats a
// failed program's prompt does not pay for it again. Each program's context carries it.
type subCalls struct {
	budget lm.Meter
	width  int   // the maximum number of concurrent calls
	room   int64 // the maximum number of bytes of the answers to an array of prompts; as JSON, they are longer
	sub    *Predictor
	nested *RLM[subTask, subReply]

	answers memo.Answers
}

type subCallsKey struct{}

// subCallsOf returns the subCalls of the run. Only programs of an RLM have the tools that need it.
func subCallsOf(ctx context.Context) *subCalls {
	c, _ := ctx.Value(subCallsKey{}).(*subCalls)
	return c
}

// askAll sends several prompts, as many at the same time as the budget allows. A prompt that fails yields an
// object with the reason, so that the other answers are not lost.
func (c *subCalls) askAll(ctx context.Context, prompts []string) (json.RawMessage, error) {
	answers, errs := make([]any, len(prompts)), make([]error, len(prompts))
	answer := func(i int) (text string) {
		defer rescue("llm", &errs[i])
		text, errs[i] = c.ask(ctx, prompts[i])
		answers[i] = text
		return text
	}
	var wg sync.WaitGroup
	var next, size atomic.Int64
	for range min(len(prompts), c.width) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(prompts)) && size.Load() <= c.room; i = next.Add(1) - 1 {
				size.Add(int64(len(answer(int(i)))))
			}
		})
	}
	wg.Wait()
	if size.Load() > c.room {
		return nil, &tools.ToolError{Kind: tools.KindLimit, Message: fmt.Sprintf("the answers have more than %d bytes "+
			"together; send fewer prompts at a time (answered prompts are free)", c.room)}
	}
	for i, err := range errs {
		te, ok := errors.AsType[*tools.ToolError](err)
		switch {
		case err == nil:
		case ok && !tools.IsFatal(err):
			answers[i] = map[string]string{"error": te.Message}
		default:
			return nil, err
		}
	}
	return json.Marshal(answers)
}

// ask sends a prompt to the model and returns its reply.
func (c *subCalls) ask(ctx context.Context, text string) (string, error) {
	return c.answers.Once(subPrompt{text}, func() (string, error) {
		enclosing := scopeOf(ctx).run
		q := conversation.Question{Inputs: signature.Values{{Name: "prompt", JSON: replies.Quote(text)}}}
		ctx, r, err := newRun(ctx, "llm", c.sub, q)
		if err != nil {
			return "", err
		}
		r.path = "Sub"
		r.keepUsageOnly() // there may be thousands of these runs
		defer func() { enclosing.count(r.recorder) }()
		if err := r.ask(ctx); err != nil {
			return "", modelError(ctx, "", r.incomplete(err), err)
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
		if _, err := complete(r.recorder, out, raw, ""); err != nil {
			return "", modelError(ctx, "", err, err)
		}
		return out.Reply, nil
	})
}

// delegate runs a nested RLM.
func (c *subCalls) delegate(ctx context.Context, in subTask) (string, error) {
	return c.answers.Once(in, func() (string, error) {
		pred, err := c.nested.Run(ctx, in)
		if err == nil {
			return pred.Output.Reply, nil
		}
		return "", modelError(ctx, "the task was not worked out: ", err, reasonOf(err))
	})
}

// modelError returns the error that a program gets if a model call fails. The model that wrote the program can read the
// error's message, so the message leaves out the provider's message, which may contain addresses, keys and paths. For
// the host, the error wraps cause.
func modelError(ctx context.Context, prefix string, cause, err error) error {
	if ctx.Err() != nil {
		return cause
	}
	te := &tools.ToolError{Kind: tools.KindFailed, Message: prefix + wording(err)}
	if overBudget(err) {
		te.Kind = tools.KindBudget
		te.Message += "; go on without further calls"
	}
	return te.WithCause(cause)
}

// wording returns an error message in words that a model may see.
func wording(err error) string {
	failure, ok := errors.AsType[*lm.Error](err)
	spent, over := errors.AsType[*budget.Error](err)
	switch {
	case over:
		return "the budget allows no more than " + spent.Limit
	case ok:
		return lm.ForPrograms(failure)
	case errors.Is(err, errNothingSaid),
		errors.Is(err, ErrMaxIters),
		errors.Is(err, ErrNoAnswer):
		return shorten(err.Error(), maxReason) // these errors hold no secrets
	}
	return "it failed; the reason is not shown"
}
