package module

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/signature"
)

// ProgramOfThought answers by computing: it asks the model for a JavaScript program that computes the answer, checks it
// and runs it. If the first program works, one model call is enough. It is safe for concurrent use.
//
// It works like a [CodeAct] without tools. In addition, if a program does not submit an answer but its value is a valid
// answer, that value is accepted.
//
// The method was published by Chen et al., "Program of Thoughts Prompting" (TMLR 2023).
type ProgramOfThought[In, Out any] struct {
	// Predictor asks for the program.
	Predictor *Predictor

	coder coder[In, Out]
}

// NewProgramOfThought returns a module that answers sig with programs, which have sig's inputs as constants. Nil
// options mean the defaults. Run reports missing or incompatible parts before it calls the model.
func NewProgramOfThought[In, Out any](
	sig *signature.Signature[In, Out], model llms.Model, box Sandbox, o *Options,
) *ProgramOfThought[In, Out] {
	p := &ProgramOfThought[In, Out]{coder: coder[In, Out]{
		name: "ProgramOfThought", signature: sig,
		environment: environment{box: box, options: o.orDefault(3), values: true},
	}}
	p.Predictor = p.coder.question(model, "")
	return p
}

// Run asks for a program, runs it, and shows the model what happened, until there is an answer. It returns what
// [CodeAct.Run] returns.
func (p *ProgramOfThought[In, Out]) Run(ctx context.Context, in In) (*Prediction[Out], error) {
	if p == nil || p.coder.name == "" {
		return nil, notMade("ProgramOfThought")
	}
	act := CodeAct[In, Out]{Predictor: p.Predictor, coder: p.coder}
	return act.Run(ctx, in)
}
