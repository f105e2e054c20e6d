package budget

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/tools"
)

type policyKey struct{}

// withPolicy returns a context whose tool calls are charged to the innermost budget of their contexts.
func withPolicy(ctx context.Context) context.Context {
	if ctx.Value(policyKey{}) != nil {
		return ctx
	}
	ctx = dispatch.WithReplay(ctx, func(ctx context.Context) {
		n := nodeOf(ctx)
		n.tree.Lock()
		defer n.tree.Unlock()
		n.replay(ctx, Spent{ToolCalls: 1})
	})
	return context.WithValue(tools.WithPolicies(ctx, chargeTools), policyKey{}, true)
}

// chargeTools is a policy that charges the calls that reach their tools.
func chargeTools(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, call tools.Call) (json.RawMessage, error) {
		n := nodeOf(ctx)
		if err := n.useTool(); err != nil {
			return nil, err
		}
		defer func() {
			if dispatch.Performed(ctx) == nil { // a policy has refused the call
				n.tree.Lock()
				defer n.tree.Unlock()
				n.charge(Spent{ToolCalls: -1}, Spent{}, 0)
			}
		}()
		return next.Call(ctx, call)
	})
}

// useTool charges a call of a tool, or returns the error for the program.
func (n *node) useTool() error {
	n.tree.Lock()
	defer n.tree.Unlock()
	for _, b := range n.nearest().all() {
		if b.bad != nil {
			return tools.Fatal(b.bad)
		}
		if l := b.limits.ToolCalls; l > 0 && b.node.spent.ToolCalls >= l {
			spent := &Error{display.Plural(l, "tool call"), b}
			te := &tools.ToolError{Kind: tools.KindBudget,
				Message: fmt.Sprintf("the budget allows no more than %s; answer from what you know", spent.Limit)}
			return te.WithCause(spent)
		}
	}
	n.charge(Spent{ToolCalls: 1}, Spent{}, 0)
	return nil
}

// Descend implements [lm.Meter].
func (n *node) Descend(ctx context.Context) error {
	n.tree.Lock()
	defer n.tree.Unlock()
	depth := len(effect.Agents(ctx))
	for _, b := range n.nearest().all() {
		if l := b.limits.Depth; l > 0 && depth-b.depth > l {
			return &Error{display.Plural(l, "module") + " within each other, as tools", b}
		}
	}
	return nil
}
