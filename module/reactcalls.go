package module

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
)

// callTools makes the calls of a reply in the provider's protocol, one after the other. It reports whether the answer
// was submitted.
func (a *ReAct[In, Out]) callTools(
	ctx context.Context, r *reactRun,
) (out Out, answer json.RawMessage, done bool, err error) {
	calls := r.toolCalls
	switch s := r.last(); {
	case s.Truncated:
		r.forgiveMistake()
		r.toolCalls, r.wrote = nil, nil // calls without results
		r.observe("Your reply was cut off at the limit of tokens, so nothing was called. " +
			"Call fewer tools at once, or write less.")
		return out, nil, false, nil
	case len(calls) == 0:
		r.forgiveMistake()
		r.observe("Your reply cannot be used: " + conversation.ErrNoCall.Error() + ".")
		return out, nil, false, nil
	}
	r.reasoning = strings.TrimSpace(r.last().Reply)
	if path := r.predictor.calling.Path(calls[0]); path == conversation.Submit && len(calls) == 1 {
		args, err := argumentsOf(calls[0])
		if err == nil {
			out, answer, err = a.answer(r, replies.Action{Tool: conversation.Submit, Args: args})
		}
		if err == nil {
			return out, answer, true, nil
		}
		r.tellResults([]string{r.rejected(a.signature.Spec(), answer, err)})
		return out, nil, false, nil
	}
	told, err := r.callEach(ctx, calls)
	if err != nil {
		return out, nil, false, err
	}
	r.forgiveMistake()
	r.tellResults(told)
	return out, nil, false, nil
}

// callEach makes calls one after the other, and returns the observation on each. An error ends the run.
func (r *reactRun) callEach(ctx context.Context, calls []llms.ToolCall) (told []string, err error) {
	for _, c := range calls {
		path := r.predictor.calling.Path(c)
		switch path {
		case "":
			name := shorten(c.FunctionCall.Name, conversation.MaxToolName)
			told = append(told, fmt.Sprintf("Nothing was called: there is no tool %q.", name))
			continue
		case conversation.Submit:
			told = append(told, "The answer was not accepted: call submit alone, after you have seen the results of "+
				"the other calls.")
			continue
		}
		args, err := argumentsOf(c)
		if err != nil {
			told = append(told, fmt.Sprintf("%s was not called: %s", path, prompt.Indented(err.Error())))
			continue
		}
		text, err := r.call(ctx, replies.Action{Tool: path, Args: args})
		if err != nil {
			r.ended()
			return nil, err
		}
		told = append(told, text)
	}
	return told, nil
}

// argumentsOf returns the arguments of a call.
func argumentsOf(c llms.ToolCall) (json.RawMessage, error) {
	args, plain, err := replies.Arguments(c.FunctionCall.Arguments)
	if err == nil && plain {
		err = errors.New("it is not one JSON object")
	}
	if err != nil {
		return nil, fmt.Errorf("its argument cannot be read: %w", err)
	}
	return args, nil
}

// tellResults ends a step with the results of its calls.
func (r *reactRun) tellResults(told []string) {
	told[len(told)-1] += r.remaining()
	r.results = told
	r.tell(strings.Join(told, "\n\n"))
}
