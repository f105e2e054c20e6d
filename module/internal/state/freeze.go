package state

import "context"

type freezeKey struct{}

// Freeze returns a context in which runs use their LearnedTypes but do not extend them, so that no run depends on
// earlier runs.
func Freeze(ctx context.Context) context.Context { return context.WithValue(ctx, freezeKey{}, true) }

// Frozen reports whether ctx was returned by Freeze.
func Frozen(ctx context.Context) bool { return ctx.Value(freezeKey{}) != nil }
