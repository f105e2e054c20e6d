package tools

import (
	"context"
	"sync"

	"github.com/writ-go/writ/internal/place"
)

// Pause tells the sandbox that a call waits for something that has no time limit, or that has its own limits, such as a
// person's decision or another agent's run. The context must derive from the call's context. Until resume is called,
// the call does not count toward the sandbox's Limits.Concurrency. While every call in progress is paused, the clock of
// Limits.Time stands still.
//
// [policy.Approve], modules as tools, and programs that a tool runs in a sandbox do this
// themselves. Outside of a sandbox, Pause does nothing. The function resume may block until
// another call ends. Calling it again does nothing.
//
// [policy.Approve]: https://pkg.go.dev/github.com/writ-go/writ/tools/policy#Approve
func Pause(ctx context.Context) (resume func()) {
	p := place.Of(ctx)
	if p == nil {
		return func() {}
	}
	p.Leave()
	return sync.OnceFunc(p.Return)
}
