package module

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/sandbox"
)

// doubted ends the step of an answer that is valid if the program took promises for
// results, or results for what they are not: the answer may rest on values that were not
// there. It reports whether the model is asked for the answer once more, which happens
// once a run, if a turn is free. The step stays open, so that no effect is repeated.
func (r *codeRun) doubted(out *sandbox.Outcome) bool {
	doubts := slices.DeleteFunc(slices.Clone(out.Warnings), func(f sandbox.Finding) bool {
		return f.Kind != sandbox.NotAwaited && f.Kind != sandbox.WrongType
	})
	if len(doubts) == 0 || r.doubts || !r.forgive() {
		return false
	}
	r.doubts = true
	var b strings.Builder
	b.WriteString("The answer has the right form, but it may rest on values that were not there:")
	for i := range doubts {
		doubts[i].Frame = ""
	}
	writeFindings(&b, doubts)
	b.WriteString("\nFix the program, then submit the answer again.")
	writeConsoles(&b, out)
	if r.session {
		b.WriteString("\n\nThe variables of the program are kept: go on from there.")
		r.closeStep(&b)
	} else {
		r.writeCalls(&b, out)
	}
	r.observe(b.String())
	return true
}

// earlier are the names that earlier programs declared, which the next one cannot see.
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
