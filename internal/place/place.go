// Package place lets work that waits give up its place in a queue meanwhile.
package place

import "context"

// Place is what work occupies while it is under way, such as one of the calls that may run at
// the same time.
type Place interface {
	// Leave gives up the place, because the work waits. Every Leave is followed by a Return.
	Leave()

	// Return waits for a place. It returns early if the work is over.
	Return()
}

type key struct{}

// With returns a context for work that occupies a place.
func With(ctx context.Context, p Place) context.Context { return context.WithValue(ctx, key{}, p) }

// Of returns the innermost place of the work that a context belongs to, or nil.
func Of(ctx context.Context) Place {
	p, _ := ctx.Value(key{}).(Place)
	return p
}
