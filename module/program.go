package module

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/search"
)

// Program answers with a program that was written earlier, instead of asking a model for one in each run. The program
// has the inputs as constants. It ends with submit(answer), or with the answer as its value.
//
// In each run, the program is checked against the current tools, and its answer is validated. A program written for a
// different signature, or for tools with different schemas, is not run; see [Script]. If the program is rejected, if it
// fails, or if its answer is invalid, and Predictor has a model, the run continues like a run of a [CodeAct] whose
// first program failed: the model sees what happened and writes the next program. All programs in a run share one
// journal, so no effect is repeated. A run never changes the Script.
//
// A program may ignore a rare case. If Shadow is set, an input or the program's answer has a kind of value that no
// example had, or the program calls a tool that it called in no example, and Predictor has a model, the model answers
// as well, as if there were no program, and its answer is returned. If both answers are equal, the program is trusted
// with that kind. If they differ, Trajectory.Fallback says so, and the model alone answers all further inputs of that
// kind. If the module has tools with effects, which must not happen twice, the model alone answers all inputs of such
// kinds, and answers and calls are not compared. What the comparisons find is not saved.
//
// Where judgment is needed, a program may call
//
//	await llm(prompt, schema)
//
// which returns a string or, with a JSON Schema, a value that is valid against it.
//
// Create a Program with [NewProgram] or, if a CodeAct should take over when the program fails, with [CodeAct.Program].
// Package optimize writes programs from examples. A Program is safe for concurrent use.
type Program[In, Out any] struct {
	// Script holds the program and describes what it was written for. [Script.Write] writes it to a file.
	Script Script

	// Predictor asks for further programs when the Script's program fails. NewProgram leaves its Model nil; then Run
	// returns an error instead.
	Predictor *Predictor

	// Sub answers calls to llm. It is nil if the program does not mention llm. Its Model is the Model of the Predictor.
	// If the Model is nil, the program cannot call llm.
	Sub *Predictor

	// Shadow makes the model answer as well if an input, an answer or a call is of a kind that is not in Script.Seen.
	// It is set at the beginning if Script.Seen is not empty, as in the Scripts of optimize.Compile.
	Shadow bool

	coder    coder[In, Out]
	tools    *tools.Set // the tools without llm
	compared *sync.Map  // see shadow
}

// NewProgram returns a module that answers sig with the program from s, which may call the tools in set; a nil set has
// no tools. If s has no Signature, the program is new, and NewProgram completes the module's Script with sig and the
// current tools. Nil options mean the defaults. MaxIters, 8 by default, does not count the program itself. Run reports
// missing or incompatible parts before it starts the program. If a model should write another program when this one
// fails, use [CodeAct.Program].
func NewProgram[In, Out any](
	sig *signature.Signature[In, Out], s Script, box Sandbox, set *tools.Set, o *Options,
) *Program[In, Out] {
	p := &Program[In, Out]{Script: s, coder: coder[In, Out]{
		signature: sig, environment: environment{box: box, set: set, options: o.orDefault(8)},
	}}
	p.Predictor = p.coder.question(nil, "")
	p.finish()
	return p
}

// Program returns a module that answers with the program from s, and otherwise has the parts and options of c. If the
// program fails, the run continues as a run of c. A Script without a Signature is completed as by [NewProgram]. The
// module has a copy of c's Predictor, so later changes to c do not affect it.
func (c *CodeAct[In, Out]) Program(s Script) *Program[In, Out] {
	p := &Program[In, Out]{Script: s}
	if c == nil || c.coder.name == "" {
		p.coder.err = notMade("CodeAct")
	} else {
		p.coder, p.Predictor = c.coder, Clone(c.Predictor)
	}
	p.finish()
	return p
}

// finish prepares the Script and, if the program mentions llm, Sub. The coder and the Predictor must be set.
func (p *Program[In, Out]) finish() {
	c := &p.coder
	if c.name = "Program"; c.err == nil && blank(p.Script.Code) {
		c.err = errors.New("module: the Program has no code; put it into Script.Code")
	}
	if c.err != nil {
		return
	}
	p.tools = c.set
	spec := c.signature.Spec()
	if q := p.Predictor; q != nil && q.Spec != nil { // its instructions may have been optimized
		spec = spec.WithInstructions(q.Spec.Instructions())
	}
	if c.compiled, c.err = p.Script.compile(spec, c.set); c.err != nil {
		return
	}
	p.Shadow, p.compared = len(p.Script.Seen) > 0, &sync.Map{}
	if namesIn(p.Script.Code)[llmTool.Name] {
		p.Sub = c.options.sub(p.Predictor.Model)
		if c.set, c.err = c.set.Plus(askTool); c.err == nil {
			c.err = checkParts(c.signature.Spec(), c.box, c.set)
		}
		p.Predictor.set = c.set
	}
}

// Run runs the program and, if it fails, asks the model for further programs. Run returns what [CodeAct.Run] returns;
// Trajectory.Fallback says why the model was asked. Without a model, Run returns an *[IncompleteError] that wraps the
// [ErrNoAnswer] and the reason, such as the *[sandbox.Failure] of the program.
func (p *Program[In, Out]) Run(ctx context.Context, in In) (pred *Prediction[Out], err error) {
	defer rescue("Run of Program", &err)
	if p == nil || p.coder.name == "" {
		return nil, notMade("Program")
	}
	act := CodeAct[In, Out]{Predictor: p.Predictor, coder: p.coder}
	act.coder.set = p.tools
	if p.coder.err == nil && p.Sub != nil && p.Sub.Model != nil {
		if err := p.Sub.usable(); err != nil {
			return nil, err
		}
		act.coder.set, act.coder.sub = p.coder.set, p.Sub
	}
	var alone bool
	if act.coder.shadow, alone = p.shadow(ctx, in); alone {
		act.coder.compiled = nil
	}
	return act.Run(ctx, in)
}

// Briefing returns what a model must know to write a program for this module: the constants, the answer's type, the
// tools, the language, and llm. It returns "" if the module cannot run.
func (p *Program[In, Out]) Briefing() string {
	if p == nil || p.coder.err != nil {
		return ""
	}
	c := &p.coder
	return prompt.Code{
		Task: c.signature.Spec(), Tools: declare.Markdown(p.tools, c.options.DeclarationTokens),
		Language: languageOf(c.options.Compiler), Compiled: true,
	}.String()
}

// Check returns why Run would not start the program now, such as a tool that no longer exists, or nil. It runs nothing.
// Run may still find errors that depend on the inputs.
func (p *Program[In, Out]) Check(ctx context.Context) (err error) {
	defer rescue("Check of Program", &err)
	switch {
	case p == nil || p.coder.name == "":
		return notMade("Program")
	case p.coder.err != nil:
		return p.coder.err
	case p.coder.compiled.outdated != "":
		return fmt.Errorf("module: %s", p.coder.compiled.outdated)
	}
	box, ok := p.coder.box.(checker)
	if !ok {
		return nil
	}
	c := sandbox.Program{Source: p.Script.Code, Inputs: map[string]any{}, Submit: true}
	c.Compiler = p.coder.options.Compiler
	if c.Tools = p.coder.programTools(); p.Sub != nil && p.Sub.Model == nil { // the program cannot call llm
		c.Tools = search.New(p.tools, prompt.MaxText).Extended()
	}
	for _, f := range p.coder.signature.Spec().Inputs() {
		c.Inputs[f.Name] = emptyValue(f)
	}
	result, err := box.Check(ctx, c)
	if err != nil {
		return err
	}
	for _, f := range result.Findings {
		err = errors.Join(err, errors.New(f.String()))
	}
	return err
}

// compiled is the program that a [Program] runs first.
type compiled struct {
	code     string
	outdated string // why it must not run, or ""
}

// isCompiled reports whether the current program is the compiled program: the last step's program or, before the first
// step, the next program.
func (r *codeRun) isCompiled() bool { return r.compiled != nil && len(r.Steps) <= 1 }

// ask begins a step. In the first step of a [Program], which runs the compiled program, it does not call the model, and
// the step does not count. In all other steps, it calls the model.
func (r *codeRun) ask(ctx context.Context) error {
	switch {
	case !r.isCompiled():
		return r.run.ask(ctx)
	case len(r.Steps) == 0:
		r.steps++
		return nil
	}
	why := r.problem
	if f := r.outcome.Failure; f != nil {
		why = f
	}
	if r.predictor.Model == nil {
		r.outcome = nil // the step has ended
		return &failures{"the compiled program failed and has no fallback: " + why.Error(), []error{ErrNoAnswer, why}}
	}
	reason := why.Error()
	if f := r.outcome.Failure; f != nil && len(f.Findings) > 0 {
		reason = f.Findings[0].String() // the error may begin with the number of findings
	}
	r.fallback = prompt.FirstLine(reason)
	return r.run.ask(ctx)
}

// outdated returns the outcome of a compiled program that must not run because the signature or a tool has changed. It
// returns nil for all other programs.
func (r *codeRun) outdated() *sandbox.Outcome {
	if !r.isCompiled() || r.compiled.outdated == "" {
		return nil
	}
	changed := sandbox.Finding{Kind: "changed", Message: r.compiled.outdated}
	return &sandbox.Outcome{Failure: &sandbox.Failure{Finding: changed, Findings: []sandbox.Finding{changed}}}
}
