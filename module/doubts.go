package module

import "github.com/writ-go/writ/sandbox"

// doubted ends the step of an answer that is valid if the program took promises for
// results, or results for what they are not, read only the first of several pages, or made
// calls beyond the limit: the answer may rest on values that were not there. It reports whether the model is asked for the
// answer once more, which happens once a run, if a turn is free. The step stays open, so
// that no effect is repeated.
func (r *codeRun) doubted(out *sandbox.Outcome) bool {
	var doubts []sandbox.Finding
	for _, f := range out.Warnings {
		switch f.Kind {
		case sandbox.KindNotAwaited, sandbox.KindWrongType, sandbox.KindCallLimit, sandbox.KindMorePages:
			f.Frame = ""
			doubts = append(doubts, f)
		}
	}
	if len(doubts) == 0 || r.doubts || !r.forgive() {
		return false
	}
	r.doubts = true
	o := &observation{happened: "The answer has the right form, but it may be wrong:" +
		findingLines(doubts) + "\nFix the program and submit its answer. If this one is right, submit it again."}
	if !r.session {
		r.showEffects(o, out)
	}
	showConsoles(o, out)
	r.goOn(o, out)
	r.observe(o)
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
