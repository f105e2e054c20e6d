package module

import (
	"context"

	"github.com/writ-go/writ/sandbox"
)

// asking is the notebook of an RLM, whose programs may ask models.
type asking struct {
	*notebook
	calls  *subCalls
	free   map[string]int // calls that do not count as those of tools
	limits sandbox.Limits // of each program
}

// Limits returns those of each program.
func (a *asking) Limits() sandbox.Limits { return a.limits }

// Run runs the next program. The inputs are the session's: they are sent once.
func (a *asking) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	inputs := p.Inputs
	p.Inputs, p.Uncounted, p.Limits = nil, a.free, a.limits
	p.Limits.Memory = 0 // which is the sandbox's
	out, lost, err := a.run(a.calls.in(ctx), p, inputs)
	if lost {
		f := &out.Failure.Findings[0]
		f.Hint += "; prompts that were answered are answered again at once, at no cost"
		out.Failure.Finding = *f
	}
	return out, err
}
