// Package effect identifies a call of a run, so that policies can log the call and servers can recognize its
// repetition.
package effect

import (
	"cmp"
	"context"
	"fmt"
)

// ID identifies a call in all runs.
type ID struct {
	Run     string // the run's ID
	Step    int    // the step of the run, from 1
	Attempt int    // the program's number in the step, from 1
	Entry   string // the ID of the journal's entry, such as E7
	First   string // if the call sends one again whose outcome is unknown: the ID of the first such entry

	// Within has the journals of the runs that the call makes, if its tool runs a module. They belong to the entry
	// Origin, which the call repeats, directly or not, or which is its own. Try numbers the calls to the tool, from 1.
	Within *Within
	Origin string
	Try    int

	Caller uint64 // the number of the module's run that makes the call, or 0: see RunOf

	// Server and Tool are the tool's namespace and name if the call may have an effect. They do not identify the call.
	Server, Tool string
}

// String returns the ID as text: r-7f3a:E7. It is the same if a call whose outcome is unknown is sent again.
func (id ID) String() string { return id.Run + ":" + cmp.Or(id.First, id.Entry) }

// Root names the call that this one repeats, directly or not. See Within.
func (id ID) Root() string { return id.Run + ":" + cmp.Or(id.Origin, id.First, id.Entry) }

// Call names this call to the tool.
func (id ID) Call() string { return fmt.Sprintf("%s:%s#%d", id.Run, id.Entry, id.Try) }

type key struct{}

type runKey struct{}

type agentsKey struct{}

// With returns the context of a call.
func With(ctx context.Context, id ID) context.Context { return context.WithValue(ctx, key{}, id) }

// Of returns the innermost call to which a context belongs. It is the zero ID if no journal records the call.
func Of(ctx context.Context) ID {
	id, _ := ctx.Value(key{}).(ID)
	return id
}

// WithRun returns the context of a module's run. The number is the Run in the Origin of the run's events.
func WithRun(ctx context.Context, run uint64) context.Context {
	return context.WithValue(ctx, runKey{}, run)
}

// RunOf returns the number of the innermost run to which a context belongs, or 0.
func RunOf(ctx context.Context) uint64 {
	run, _ := ctx.Value(runKey{}).(uint64)
	return run
}

// WithAgent returns the context of a call of a tool that runs a module.
func WithAgent(ctx context.Context, tool string) context.Context {
	outer := Agents(ctx)
	return context.WithValue(ctx, agentsKey{}, append(outer[:len(outer):len(outer)], tool))
}

// Agents returns the paths of the tools whose modules run in a context, the outermost first.
func Agents(ctx context.Context) []string {
	agents, _ := ctx.Value(agentsKey{}).([]string)
	return agents
}
