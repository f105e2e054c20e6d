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

// shadow is what a run of a [Program] compares if its input has kinds of values that no example had.
type shadow struct {
	kinds    []string
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
	alone = slices.ContainsFunc(p.tools.Bindings(), func(b *tools.Binding) bool { return b.Hints.Class != tools.Read })
	s = &shadow{compared: p.compared}
	for _, kind := range kinds.Of(p.coder.signature.Spec().InputSchema(), raw) {
		if equal, known := p.compared.Load(kind); equal != true && !slices.Contains(p.Script.Seen, kind) {
			s.kinds, alone = append(s.kinds, kind), alone || known
		}
	}
	if s.kinds == nil {
		return nil, false
	}
	if s.why = "no example had an input of this kind: " + strings.Join(s.kinds, ", "); state.Frozen(ctx) {
		s.compared = &sync.Map{} // no run of an evaluation depends on another
	}
	return s, alone
}

// holdBack decides whether the answer of the compiled program is only kept for a comparison. If so, it ends the step,
// and the model is asked as if there were no program.
func (r *codeRun) holdBack(answer json.RawMessage) bool {
	if r.shadow == nil || !r.isCompiled() {
		return false
	}
	r.shadow.given, r.problem = answer, errors.New(r.shadow.why)
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
