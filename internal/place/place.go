// Package place lets work give up its place in a queue while it waits.
package place

import "context"

// Place is what work occupies while it runs, such as one of a limited number of simultaneous
// calls.
type Place interface {
	// Leave gives up the place, because the work waits.
	Leave()

	// Return takes a place again. It need not be called if the work is over.
	Return()
}

type key struct{}

// occupied is a place and the place of the enclosing work.
type occupied struct {
	Place
	outer *occupied
}

func of(ctx context.Context) *occupied {
	o, _ := ctx.Value(key{}).(*occupied)
	return o
}

// With returns a context for work that occupies a place.
func With(ctx context.Context, p Place) context.Context {
	return context.WithValue(ctx, key{}, &occupied{p, of(ctx)})
}

// Of returns the innermost place of the work that a context belongs to, or nil.
func Of(ctx context.Context) Place {
	if o := of(ctx); o != nil {
		return o.Place
	}
	return nil
}

// Find returns the innermost place of a type.
func Find[P Place](ctx context.Context) (p P, ok bool) {
	for o := of(ctx); o != nil && !ok; o = o.outer {
		p, ok = o.Place.(P)
	}
	return p, ok
}
