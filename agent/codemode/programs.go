package codemode

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// savedPrograms adds the saved programs to a set, which has only the tools of one principal. The errors say why some
// are left out.
func (s *Server) savedPrograms(ctx context.Context, set *tools.Set) (*tools.Set, []error) {
	if s.options.Programs == "" {
		return set, nil
	}
	with, leftOut, err := agent.WithPrograms(ctx, set, s.options.Programs, nested{s.box}, nil)
	if err != nil {
		return set, []error{err}
	}
	return with, leftOut
}

type leftKey struct{}

// withNested limits the time of all saved programs that a client's program calls. While they run, that program's clock
// stands still, so it could otherwise occupy its place in the queue for hours.
func withNested(ctx context.Context, limit time.Duration) context.Context {
	left := new(atomic.Int64)
	left.Store(int64(limit))
	return context.WithValue(ctx, leftKey{}, left)
}

// nested runs saved programs.
type nested struct{ *sandbox.Sandbox }

// Run implements [module.Sandbox].
func (n nested) Run(ctx context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	if left, ok := ctx.Value(leftKey{}).(*atomic.Int64); ok { // not in a task, which has its own limit
		if p.Limits.Time = time.Duration(left.Load()); p.Limits.Time <= 0 {
			return nil, &tools.ToolError{Kind: tools.KindLimit,
				Message: "not run: the saved programs that the program called have used up its time"}
		}
		defer func(began time.Time) { left.Add(-int64(time.Since(began))) }(time.Now())
	}
	return n.Sandbox.Run(ctx, p)
}
