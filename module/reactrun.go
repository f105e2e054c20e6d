package module

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/module/internal/toolbox"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// reactRun is one run of a ReAct.
type reactRun struct {
	*run
	tools     *toolbox.Toolbox
	attempt   *journal.Attempt // the attempt that records all calls in the run
	reasoning string           // the reasoning in the last reply
	mistake   string           // the previous step's reply
	gate      gate             // collects facts for the trajectory; the model is not asked about them

	// held has the calls that were held, by their keys, with the IDs of the journal entries that they resemble. heldNow
	// has the calls that were held in the current step; the observation at the step's end reports them.
	held, heldNow map[string][]string
}

// action reads the call that the model asks for in its last reply.
func (r *reactRun) action() (replies.Action, error) {
	needed := func(field string) bool { return field == "tool" }
	values, reasoning, err := r.predictor.read(r.last(), replies.ActionAlone, needed)
	if err != nil {
		return replies.Action{}, err
	}
	r.reasoning = reasoning
	return replies.ReadAction(values)
}

// call calls a tool, and returns the report for the model. An error ends the run.
func (r *reactRun) call(ctx context.Context, a replies.Action) (told string, err error) {
	tool, err := r.tools.Find(a.Tool)
	if err != nil {
		return nothingCalled(err), nil
	}
	call, err := r.perform(ctx, tool, a.Args)
	if err != nil {
		return "", err
	}
	return r.told(tool, call), nil
}

// nothingCalled returns the report on a call of a tool that does not exist.
func nothingCalled(err error) string {
	return fmt.Sprintf("Nothing was called: %s\nTo give the answer, call submit.", prompt.Indented(err.Error()))
}

// told returns the report on a call for the model.
func (r *reactRun) told(tool int, call sandbox.Call) string {
	b := r.tools.Bindings[tool]
	return prompt.Call(call, b) + toolbox.Remark(b, call)
}

// perform makes one of the last step's calls. If the same call was held in an earlier step, perform makes it now,
// because the model was told why it was held and repeats it anyway.
func (r *reactRun) perform(ctx context.Context, tool int, args json.RawMessage) (sandbox.Call, error) {
	id := 1
	if r.outcome != nil {
		id += len(r.outcome.Calls)
	}
	call, source := r.begin(id, tool, args)
	key, _ := r.tools.Bindings[tool].Key(call.Args) // invalid arguments have no key and are never held
	if err := r.journal.Reconcile(ctx); err != nil {
		unavailable := &tools.ToolError{Tool: call.Tool, Kind: tools.KindUnavailable, Message: err.Error()}
		call.Error = unavailable.WithCause(err)
		r.emit(event.ToolCallEnd{Origin: r.at(len(r.Steps)), Call: call})
		return call, err
	}
	out, held, err := r.tools.Issue(r.attempt, tool, &call, source, r.held[key])(ctx)
	delete(r.held, key)
	if held != nil {
		r.heldNow[key] = held
		r.forgive()
	}
	if ctx.Err() != nil {
		err = lm.ContextError(ctx)
	}
	r.outcome = toolbox.Joined(r.outcome, out, false)
	r.gate.lists.Add(call, r.tools.Bindings[tool])
	r.emit(event.ToolCallEnd{Origin: r.at(len(r.Steps)), Call: call})
	return call, err
}

// begin reports to observers that one of the last step's calls begins. It returns the call, and the call as a program
// would write it.
func (r *reactRun) begin(id, tool int, args json.RawMessage) (call sandbox.Call, source string) {
	b := r.tools.Bindings[tool]
	call = sandbox.Call{ID: id, Tool: b.Path(), Args: replies.Timed(b.InputSchema, args), Line: 1, Column: 1}
	source = r.start(call.Tool, call.Args)
	begun := call
	begun.Pending = true
	r.emit(event.ToolCallStart{Origin: r.at(len(r.Steps)), Call: begun})
	return call, source
}

// start reports to observers that one of the last step's calls begins. It returns the call as a program would write it.
func (r *reactRun) start(tool string, args json.RawMessage) (source string) {
	source = tool + "(" + string(args) + ")"
	r.emit(event.ProgramStart{Origin: r.at(len(r.Steps)), Code: source, Reasoning: r.reasoning})
	return source
}

// submit records the answer that the model submitted, and returns it as a JSON object of the signature's outputs.
func (r *reactRun) submit(args json.RawMessage, task *signature.Spec) json.RawMessage {
	answer := replies.Timed(task.OutputSchema().Raw(), args)
	answer = replies.Answer(task, task.OutputSchema().DropUnset(answer))
	r.start(conversation.Submit, answer)
	r.outcome = &sandbox.Outcome{Value: answer, Submitted: true}
	return answer
}

// rejected returns the observation on an invalid answer.
func (r *reactRun) rejected(task *signature.Spec, answer json.RawMessage, err error) string {
	r.allowMisshapen(task, answer)
	return prompt.RejectedCall(task, answer, err)
}

// observe ends a step with an observation for the model.
func (r *reactRun) observe(text string) { r.tell(text + r.remaining()) }

func (r *reactRun) remaining() string { return prompt.Remaining(r.left(), "step", "") }

// forgiveMistake makes a step without calls free, unless the model repeats the previous step's reply.
func (r *reactRun) forgiveMistake() {
	reply := fmt.Sprint(r.last().Reply, r.toolCalls)
	if r.outcome == nil && reply != r.mistake {
		r.forgive()
	}
	r.mistake = reply
}

// tell ends a step with text for the model. Calls that were held in the step may be repeated from now on.
func (r *reactRun) tell(text string) {
	maps.Copy(r.held, r.heldNow)
	clear(r.heldNow)
	r.run.observe(text, "")
}

// callTools makes the calls in a reply in the provider's protocol. Done reports whether the model
// submitted a valid answer.
func (a *ReAct[In, Out]) callTools(
	ctx context.Context, r *reactRun,
) (out Out, answer json.RawMessage, done bool, err error) {
	calls := r.toolCalls
	switch s := r.last(); {
	case s.Truncated:
		r.forgiveMistake()
		r.toolCalls, r.wrote = nil, nil // providers reject calls without results
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
			out, answer, err = a.answer(r, args)
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

// callEach makes calls, and returns the observation on each. Calls are made one after another if one of them may change
// data. An error ends the run.
func (r *reactRun) callEach(ctx context.Context, calls []llms.ToolCall) (told []string, err error) {
	told = make([]string, len(calls))
	var reads []read
	for i, c := range calls {
		tool, args, why := r.find(c)
		if why == "" && r.tools.Bindings[tool].ReplayClass() == tools.Read {
			reads = append(reads, read{at: i, tool: tool, args: args})
			continue
		} else if why == "" {
			reads = nil
			break
		}
		told[i] = why
	}
	if len(reads) > 1 {
		return told, r.readAll(ctx, reads, told)
	}
	for i, c := range calls {
		tool, args, why := r.find(c)
		if told[i] = why; why != "" {
			continue
		}
		call, err := r.perform(ctx, tool, args)
		if err != nil {
			r.endStep()
			return nil, err
		}
		told[i] = r.told(tool, call)
	}
	return told, nil
}

// find returns the tool and the arguments of a call, or why nothing is called.
func (r *reactRun) find(c llms.ToolCall) (tool int, args json.RawMessage, why string) {
	path := r.predictor.calling.Path(c)
	switch path {
	case "":
		name := shorten(c.FunctionCall.Name, conversation.MaxToolName)
		return 0, nil, fmt.Sprintf("Nothing was called: there is no tool %q.", name)
	case conversation.Submit:
		return 0, nil, "The answer was not accepted: call submit alone, after you have seen the results of the other calls."
	}
	args, err := argumentsOf(c)
	if err != nil {
		return 0, nil, fmt.Sprintf("%s was not called: %s", path, prompt.Indented(err.Error()))
	}
	if tool, err = r.tools.Find(path); err != nil {
		return 0, nil, nothingCalled(err)
	}
	return tool, args, ""
}

func argumentsOf(c llms.ToolCall) (json.RawMessage, error) {
	args, err := replies.Arguments(c.FunctionCall.Arguments)
	if err != nil {
		return nil, fmt.Errorf("its argument cannot be read: %w", err)
	}
	return args, nil
}

// tellResults ends a step with its calls' results.
func (r *reactRun) tellResults(told []string) {
	told[len(told)-1] += r.remaining()
	r.results = told
	r.tell(strings.Join(told, "\n\n"))
}
