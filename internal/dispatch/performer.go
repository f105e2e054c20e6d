package dispatch

import (
	"context"
	"encoding/json"

	"github.com/writ-go/writ/tools"
)

// Performer makes calls in place of their handlers, for example in another process. Its methods may be called
// concurrently.
type Performer interface {
	// Performs reports whether the Performer makes the calls of a tool that are recorded in a journal.
	Performs(b *tools.Binding) bool

	// Perform makes a call, after the journal has recorded it as dispatched. A repeated run calls it again for a call
	// without a recorded outcome. The Performer knows by its ID whether the call was made before.
	Perform(ctx context.Context, b *tools.Binding, args json.RawMessage) (json.RawMessage, error)

	// Knows reports whether the Performer knows what became of a call without a recorded outcome. If not, the call is
	// not made again, unless that does no harm. The ID is that of the journal's run and of its entry:
	// r-1/1c9b2f04d7aa:E7.
	Knows(id string) bool

	// Settled is called when a journal has the outcome of a call, also of one that an earlier process recorded. It must
	// not wait.
	Settled(id string, s State)
}

type performerKey struct{}

// WithPerformer returns a context whose calls p makes, as far as it performs them.
func WithPerformer(ctx context.Context, p Performer) context.Context {
	return context.WithValue(ctx, performerKey{}, p)
}

// PerformerOf returns the Performer of a context, or nil.
func PerformerOf(ctx context.Context) Performer {
	p, _ := ctx.Value(performerKey{}).(Performer)
	return p
}

// answer calls the handler of the execution's tool, unless somebody else makes the call.
func (x *Execution) answer(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	if p := PerformerOf(ctx); p != nil && x.entry != nil && p.Performs(x.call.Tool) {
		return p.Perform(ctx, x.call.Tool, args)
	}
	return x.call.Tool.Handler(ctx, args)
}
