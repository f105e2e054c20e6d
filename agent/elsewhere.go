package agent

import (
	"context"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// elsewhere returns the options of a journal whose calls the Performer of a context makes, if it has one. The key
// begins the IDs of the calls.
func elsewhere(ctx context.Context, key string, o *journal.Options) *journal.Options {
	p := dispatch.PerformerOf(ctx)
	if p == nil {
		return o
	}
	options := journal.Options{}
	if o != nil {
		options = *o
	}
	options.Elsewhere = func(id string, b *tools.Binding) bool { return p.Performs(b) && p.Knows(key+":"+id) }
	options.OnSettled = func(id string, s journal.State) { p.Settled(key+":"+id, s) }
	return &options
}

// Check returns the reason why the decision is invalid for a waiting call, or nil. [Resume] checks decisions itself.
func (d Decision) Check(w Waiting) error { return d.check(w) }
