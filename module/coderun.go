package module

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// coder is what modules that write programs are made of, besides the question. A
// module that gives each run a sandbox or tools of its own changes a copy.
type coder[In, Out any] struct {
	name      string // of the module
	signature *signature.Signature[In, Out]
	kit
	err error // why it cannot run
}

// kit is what programs are run with.
type kit struct {
	box     Sandbox
	set     *tools.Set
	options Options
	past    []message     // earlier turns of a chat
	session bool          // programs see what earlier ones declared
	chat    bool          // a run is a turn of a conversation
	values  bool          // a value that is a valid answer is as good as a submitted one
	budget  func() string // what else is left, for the model; nil for nothing

	uncounted map[string]int // the tools whose calls have a limit of their own
}

// question is the question for the next program, nil if the module cannot run. The
// strategy is how to go about it, if the module has one.
func (c *coder[In, Out]) question(model llms.Model, strategy string) *Predictor {
	spec := specOf(c.signature)
	if c.err == nil {
		c.err = usable(spec, model, c.box, c.set)
	}
	if c.err != nil {
		return nil
	}
	c.options.warn(c.set)
	if _, keeps := c.box.(keeper); keeps {
		c.session = true
	}
	p := c.options.predictor(model)
	p.Spec, p.task = replies.ProgramSpec(spec), spec
	p.Briefing = prompt.Code{
		Task: spec, Tools: c.options.declarations(c.set), Programs: c.options.MaxIters,
		Session: c.session, Chat: c.chat, Language: languageOf(c.options.Compiler), Strategy: strategy,
	}.String()
	return p
}

// made says why the module cannot run.
func (c *coder[In, Out]) made() error {
	if c.name == "" {
		return notMade("CodeAct")
	}
	return c.err
}

// answers reports whether a program has ended with an answer, valid or not.
func (c *coder[In, Out]) answers(o *sandbox.Outcome) bool {
	return o.Submitted || c.values && o.Failure == nil && gives(o.Value) && c.signature.Spec().Validate(o.Value) == nil
}

// answer is the answer of a program, in the form that the signature wants.
func (c *coder[In, Out]) answer(o *sandbox.Outcome) json.RawMessage {
	if o.Submitted {
		return replies.Answer(c.signature.Spec(), o.Value)
	}
	return o.Value
}

// gives reports whether a value is an object in which there is something: where all
// outputs are optional, an empty one would be valid, but was not meant.
func gives(value json.RawMessage) bool {
	var outputs signature.Values
	return json.Unmarshal(value, &outputs) == nil &&
		slices.ContainsFunc(outputs, func(v signature.Value) bool { return string(v.JSON) != "null" })
}

// languageOf is what a compiler tells models about programs.
func languageOf(c sandbox.Compiler) string {
	if d, ok := c.(sandbox.Describer); ok {
		return strings.TrimSpace(d.Describe()) + "\n"
	}
	return ""
}

// limitsOf returns the limits of a sandbox that tells them.
func limitsOf(box Sandbox) sandbox.Limits {
	if limited, ok := box.(interface{ Limits() sandbox.Limits }); ok {
		return limited.Limits()
	}
	return sandbox.Limits{}
}

// ready says why no program can be run, as far as the sandbox and the compiler tell.
func (k *kit) ready() error {
	for _, part := range []any{k.box, k.options.Compiler} {
		if p, tells := part.(interface{ Ready() error }); tells {
			if err := p.Ready(); err != nil {
				return err
			}
		}
	}
	return nil
}

// codeRun is one run of a module that writes programs: the trajectory, and the
// record of effects.
type codeRun struct {
	*run
	kit
	inputs map[string]any
	free   int  // steps that do not count
	asked  bool // the model was asked about orphans
	late   bool // no more reply is added for an answer of the wrong shape

	doubts   bool            // the model was asked about promises and texts that the program misused
	parsable map[string]bool // tools that the model knows to return JSON text
}

func (c *CodeAct[In, Out]) begin(ctx context.Context, in In) (context.Context, *codeRun, error) {
	if c == nil {
		return nil, nil, notMade("CodeAct")
	}
	if ctx == nil {
		return nil, nil, errNoContext
	}
	if err := c.coder.made(); err != nil {
		return nil, nil, err
	}
	if err := c.Predictor.usable(); err != nil {
		return nil, nil, err
	}
	if err := covers(c.Predictor.Spec, c.coder.signature.Spec().Inputs(), programAlone.Outputs()); err != nil {
		return nil, nil, err
	}
	if err := c.coder.ready(); err != nil {
		return nil, nil, err
	}
	inputs, err := c.coder.signature.Encode(in)
	if err != nil {
		return nil, nil, err
	}
	q, err := newPreview(c.coder.signature.Spec(), inputs)
	if err != nil {
		return nil, nil, err
	}
	r := &codeRun{kit: c.coder.kit, inputs: map[string]any{}, parsable: map[string]bool{}, late: c.coder.options.Extract}
	for _, f := range c.coder.signature.Spec().Inputs() {
		r.inputs[f.Name] = absent(f) // programs are told of every input
	}
	for _, v := range inputs {
		r.inputs[v.Name] = v.JSON
	}
	if q.note, err = r.variables(ctx); err != nil {
		return nil, nil, err
	}
	q.past = r.past
	if ctx, r.run, err = newRun(ctx, c.coder.name, c.Predictor, q); err != nil {
		return nil, nil, err
	}
	r.keepCalls(journal.New(r.options.Journal))
	return ctx, r, nil
}

// absent is the value of an input that was not given.
func absent(f signature.Field) json.RawMessage {
	if f.Kind() == signature.KindHistory {
		return json.RawMessage("[]")
	}
	return json.RawMessage("null")
}

// programAlone is what a reply cannot do without; what else is asked for is the
// reasoning.
var programAlone = signature.Must(signature.New[struct{}, struct {
	Code string `json:"code"`
}]("")).Spec()

// program finds the program in the last reply. Models answer with one in a fence now and then,
// whatever form an adapter asks for.
func (r *codeRun) program() (replies.Program, error) {
	step, p := r.last(), r.predictor
	values, err := p.read(step, func(field string) bool { return field == "code" })
	if err != nil {
		if found, unread := replies.ReadProgram(step.Reply, step.Truncated); unread == nil {
			return found, nil
		}
		return replies.Program{}, err
	}
	outputs, reasoning := p.explained(programAlone, values)
	code, _ := outputs.Get("code")
	found := replies.Program{Reasoning: reasoning, Code: replies.PlainText(code)}
	if _, ok := p.adapter().(prompt.Program); !ok {
		found.Code, err = replies.Code(found.Code)
	}
	return found, err
}

// execute runs the program of the last step.
func (r *codeRun) execute(ctx context.Context, p replies.Program) (*sandbox.Outcome, error) {
	step := len(r.Steps)
	r.emit(ProgramStart{r.at(step), p.Code, p.Reasoning})
	if err := r.journal.Reconcile(ctx); err != nil {
		r.ended()
		return nil, err
	}
	outcome, err := r.box.Run(ctx, sandbox.Program{
		Source: p.Code, Inputs: r.inputs, Tools: r.set, Attempt: r.journal.Attempt(), Submit: true,
		Compiler:  r.options.Compiler,
		Earlier:   r.earlier(),
		OnCalling: func(c sandbox.Call) { r.emit(ToolCallStart{r.at(step), c}) },
		OnCall:    func(c sandbox.Call) { r.emit(ToolCallEnd{r.at(step), c}) },
	})
	r.journal.End()
	r.outcome = outcome
	r.giveUp(outcome)
	switch {
	case err != nil:
		r.ended()
		return nil, err
	case outcome == nil:
		return nil, errors.New("the sandbox returned neither an outcome nor an error")
	}
	return outcome, nil
}

// giveUp tells of the calls that nobody waits for any more.
func (r *codeRun) giveUp(o *sandbox.Outcome) {
	if o == nil {
		return
	}
	for _, c := range o.Calls {
		if c.Pending {
			r.emit(ToolCallEnd{r.at(len(r.Steps)), c})
		}
	}
}

// keeper is a [Sandbox] whose programs see what earlier ones declared, such as a *[sandbox.Session].
type keeper interface {
	Sandbox
	Variables(ctx context.Context) ([]sandbox.Variable, error)
}

// errForgotten is the error of a keeper that has lost the variables of earlier programs.
var errForgotten = errors.New("the variables of earlier programs are gone")

// variables tells the model which variables its programs begin with. It returns "" if there are none.
func (r *codeRun) variables(ctx context.Context) (string, error) {
	kept, ok := r.box.(keeper)
	if !ok {
		return "", nil
	}
	list, err := kept.Variables(ctx)
	switch {
	case errors.Is(err, errForgotten):
		return prompt.VariablesGone, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil: // if the session is broken, the next program says so
		return prompt.VariablesUnlisted, nil
	}
	return prompt.Variables(list, r.inputs), nil
}

// earlier returns the names that earlier programs declared and that the next one cannot see.
func (r *codeRun) earlier() []string {
	if r.session {
		return nil
	}
	var names []string
	for _, s := range r.Steps {
		if s.Outcome != nil {
			names = append(names, s.Outcome.Declared...)
		}
	}
	return names
}
