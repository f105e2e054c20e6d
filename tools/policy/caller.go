package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/writ-go/writ/tools"
)

// step handles one call for a policy.
type step func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error)

// caller is the [tools.Caller] of every policy in this package.
type caller struct {
	next   tools.Caller
	do     step
	guards func(*tools.Binding) bool       // may be nil
	warns  func([]*tools.Binding) []string // may be nil
}

// Call implements [tools.Caller].
func (p *caller) Call(ctx context.Context, c tools.Call) (json.RawMessage, error) {
	return p.do(ctx, c, p.next)
}

// Guards is for [tools.Policy.Guards].
func (p *caller) Guards(b *tools.Binding) bool { return p.guards != nil && p.guards(b) }

// Warnings is for [tools.Policy.Warnings].
func (p *caller) Warnings(all []*tools.Binding) []string {
	if p.warns == nil {
		return nil
	}
	return p.warns(all)
}

func of(do step) tools.Policy { return guard(nil, do) }

func guard(guards func(*tools.Binding) bool, do step) tools.Policy {
	return caller{do: do, guards: guards}.policy()
}

// policy returns a policy that wraps callers in copies of p.
func (p caller) policy() tools.Policy {
	return func(next tools.Caller) tools.Caller {
		c := p
		c.next = next
		return &c
	}
}

// broken returns the policy for invalid options. It ends every run at its first call. [tools.Set.Warnings] reports the
// error earlier.
func broken(format string, args ...any) tools.Policy {
	err := tools.Fatal(fmt.Errorf("policy: "+format, args...))
	return caller{
		do:    func(context.Context, tools.Call, tools.Caller) (json.RawMessage, error) { return nil, err },
		warns: func([]*tools.Binding) []string { return []string{err.Error() + "; every call will end the run"} },
	}.policy()
}

// refusal returns the error for a call that a policy refuses.
func refusal(format string, args ...any) *tools.ToolError {
	return &tools.ToolError{Kind: tools.KindDenied, Message: fmt.Sprintf(format, args...)}
}

// pause waits for d. It returns false if ctx is done, or will be done, before the wait is over.
func pause(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
