package module

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/dispatch"
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
		why := prompt.Indented(err.Error())
		return fmt.Sprintf("Nothing was called: %s\nTo give the answer, call submit.", why), nil
	}
	call, err := r.perform(ctx, tool, a.Args)
	if err != nil {
		return "", err
	}
	b := r.tools.Bindings[tool]
	return prompt.Call(call, b) + toolbox.Remark(b, call), nil
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
	out, held, err := toolbox.Perform(ctx, r.tools.Issue(r.attempt, tool, &call, source, r.held[key]), &call)
	delete(r.held, key)
	if held != nil {
		r.heldNow[key] = held
		r.forgive()
	}
	if ctx.Err() != nil {
		err = lm.ContextError(ctx)
	}
	r.outcome = toolbox.Joined(r.outcome, out)
	r.gate.lists.Add(call, r.tools.Bindings[tool])
	r.emit(event.ToolCallEnd{Origin: r.at(len(r.Steps)), Call: call})
	return call, err
}

// begin reports to observers that one of the last step's calls begins. It returns the call, also as source code.
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
	if check, _ := fromCheck(err); check != nil {
		r.forgiveMistake()
	}
	return prompt.RejectedCall(task, answer, err)
}

// observe ends a step with an observation for the model.
func (r *reactRun) observe(text string) { r.tell(text + r.remaining()) }

func (r *reactRun) remaining() string { return prompt.Remaining(r.ahead(), "step", r.toolsLeft()) }

// forgiveMistake makes a step without calls free, unless the model repeats the previous step's reply.
func (r *reactRun) forgiveMistake() {
	reply := fmt.Sprint(r.last().Reply, r.toolCalls)
	if (r.outcome == nil || r.outcome.Submitted) && reply != r.mistake {
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
			out, answer, err = a.answer(ctx, r, args)
		}
		if end, ends := fromCheck(err); ends {
			r.endStep()
			return out, nil, false, end
		}
		if err == nil {
			return out, answer, true, nil
		}
		r.tellResults([]string{r.rejected(a.signature.Spec(), answer, err)})
		return out, nil, false, nil
	}
	told, err := r.callEach(ctx, calls)
	if err != nil {
		r.endStep()
		return out, nil, false, err
	}
	r.forgiveMistake()
	r.tellResults(told)
	return out, nil, false, nil
}

// callEach makes calls, one after another unless all of them only read, and returns the observation on each. An error
// ends the run.
func (r *reactRun) callEach(ctx context.Context, calls []llms.ToolCall) (told []string, err error) {
	if reads := r.reads(calls); len(reads) > 1 {
		return r.readAll(ctx, reads)
	}
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
			return nil, err
		}
		told = append(told, text)
	}
	return told, nil
}

// maxReads is how many calls in a reply are made at the same time, as in [sandbox.Limits].Concurrency.
const maxReads = 16

// read is a call that only reads.
type read struct {
	sandbox.Call
	tool   int
	issued *dispatch.Execution
	out    *sandbox.Outcome
	err    error // ends the run
}

// reads returns the calls in a reply if all of them can be made and only read.
func (r *reactRun) reads(calls []llms.ToolCall) (reads []read) {
	for _, c := range calls {
		tool, err := r.tools.Find(cmp.Or(r.predictor.calling.Path(c), "?"))
		args, unread := argumentsOf(c)
		if err != nil || unread != nil || r.tools.Bindings[tool].ReplayClass() != tools.Read {
			return nil
		}
		reads = append(reads, read{tool: tool, Call: sandbox.Call{Args: args}})
	}
	return reads
}

// readAll makes calls that only read, at the same time, and returns the observation on each. The calls are issued in
// their order, so that a journal can repeat them, and all of them end before readAll returns. An error ends the run.
func (r *reactRun) readAll(ctx context.Context, reads []read) (told []string, err error) {
	if err := r.journal.Reconcile(ctx); err != nil {
		return nil, err
	}
	for i := range reads {
		c := &reads[i]
		call, source := r.begin(i+1, c.tool, c.Args)
		c.Call = call
		c.issued = r.tools.Issue(r.attempt, c.tool, &c.Call, source, nil)
	}
	var wg sync.WaitGroup
	start, slots := time.Now(), make(chan struct{}, maxReads)
	for i := range reads {
		slots <- struct{}{}
		wg.Go(func() {
			c := &reads[i]
			c.Started = time.Since(start)
			c.out, _, c.err = toolbox.Perform(ctx, c.issued, &c.Call)
			r.emit(event.ToolCallEnd{Origin: r.at(len(r.Steps)), Call: c.Call})
			<-slots
		})
	}
	wg.Wait()
	all := sandbox.Outcome{Duration: time.Since(start), Waiting: time.Since(start)}
	for _, c := range reads {
		all.Calls, all.Failure = append(all.Calls, c.out.Calls...), cmp.Or(c.out.Failure, all.Failure)
		all.Value, all.Abandoned = c.out.Value, all.Abandoned+c.out.Abandoned
		b := r.tools.Bindings[c.tool]
		r.gate.lists.Add(c.Call, b)
		told, err = append(told, prompt.Call(c.Call, b)+toolbox.Remark(b, c.Call)), cmp.Or(err, c.err)
	}
	r.outcome = &all
	if ctx.Err() != nil {
		err = lm.ContextError(ctx)
	}
	return told, err
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
