package module

import (
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

// unread returns the observation on a reply without a program that can be run. The step is free unless the reply
// repeats the one before.
func (r *codeRun) unread(err error) *prompt.Observation {
	if n := len(r.Steps); n == 1 || r.Steps[n-2].Reply != r.last().Reply {
		r.forgive()
	}
	return prompt.Unread(err)
}

// report returns the observation on a program that did not submit. If the program ran to its end, the journal's
// step is closed, since its effects are done.
func (r *codeRun) report(out *sandbox.Outcome) *prompt.Observation {
	if r.repeats() == 0 && isFree(out) && !r.isCompiled() {
		r.forgive()
	}
	return r.step(out, out.Failure == nil).Report()
}

// rejected returns the observation on an answer that is not valid.
func (r *codeRun) rejected(spec *signature.Spec, out *sandbox.Outcome, err error) *prompt.Observation {
	r.misshapen(spec, out.Value)
	r.problem = fmt.Errorf("the answer is not valid: %w", err)
	return r.step(out, r.session).Rejected(spec, err)
}

// askAboutOrphans ends the step of a valid answer, and reports whether the model is asked about effects of earlier
// programs that this one did not call. This happens once in a run, if a turn is free.
func (r *codeRun) askAboutOrphans(answer json.RawMessage) bool {
	orphans := slices.DeleteFunc(r.journal.Accept(), r.confirmed(answer))
	r.keepOrphans(orphans)
	if len(orphans) == 0 || r.asked || !r.forgive() {
		return false
	}
	r.asked = true
	r.problem = errors.New("the program did not ask for the effects of earlier ones")
	open := slices.ContainsFunc(r.Evidence, func(f sandbox.Finding) bool { return f.Kind == evidence.KindFailedEffect })
	r.observe(prompt.Orphaned(answer, orphans, open))
	return true
}

// step describes the last step. If it closes the journal's step, its effects are done.
func (r *codeRun) step(out *sandbox.Outcome, closes bool) prompt.Step {
	s := prompt.Step{
		Code: r.last().Code, Outcome: out, Left: r.left(), Session: r.session, Same: r.repeats(),
		Entries: r.journal.Entries(), Open: r.journal.Open(), Closed: closes,
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
	budget := ""
	if r.budget != nil {
		budget = r.budget()
	}
	o.End(r.fresh, r.left(), budget, r.journal.Entries()[r.last().before:])
	r.fresh = ""
	r.run.observe(o.String(), o.Brief())
}

// isFree reports whether a program does not count as a step: it was refused or held, or did nothing but look
// for tools.
func isFree(out *sandbox.Outcome) bool {
	if f := out.Failure; f != nil {
		return !f.Ran() || f.Kind == sandbox.KindHeld
	}
	acts := func(c sandbox.Call) bool { return !prompt.Discovers(c) }
	return len(out.Calls) > 0 && !slices.ContainsFunc(out.Calls, acts)
}

// repeats returns the number of an earlier program that is the last one and had the same result, or 0.
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
