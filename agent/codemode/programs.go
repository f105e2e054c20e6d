package codemode

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// savedPrograms returns a function that adds the saved programs to a set, or nil. The set has the policies and only the
// tools of one principal.
func (s *Server) savedPrograms(ctx context.Context) func(*tools.Set) (*tools.Set, []error) {
	if s.options.Programs == "" {
		return nil
	}
	return func(set *tools.Set) (*tools.Set, []error) {
		with, leftOut, err := agent.WithPrograms(ctx, set, s.options.Programs, nested{s.box}, nil)
		if err != nil {
			return set, []error{err}
		}
		return with, leftOut
	}
}

type leftKey struct{}

// withNested limits the time of the saved programs that a client's program calls.
func withNested(ctx context.Context, limit time.Duration) context.Context {
	left := new(atomic.Int64)
	left.Store(int64(limit))
	return context.WithValue(ctx, leftKey{}, left)
}

// nested runs saved programs. The clock of the calling program stands still meanwhile, so that it could otherwise occupy
// its place in the queue for as long as it makes calls.
type nested struct{ *sandbox.Sandbox }

// Run implements [module.Sandbox].
func (n nested) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	left, ok := ctx.Value(leftKey{}).(*atomic.Int64)
	if !ok { // a task, whose time is limited
		return n.Sandbox.Run(ctx, p)
	}
	if p.Limits.Time = time.Duration(left.Load()); p.Limits.Time <= 0 {
		return nil, &tools.ToolError{Kind: tools.KindLimit,
			Message: "the saved programs that the program called have used up its time; this one was not run"}
	}
	began := time.Now()
	defer func() { left.Add(-int64(time.Since(began))) }()
	return n.Sandbox.Run(ctx, p)
}
