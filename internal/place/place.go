// Package place lets work give up its place in a queue while it waits.
package place

import "context"

// Place is a limited resource that running work occupies, for example one of the slots for calls.
type Place interface {
	// Leave gives up the place. The work calls it before it waits.
	Leave()

	// Return waits for a place and takes it. Work that ends after Leave does not need to call it.
	Return()
}

type key struct{}

// occupied is the place of some work. outer is the place of the enclosing work.
type occupied struct {
	Place
	outer *occupied
}

func of(ctx context.Context) *occupied {
	o, _ := ctx.Value(key{}).(*occupied)
	return o
}

// With returns a context for work that occupies the place p.
func With(ctx context.Context, p Place) context.Context {
	return context.WithValue(ctx, key{}, &occupied{p, of(ctx)})
}

// Of returns the innermost place of the work to which a context belongs, or nil.
func Of(ctx context.Context) Place {
	if o := of(ctx); o != nil {
		return o.Place
	}
	return nil
}

// Find returns the innermost place of type P.
func Find[P Place](ctx context.Context) (p P, ok bool) {
	for o := of(ctx); o != nil && !ok; o = o.outer {
		p, ok = o.Place.(P)
	}
	return p, ok
}
