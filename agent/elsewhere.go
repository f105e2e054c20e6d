package agent

import (
	"context"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// elsewhere lets the Performer of a context make the calls of a journal. The key begins the IDs of the calls.
func elsewhere(ctx context.Context, key string, o *journal.Options) {
	if p := dispatch.PerformerOf(ctx); p != nil {
		o.Elsewhere = func(id string, b *tools.Binding) bool { return p.Performs(b) && p.Knows(key+":"+id) }
		o.OnSettled = func(id string, s journal.State) { p.Settled(key+":"+id, s) }
	}
}

// Check returns the reason why the decision is invalid for a waiting call, or nil. [Resume] checks decisions itself.
func (d Decision) Check(w Waiting) error { return d.check(w) }
