package optimize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	summaryExamples  = 20 // the number of examples of Train in the prompt for the summary of the data
	proposalExamples = 5  // the number of demos, and of examples of Train, in the prompt for a proposal
)

// tips make the proposals differ: each prompt for a proposal has one of them.
var tips = []string{
	"Be clear and concise.",
	"Be specific: describe the task, its conventions and its difficult cases in detail.",
	"Describe step by step how to find the answer.",
	"Explain how mistakes that are easy to make are avoided.",
	"Tell the model which expert it is, and what an expert pays attention to.",
}

// proposeInstructions has the reflection model write instructions for each predictor.
func (s *miproSearch) proposeInstructions(ctx context.Context) error {
	for _, p := range s.predictors {
		s.instructions = append(s.instructions, []string{s.task.start.states[p.Path].Instructions})
	}
	if s.Instructions == 1 {
		return nil
	}
	summary, err := s.task.ask(ctx, s.summaryPrompt())
	if err != nil && !errors.Is(err, errBudget) {
		return err
	}
	for i, p := range s.predictors {
		for n := range s.Instructions - 1 {
			if s.lastCall(0) || s.task.ledger.left(reflection) == 0 {
				break
			}
			text, err := askForText(ctx, s.task, s.proposalPrompt(i, n, summary))
			if errors.As(err, new(unusableError)) {
				s.task.warn("%v", err)
				continue
			}
			if err != nil {
				return err
			}
			if !slices.Contains(s.instructions[i], text) {
				s.instructions[i] = append(s.instructions[i], text)
			}
		}
		if len(s.instructions[i]) == 1 {
			s.task.warn("MIPROv2: the reflection model proposed no new instructions for %s; use another model or a "+
				"higher temperature", p.Path)
		}
	}
	return nil
}

// summaryPrompt asks for a summary of what the examples have in common.
func (s *miproSearch) summaryPrompt() string {
	var b strings.Builder
	b.WriteString("A program answers questions with the help of a language model.\n")
	writeExamples(&b, "These are inputs, with the answers that are expected.", 1,
		s.task.someOfTrain(s.task.rand, summaryExamples))
	b.WriteString(`
Describe in at most ten sentences what a person needs to know to answer such questions:

- State the task, the topics, the form and the conventions of the answers, and what is difficult.
- State rules that hold for other inputs of the same kind. Do not copy examples.
` + asData)
	return b.String()
}

// proposalPrompt asks for new instructions of a predictor.
func (s *miproSearch) proposalPrompt(predictor, n int, summary string) string {
	var b strings.Builder
	p := s.predictors[predictor]
	b.WriteString("A program asks a language model in these steps:\n\n")
	for _, other := range s.task.predictors {
		fmt.Fprintf(&b, "- %s: %s\n", other.Path, data(other.Spec.String()))
	}
	b.WriteString("\n")
	writeStep(&b, p)
	b.WriteString("This is what somebody noticed about its inputs and answers:\n\n")
	element(&b, "data", data(summary))
	fmt.Fprintf(&b, "\nYou write the instructions that it gives the model in the step %s. "+
		"These are the current ones:\n\n", p.Path)
	writeCurrent(&b, s.instructions[predictor][0])
	demos := s.demoTexts(predictor, n)
	writeExamples(&b, "These are inputs of the step, with outputs that were right.", 1, demos)
	writeExamples(&b, "These are inputs of the whole program, with the answers that are expected.", len(demos)+1,
		s.task.someOfTrain(s.task.rand, proposalExamples))
	fmt.Fprintf(&b, `
Write better instructions for the step:

- State every rule and convention that can be seen above. The model will see your instructions and a new input.
- Write rules that hold for other inputs of the same kind. Do not copy examples, their inputs or their answers.
- The program describes the fields and the form of the reply itself; do not repeat that.
- %s
`, tips[n%len(tips)])
	writeEnd(&b)
	return b.String()
}

// demoTexts returns demos for the n-th proposal for a predictor. Each proposal gets another set of demos.
func (s *miproSearch) demoTexts(predictor, n int) []string {
	if s.demos == nil {
		return nil
	}
	sets, shown := s.demos[predictor], []string(nil)
	demos := sets[(n+1)%len(sets)]
	for _, d := range demos[:min(proposalExamples, len(demos))] {
		var e strings.Builder
		element(&e, "inputs", data(d.Inputs.String()))
		for _, s := range d.Steps {
			element(&e, "outputs", data(s.Outputs.String()))
			element(&e, "result", data(s.Observation))
		}
		element(&e, "outputs", data(d.Outputs.String()))
		shown = append(shown, e.String())
	}
	return shown
}
