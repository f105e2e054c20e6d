package budget

import (
	"context"

	"github.com/writ-go/writ/internal/display"
)

type depthKey struct{}

// depthOf returns how many modules a context is in that run as tools of modules.
func depthOf(ctx context.Context) int {
	depth, _ := ctx.Value(depthKey{}).(int)
	return depth
}

// Descend implements [lm.Meter].
func (n *node) Descend(ctx context.Context) (context.Context, error) {
	depth := depthOf(ctx) + 1
	for _, b := range n.nearest().all() {
		if l := b.limits.Depth; l > 0 && depth-b.depth > l {
			b.node.tree.Lock()
			defer b.node.tree.Unlock()
			return nil, b.reached(display.Plural(l, "module") + " within each other, as tools")
		}
	}
	return context.WithValue(ctx, depthKey{}, depth), nil
}
