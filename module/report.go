package module

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/evidence"
	"github.com/writ-go/writ/module/internal/prompt"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// unread returns the observation on a reply that has no program to run. The step is free unless the reply repeats the
// previous one.
func (r *codeRun) unread(err error) *prompt.Observation {
	if n := len(r.Steps); n == 1 || r.Steps[n-2].Reply != r.last().Reply {
		r.forgive()
	}
	return prompt.Unread(err)
}

// report returns the observation on a program that did not submit. If the program ran to its end, report closes the
// journal's step, since the program's effects are final.
func (r *codeRun) report(out *sandbox.Outcome) *prompt.Observation {
	if r.repeats() == 0 && isFree(out) && !r.isCompiled() {
		r.forgive()
	}
	return r.step(out, out.Failure == nil).Report()
}

// rejected returns the observation on an answer that is not valid.
func (r *codeRun) rejected(spec *signature.Spec, out *sandbox.Outcome, err error) *prompt.Observation {
	r.allowMisshapen(spec, out.Value)
	if check, _ := fromCheck(err); check != nil && r.repeats() == 0 && !r.isCompiled() {
		r.forgive()
	}
	r.problem = fmt.Errorf("the answer is not valid: %w", err)
	return r.step(out, r.session).Rejected(spec, err)
}

// askAboutOrphans decides whether the model must confirm a valid answer because earlier programs had effects that the
// last program did not ask for. If so, askAboutOrphans ends the step with a question about these effects and returns
// true. This happens at most once in a run, and only if a free turn is left.
func (r *codeRun) askAboutOrphans(answer json.RawMessage) bool {
	orphans := r.journal.Accept()
	if bytes.Equal(answer, r.gate.answer) {
		orphans = slices.DeleteFunc(orphans, r.confirmed)
	}
	r.keepOrphans(orphans)
	if len(orphans) == 0 || r.askedAboutOrphans || !r.forgive() {
		return false
	}
	r.askedAboutOrphans = true
	r.problem = errors.New("the program did not ask for the effects of earlier programs")
	open := slices.ContainsFunc(r.Evidence, func(f sandbox.Finding) bool { return f.Kind == evidence.KindFailedEffect })
	r.observe(prompt.Orphaned(answer, orphans, open))
	return true
}

// step describes the last step for an observation. If closes is set, the program's effects are final, and the journal's
// step is closed.
func (r *codeRun) step(out *sandbox.Outcome, closes bool) prompt.Step {
	s := prompt.Step{
		Code: r.last().Code, Outcome: out, Left: r.left(), Session: r.session, Same: r.repeats(),
		Entries: r.ofTurn(r.journal.Entries()), Open: r.journal.Open(), Closed: closes,
		CallLimit: limitsOf(r.box).Calls, Uncounted: r.uncounted, Partial: r.lists.Current(true),
	}
	if closes {
		s.Orphans = r.journal.Accept()
		r.keepOrphans(s.Orphans)
	}
	return s
}

// observe ends a step with its observation.
func (r *codeRun) observe(o *prompt.Observation) {
	budgets := []string{r.toolsLeft()}
	if r.budget != nil {
		budgets = append(budgets, r.budget())
	}
	o.End(r.fresh, r.ahead(), budgets, r.ofTurn(r.journal.Entries())[r.last().before:])
	r.fresh = ""
	r.run.observe(o.String(), o.Brief())
}

// isFree reports whether a program does not count as a step: it was rejected or held, or it only searched for tools.
func isFree(out *sandbox.Outcome) bool {
	if f := out.Failure; f != nil {
		return !f.Ran() || f.Kind == sandbox.KindHeld
	}
	acts := func(c sandbox.Call) bool { return !prompt.Discovers(c) }
	return len(out.Calls) > 0 && !slices.ContainsFunc(out.Calls, acts)
}

// repeats returns the number of an earlier step that had the same program and the same result as the last step, or 0.
func (r *codeRun) repeats() int {
	last := r.last()
	for i, s := range r.Steps[:len(r.Steps)-1] {
		same := slices.Equal(strings.Fields(s.Code), strings.Fields(last.Code))
		if s.Outcome != nil && same && sameEnd(s.Outcome, r.outcome) {
			return i + 1
		}
	}
	return 0
}

func sameEnd(a, b *sandbox.Outcome) bool {
	if a.Failure != nil && b.Failure != nil {
		return a.Failure.Kind == b.Failure.Kind && a.Failure.Message == b.Failure.Message
	}
	return a.Failure == b.Failure && a.Submitted == b.Submitted &&
		string(a.Value) == string(b.Value) && a.Stdout == b.Stdout
}
