package module

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/evidence"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// gate decides whether the model must confirm an answer before it is accepted.
type gate struct {
	lists     evidence.Lists
	find      func(path string) *tools.Binding
	acted     bool              // a call that can change data was made or held
	told      map[string]bool   // the messages for the facts that the model was asked about
	questions int               // how often the model was asked
	answer    json.RawMessage   // the answer that the model was last asked to confirm
	facts     []sandbox.Finding // the facts about that answer
	calls     []sandbox.Call    // the calls of the program that gave that answer
}

func newGate(set *tools.Set) gate {
	return gate{told: map[string]bool{}, find: evidence.Finder(set)}
}

const (
	maxQuestions = 3 // questions in a run
	maxFacts     = 5 // facts in a question
)

// question decides whether the model must confirm a valid answer that facts contradict. If so, question ends the step
// with an observation about the facts and returns true. The model is asked at most once about the same facts, and only
// if a free turn is left; if it then gives the same answer, the answer is accepted. Without a session, the journal's
// step stays open, so that no effect is repeated.
func (r *codeRun) question(out *sandbox.Outcome, answer json.RawMessage) bool {
	facts := r.judge(r.run, out, answer)
	if bytes.Equal(answer, r.gate.answer) {
		if len(out.Calls) == 0 {
			r.keepEvidence(r.gate.facts)
		}
		return false
	}
	known := func(f sandbox.Finding) bool { return r.told[f.Message] }
	fresh := slices.DeleteFunc(slices.Clone(facts), known)
	if len(fresh) == 0 || r.questions == maxQuestions || !r.forgive() {
		return false
	}
	for _, f := range fresh {
		r.told[f.Message] = true
	}
	r.questions++
	r.gate.answer, r.gate.facts, r.gate.calls = answer, facts, out.Calls
	r.problem = fmt.Errorf("the answer may be wrong: %s", fresh[0])
	r.observe(r.step(out, r.session).Questioned(fresh[:min(len(fresh), maxFacts)]))
	return true
}

// judge returns the facts that contradict the last program's outcome and answer, and keeps them for the trajectory. The
// answer is nil if the program did not submit one.
func (g *gate) judge(r *run, out *sandbox.Outcome, answer json.RawMessage) []sandbox.Finding {
	unresolved, entries := r.ofTurn(r.journal.Unresolved()), r.ofTurn(r.journal.Entries())
	failed := evidence.Failed(answer, unresolved, entries, out.Calls, g.find)
	facts := evidence.Sorted(slices.Concat(out.Warnings, failed, g.lists.Unfinished(), evidence.Answer(answer)))
	r.keepEvidence(facts)
	return facts
}

// confirmed reports whether the entry records a call of the program whose answer the model was asked to confirm.
func (g *gate) confirmed(e journal.Entry) bool {
	return slices.ContainsFunc(g.calls, func(c sandbox.Call) bool {
		return c.Error == nil && c.Tool == e.Tool && bytes.Equal(c.Args, e.Args)
	})
}

// guardedAttempt is an attempt that stops a program before the run's first effect if the program has read only parts of
// lists. It does so at most once in a run.
type guardedAttempt struct {
	*journal.Attempt
	run *codeRun
}

// Issue implements [dispatch.Attempt].
func (h guardedAttempt) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	r := h.run
	if r.acted || !evidence.Acts(c.Tool) || r.lists.Has(c.Tool) {
		return h.Attempt.Issue(c, all)
	}
	r.acted = true
	facts := r.lists.Current(false)
	if len(facts) == 0 || r.free == 0 || r.isCompiled() {
		return h.Attempt.Issue(c, all)
	}
	var b strings.Builder
	for _, f := range facts[:min(len(facts), maxFacts)] {
		f.Column = 0
		fmt.Fprintf(&b, "line %d: %s ", f.Line, f.Message)
	}
	return nil, &tools.HoldError{
		Call: fmt.Sprintf("%s(%s)", c.Tool.Path(), shorten(string(c.Args), 200)),
		Message: "it is the first that may change data, and lists that this program read are not complete: " +
			b.String() + "If the program needs no more of them, write it again as it is",
	}
}
