package module

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/module/internal/kinds"
	"github.com/writ-go/writ/module/internal/state"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// shadow is what a run of a [Program] compares if its input, its answer or its calls are of kinds that no example had.
type shadow struct {
	kinds    []string
	seen     []string        // the kinds that the examples had
	outputs  *schema.Schema  // of the answer
	why      string          // why the model is asked
	compared *sync.Map       // for each kind that was compared, whether the answers were equal
	given    json.RawMessage // the answer of the compiled program, or nil
}

// shadow returns what a run with the input compares, or nil. It also reports whether the model must answer alone,
// because the program was wrong before, or because a call could have an effect, which must not happen twice.
func (p *Program[In, Out]) shadow(ctx context.Context, in In) (s *shadow, alone bool) {
	if !p.Shadow || p.coder.err != nil || p.Predictor.Model == nil {
		return nil, false
	}
	raw, err := schema.Marshal(in)
	if err != nil {
		return nil, false // the run returns the error
	}
	spec := p.coder.signature.Spec()
	s = &shadow{compared: p.compared, seen: p.Script.Seen, outputs: spec.OutputSchema()}
	s.notice("an input", kinds.Of(spec.InputSchema(), raw))
	acts := func(b *tools.Binding) bool { return b.Hints.Class != tools.Read }
	wasCompared := func(kind string) bool { _, known := p.compared.Load(kind); return known }
	alone = slices.ContainsFunc(p.tools.Bindings(), acts) || slices.ContainsFunc(s.kinds, wasCompared)
	if s.kinds == nil && alone { // calls may have effects, so that a run cannot be compared after the program has run
		return nil, false
	}
	if state.Frozen(ctx) {
		s.compared = &sync.Map{} // no run of an evaluation depends on another
	}
	return s, alone
}

// notice keeps the kinds of an input or a run that no example had, except those about which the program and the model
// gave equal answers.
func (s *shadow) notice(what string, all []string) {
	for _, kind := range all {
		if equal, _ := s.compared.Load(kind); equal != true && !slices.Contains(s.seen, kind) {
			s.kinds = append(s.kinds, kind)
		}
	}
	s.why = "no example had " + what + " of this kind: " + strings.Join(s.kinds, ", ")
}

// holdBack decides whether the answer of the compiled program is only kept for a comparison. If so, it ends the step,
// and the model is asked as if there were no program.
func (r *codeRun) holdBack(answer json.RawMessage) bool {
	s := r.shadow
	if s == nil || !r.isCompiled() {
		return false
	}
	// A Script without kinds of runs was written for inputs alone.
	isOfRun := func(kind string) bool { return strings.HasPrefix(kind, "answer") || strings.HasPrefix(kind, "calls ") }
	if s.kinds == nil && slices.ContainsFunc(s.seen, isOfRun) {
		s.notice("a run", kinds.OfRun(s.outputs, answer, r.outcome.Calls))
	}
	if s.kinds == nil {
		return false
	}
	s.given, r.problem = answer, errors.New(s.why)
	r.journal.Accept()
	r.endStep()
	return true
}

// accept ends the last step with an answer, and compares it with the answer that was held back, if there is one.
func (r *codeRun) accept(answer json.RawMessage) *recorder {
	if s := r.shadow; s != nil && s.given != nil {
		equal := canonical.Equal(s.given, answer)
		for _, kind := range s.kinds {
			if _, known := s.compared.LoadOrStore(kind, equal); known && !equal {
				s.compared.Store(kind, false)
			}
		}
		if !equal {
			r.mu.Lock()
			r.Fallback = "the program and the model gave different answers; " + s.why
			r.mu.Unlock()
		}
	}
	return r.run.accept()
}
