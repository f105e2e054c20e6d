package module

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/module/internal/conversation"
	"github.com/writ-go/writ/module/internal/memo"
	"github.com/writ-go/writ/module/internal/notebook"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/search"
)

// coder is the part that all modules with programs share.
type coder[In, Out any] struct {
	name      string // the module's kind
	signature *signature.Signature[In, Out]
	environment
	err error // why the module cannot run
}

// environment is what a module needs to run programs.
type environment struct {
	box     Sandbox
	set     *tools.Set
	options Options
	tools   *declare.Declarations // the declarations of set
	past    *conversation.Past    // earlier turns of a Chat, or nil
	talk    *journal.Journal      // the journal of all turns of a Chat, or nil
	session bool                  // programs can use earlier programs' variables
	chat    bool                  // the run is a turn of a conversation
	values  bool                  // a program may give its answer as its value instead of submitting it
	budget  func() string         // tells the model what is left of an RLM's budget; may be nil

	compiled *compiled  // the program that runs first, or nil
	shadow   *shadow    // what is compared with the compiled program, or nil
	sub      *Predictor // answers calls of llm by the compiled program, or nil

	limits    sandbox.Limits // each program's limits, or zero for box's limits
	uncounted map[string]int // for each tool, how many calls do not count against Limits.Calls

	typed    *memo.Last[*tools.Set, *declare.Declarations] // the set's declarations with learned types
	extended *memo.Last[*tools.Set, *tools.Set]            // the set with tools.search and tools.describe
}

// programTools returns the tools for programs: the set, tools.search and tools.describe. It returns the same Set for
// every program, so that a worker receives the tools only once.
func (e *environment) programTools() *tools.Set {
	return e.extended.Get(e.set, func() *tools.Set {
		index := search.New(e.set, cmp.Or(limitsOf(e.box).Output, prompt.MaxText))
		return index.ByMeaning(e.options.Embedder, e.options.Logger).Extended()
	})
}

// question returns the Predictor that asks for the next program, or nil if the module cannot run. The strategy is
// additional advice for the model.
func (c *coder[In, Out]) question(model llms.Model, strategy string) *Predictor {
	spec := specOf(c.signature)
	if c.err == nil {
		c.err = checkParts(spec, c.box, c.set)
	}
	if c.err != nil {
		return nil
	}
	p := c.options.predictor(model)
	if _, keeps := c.box.(keeper); keeps {
		c.session, p.shares = true, sharedSession
	} else if c.chat {
		p.shares = sharedConversation
	}
	p.Spec, p.task = replies.ProgramSpec(spec), spec
	p.setTools(c.set)
	c.typed, c.extended = &memo.Last[*tools.Set, *declare.Declarations]{}, &memo.Last[*tools.Set, *tools.Set]{}
	c.tools = declare.New(c.set, c.options.DeclarationTokens)
	p.Briefing = prompt.Code{
		Task: spec, Tools: c.tools.Text, Programs: c.options.MaxIters,
		Time:    cmp.Or(c.limits, limitsOf(c.box)).Time,
		Session: c.session, Chat: c.chat, Language: languageOf(c.options.Compiler), Strategy: strategy,
	}.String()
	c.options.logWarnings(c.set) // last, since declaring the tools compiles schemas, which may add warnings
	return p
}

// languageOf returns a compiler's description of its language, for the model.
func languageOf(c sandbox.Compiler) string {
	if d, ok := c.(interface{ Describe() string }); ok {
		return strings.TrimSpace(d.Describe()) + "\n"
	}
	return ""
}

// checkParts returns an error if a module with these parts cannot run programs.
func checkParts(spec *signature.Spec, box Sandbox, set *tools.Set) error {
	opened, isOurs := box.(*sandbox.Sandbox)
	session, isSession := box.(*sandbox.Session)
	switch {
	case spec == nil:
		return errNoSignature
	case box == nil, isOurs && opened == nil, isSession && session == nil: // the error of sandbox.New was ignored
		return errNoSandbox
	}
	taken := map[string]bool{}
	for _, b := range set.Bindings() {
		taken[cmp.Or(b.Object, b.Names[0])] = true // the global: a namespace or the tool itself
	}
	for _, f := range spec.Inputs() {
		switch {
		case globals.Reserved(f.Name):
			return fmt.Errorf("module: the input %q has the name of a global that programs use; rename the input",
				f.Name)
		case taken[f.Name]:
			return fmt.Errorf("module: the input %q has the same name as a tool or a namespace; rename one", f.Name)
		}
	}
	return nil
}

// ready returns an error if the sandbox or the compiler reports that it cannot be used.
func (e *environment) ready() error {
	for _, part := range []any{e.box, e.options.Compiler} {
		if p, ok := part.(interface{ Ready() error }); ok {
			if err := p.Ready(); err != nil {
				return err
			}
		}
	}
	return nil
}

// limitsOf returns a sandbox's limits, or zero Limits if the sandbox does not report any.
func limitsOf(box Sandbox) sandbox.Limits {
	if limited, ok := box.(interface{ Limits() sandbox.Limits }); ok {
		return limited.Limits()
	}
	return sandbox.Limits{}
}

// hasAnswer reports whether a program ended with an answer, valid or not. A compiled program's value is always an
// answer.
func (c *coder[In, Out]) hasAnswer(o *sandbox.Outcome, compiled bool) bool {
	return o.Submitted || compiled && o.Failure == nil || c.values && o.Failure == nil && replies.HasMembers(o.Value) &&
		c.signature.Spec().Validate(o.Value) == nil
}

// answer returns a program's answer as a JSON object with the signature's outputs.
func (c *coder[In, Out]) answer(o *sandbox.Outcome) json.RawMessage {
	if !o.Submitted && c.compiled == nil {
		return o.Value
	}
	return replies.Answer(c.signature.Spec(), o.Value)
}

// codeRun is one run of a module that writes programs.
type codeRun struct {
	*run
	environment
	gate
	types
	inputs            map[string]any
	askedAboutOrphans bool
	problem           error // why the last answer was not accepted, or nil
}

func (c *CodeAct[In, Out]) begin(ctx context.Context, in In) (context.Context, *codeRun, error) {
	switch {
	case c == nil || c.coder.name == "":
		return nil, nil, notMade("CodeAct")
	case ctx == nil:
		return nil, nil, errNoContext
	case c.coder.err != nil:
		return nil, nil, c.coder.err
	}
	if err := c.Predictor.usable(); err != nil && (err != errNoModel || c.coder.compiled == nil) {
		return nil, nil, err
	}
	spec := c.coder.signature.Spec()
	if err := checkFields(c.Predictor.Spec, spec.Inputs(), replies.ProgramAlone.Outputs()); err != nil {
		return nil, nil, err
	}
	if err := c.coder.ready(); err != nil {
		return nil, nil, err
	}
	inputs, err := c.coder.signature.Encode(in)
	if err != nil {
		return nil, nil, err
	}
	q, err := conversation.NewPreview(spec, inputs)
	if err != nil {
		return nil, nil, err
	}
	r := &codeRun{environment: c.coder.environment, gate: newGate(c.coder.set), inputs: map[string]any{},
		types: types{bytes: map[*tools.Binding]int{}}}
	for _, f := range spec.Inputs() {
		r.inputs[f.Name] = emptyValue(f) // programs have a constant for every input
	}
	for _, v := range inputs {
		r.inputs[v.Name] = v.JSON
	}
	variables, err := r.variables(ctx)
	if err != nil {
		return nil, nil, err
	}
	q.AddNote(variables)
	if r.talk != nil {
		q.AddNote(prompt.Uncertain(r.talk.Unresolved()))
	}
	q.Past, q.Briefing = r.past, r.applyTypes(c.Predictor.Briefing)
	q.AddNote(prompt.Matching(r.tools.Matching(prompt.TaskText(spec, q.Inputs))))
	if ctx, r.run, err = newRun(ctx, c.coder.name, c.Predictor, q); err != nil {
		return nil, nil, err
	}
	r.allowance = r.options.allowance()
	if r.shadow != nil && r.compiled == nil {
		r.fallback = r.shadow.why
	}
	return ctx, r, r.openJournal(ctx)
}

// openJournal opens the journal for the run's calls. If a call that has made the run is repeated, another turn of a
// conversation begins. A program without a model begins anew, because it cannot say how its calls relate to earlier
// ones.
func (r *codeRun) openJournal(ctx context.Context) error {
	if r.talk != nil && !durable.Recorded(ctx) {
		effect.Alone(ctx)
		r.keepCalls(r.talk, r.talk.Turn())
		return nil
	}
	if r.compiled != nil && r.predictor.Model == nil {
		ctx = effect.Alone(ctx)
	}
	return r.run.openJournal(ctx, r.options.Journal, true)
}

// emptyValue returns the constant that programs have for an input that is not set.
func emptyValue(f signature.Field) json.RawMessage {
	if f.Kind() == signature.KindHistory {
		return json.RawMessage("[]")
	}
	return json.RawMessage("null")
}

// program returns the compiled program in the first step of a [Program], and otherwise the program in the last reply.
// Whatever reply format an adapter asks for, models sometimes reply with a fenced block or with a bare program, so
// these are read as well.
func (r *codeRun) program(ctx context.Context) (replies.ProgramReply, error) {
	if r.isCompiled() {
		return replies.ProgramReply{Code: r.compiled.code}, nil
	}
	step, p := r.last(), r.predictor
	outputs, reasoning, err := p.read(step, replies.ProgramAlone, func(field string) bool { return field == "code" })
	if err != nil {
		found, unread := replies.ReadProgram(step.Reply, step.Truncated)
		if unread == nil || found.Code != "" && r.isProgram(ctx, found.Code) {
			return found, nil
		}
		return replies.ProgramReply{}, err
	}
	code, _ := outputs.Get("code")
	found := replies.ProgramReply{Reasoning: reasoning, Code: replies.PlainText(code)}
	if _, ok := p.adapter().(prompt.Program); !ok {
		found.Code, err = replies.Code(found.Code)
	}
	return found, err
}

// checker is a [Sandbox] that can check programs without running them.
type checker interface {
	Check(ctx context.Context, p sandbox.Program) (sandbox.CheckResult, error)
}

// isProgram reports whether a reply without a fence is a program, that is, whether it can be parsed and has a call or a
// declaration. If the check itself fails, isProgram returns true, and running the program reports the failure.
func (r *codeRun) isProgram(ctx context.Context, reply string) bool {
	box, ok := r.box.(checker)
	if !ok {
		return false
	}
	result, err := box.Check(ctx, sandbox.Program{Source: reply, Tools: r.programTools(), Compiler: r.options.Compiler})
	return err != nil || result.Acts
}

// extract asks for an answer without running further programs. It also accepts a program that only calls submit.
func (c *CodeAct[In, Out]) extract(ctx context.Context, r *codeRun) (out Out, raw json.RawMessage, err error) {
	if out, raw, err = extract(ctx, r.run, c.coder.signature); !errors.Is(err, ErrMaxIters) {
		return out, raw, err
	}
	program, unread := r.program(ctx)
	if unread != nil {
		return out, nil, err
	}
	answer, ok := replies.Submission(program.Code)
	if !ok {
		return out, nil, err
	}
	if out, err = decode(ctx, c.coder.signature, answer); err != nil {
		return out, nil, fmt.Errorf("%w, and the extracted answer is not valid: %w", ErrMaxIters, err)
	}
	return out, answer, nil
}

// keeper is a [Sandbox] that keeps programs' variables for later programs, such as a *[sandbox.Session].
type keeper interface {
	Sandbox
	Variables(ctx context.Context) ([]sandbox.Variable, error)
}

// variables returns a note that lists a session's variables for the model. Without variables, the note is "".
func (r *codeRun) variables(ctx context.Context) (string, error) {
	kept, ok := r.box.(keeper)
	if !ok {
		return "", nil
	}
	list, err := kept.Variables(ctx)
	switch {
	case errors.Is(err, notebook.ErrForgotten):
		return prompt.VariablesGone, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil: // if the session is broken, running the next program reports it
		return prompt.VariablesUnlisted, nil
	}
	return prompt.Variables(list, r.inputs), nil
}

// earlier returns the names that earlier programs declared and that the next program cannot use.
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
