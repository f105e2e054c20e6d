// Package durable lets modules record their runs, so that a run can go on in another process. A module runs again from
// the start, and gets the recorded replies of models and the recorded results of calls.
package durable

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/tools/journal"
)

// Run records a run. Its methods may be called concurrently.
type Run interface {
	// Model returns a model that answers the requests of a predictor from the record, or else by asking m. Predictor is
	// the predictor's path. The error says why the run must not ask.
	Model(ctx context.Context, m llms.Model, predictor string) (llms.Model, error)

	// Journal returns the journal of a module's run within the run. Predictor is the path of the module's predictor,
	// and inputs is everything that tells the module's run from others, as JSON encodes it. Turn is Entry.Turn of the
	// run's calls: if the run is part of a call that repeats an earlier one, its journal has the calls of the earlier
	// run, too.
	Journal(
		ctx context.Context, predictor string, inputs any, o *journal.Options,
	) (j *journal.Journal, turn int, err error)

	// Resumed returns how often the run was resumed.
	Resumed() int
}

// TypeOf returns the name of a module's type, by which logs know it. A module that does nothing but call another one may
// have the method Wrapped, which returns that one.
func TypeOf(m any) string {
	if w, ok := m.(interface{ Wrapped() any }); ok {
		m = w.Wrapped()
	}
	return fmt.Sprintf("%T", m)
}

type key struct{}

// With returns a context in which all runs are recorded by r.
func With(ctx context.Context, r Run) context.Context { return context.WithValue(ctx, key{}, r) }

// Of returns the run that records the runs with this context, or nil.
func Of(ctx context.Context) Run {
	r, _ := ctx.Value(key{}).(Run)
	return r
}

// Recorded reports whether runs with this context are recorded.
func Recorded(ctx context.Context) bool { return Of(ctx) != nil }

// Resumed returns how often the recorded run of a context was resumed, or 0.
func Resumed(ctx context.Context) int {
	if r := Of(ctx); r != nil {
		return r.Resumed()
	}
	return 0
}

type branchKey struct{}

// Branch returns the context of one of several concurrent runs. Their number tells runs with the same inputs apart.
func Branch(ctx context.Context, number int) context.Context {
	return context.WithValue(ctx, branchKey{}, fmt.Sprintf("%s/%d", BranchOf(ctx), number))
}

// BranchOf returns the numbers of the branches that a context is in, or "".
func BranchOf(ctx context.Context) string {
	branch, _ := ctx.Value(branchKey{}).(string)
	return branch
}

// Model returns m, or in a recorded run the model that Run.Model returns.
func Model(ctx context.Context, m llms.Model, predictor string) (llms.Model, error) {
	if r := Of(ctx); r != nil && m != nil {
		return r.Model(ctx, m, predictor)
	}
	return m, nil
}

// Journal returns a journal in memory, or in a recorded run the journal that Run.Journal returns.
func Journal(
	ctx context.Context, predictor string, inputs any, o *journal.Options,
) (j *journal.Journal, turn int, err error) {
	call := effect.Of(ctx)
	if r := Of(ctx); r != nil {
		return r.Journal(ctx, predictor, inputs, o)
	} else if call.Within == nil {
		return journal.New(o), 0, nil
	}
	opened := Find(ctx, call.Within, predictor, inputs)
	if opened.Again {
		j = opened.Journal.(*journal.Journal)
		return j, j.Continue(call.Call()), nil
	}
	j = journal.New(o)
	opened.Journal = j
	return j, 0, nil
}

// Find finds the journal of a run in w. The place of the predictor and the inputs tell the run from others in its call.
func Find(ctx context.Context, w *effect.Within, place string, inputs any) *effect.Opening {
	encoded, _ := json.Marshal(inputs)
	return w.Find(effect.Of(ctx).Call(), BranchOf(ctx)+" "+place, fmt.Sprintf("%x", sha256.Sum256(encoded)))
}

// Asker makes the requests to models of a run when it is their turn. It calls ask at least once, unless the request is
// not to be made, and returns the error of the last call.
type Asker func(ctx context.Context, ask func(ctx context.Context) error) error

type askerKey struct{}

// WithAsker returns a context for whose requests to models a decides when they are made.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerOf returns the Asker of a context, or nil.
func AskerOf(ctx context.Context) Asker {
	a, _ := ctx.Value(askerKey{}).(Asker)
	return a
}
