package dispatch

import (
	"context"
	"encoding/json"

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/tools"
)

// Performer makes calls in place of their handlers, for example in another process. Its methods may be called
// concurrently.
type Performer interface {
	// Performs reports whether the Performer makes the calls of a tool.
	Performs(b *tools.Binding) bool

	// Perform makes a call, which is recorded as dispatched. A repeated run calls it again for a call without a recorded
	// outcome, with the same ID of the effect: the Performer knows whether the call was made before.
	Perform(ctx context.Context, b *tools.Binding, args json.RawMessage) (json.RawMessage, error)

	// Knows reports whether the Performer knows what became of a call without a recorded outcome. If not, the call is
	// not made again, unless that does no harm. The ID is that of the journal's run and of its entry.
	Knows(id string) bool

	// Settled is called after the outcome of a call to such a tool was recorded, even if Perform was not called.
	Settled(id effect.ID)
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

// performer returns the Performer of a context if it makes the calls of a tool.
func performer(ctx context.Context, b *tools.Binding) Performer {
	if p := PerformerOf(ctx); p != nil && b.Module == nil && p.Performs(b) {
		return p
	}
	return nil
}
