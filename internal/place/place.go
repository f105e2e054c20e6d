// Package place lets work give up its place in a queue while it waits.
package place

import (
	"context"
	"errors"
)

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

// Idle reports whether nothing goes on in the programs whose calls a context belongs to, except for calls that have
// left their places. A Place knows this if it has the method Idle() bool.
func Idle(ctx context.Context) bool {
	for o := of(ctx); o != nil; o = o.outer {
		if p, ok := o.Place.(interface{ Idle() bool }); ok && !p.Idle() {
			return false
		}
	}
	return true
}

// ErrPaused is the cause with which a run ends that waits only for decisions which people make later. The calls that
// wait have not been made. When the run is resumed, the program is repeated, and the calls are issued again.
var ErrPaused = errors.New("the run is paused until somebody decides about its calls")

// Parker is a Place whose work can wait for longer than the process lives.
type Parker interface {
	Place

	// Park is like Leave. In addition, the work waits for something that may take longer than the process lives. If all
	// work of a run is parked, the run ends: the context of the work is canceled with the cause [ErrPaused].
	Park()

	// Unpark ends what Park began, and returns to the place.
	Unpark()
}

// Park parks the innermost place of a context, until unpark is called. It returns false if the place cannot be parked.
func Park(ctx context.Context) (unpark func(), ok bool) {
	p, ok := Of(ctx).(Parker)
	if !ok {
		return nil, false
	}
	p.Park()
	return p.Unpark, true
}
