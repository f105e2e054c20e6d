package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// callJob returns the job of a call, without its arguments. What may have an effect is attempted once.
func (a *Agent) callJob(b *tools.Binding, id effect.ID) job {
	j := job{ID: entryID(id), Effect: id.String(), Name: b.Path(), Timeout: a.options.CallTimeout, Attempts: 1}
	if c := b.ReplayClass(); c == tools.Read || c == tools.Idempotent {
		j.Attempts = int32(a.options.Attempts)
	}
	if j.Queue = a.TaskQueue(); a.options.Queue != nil {
		if q := a.options.Queue(b.Path()); q != "" {
			j.Queue = q
		}
	}
	return j
}

// call is the activity that makes a call. Its error means that there is no outcome.
func (a *Agent) call(ctx context.Context, j job) (Value, error) {
	defer a.beat(ctx)()
	b := a.tools[j.Name]
	if b == nil {
		return a.outcome(ctx, outcome{Error: &tools.ToolError{Kind: tools.KindUnavailable,
			Message: "the worker does not have the tool"}})
	}
	args, err := load(ctx, a.options.Objects, j.Data)
	if err != nil {
		return a.outcome(ctx, outcome{Error: &tools.ToolError{Kind: tools.KindUnavailable,
			Message: "the arguments cannot be read, and the call was not made"}})
	}
	id := effect.ID{}
	id.Run, id.Entry, _ = cutLast(j.Effect)
	if b.ReplayClass() != tools.Read {
		id.Server, id.Tool = b.Namespace, b.Name
	}
	o := outcome{}
	o.Result, err = handle(effect.With(ctx, id), b, args)
	switch {
	case tools.IsFatal(err):
		o = outcome{Fatal: err.Error()}
	case err != nil:
		te := dispatch.ToolError(ctx, b, err)
		if again := te.Kind == tools.KindUnavailable || dispatch.StateOf(te) == dispatch.StateUnknown; again &&
			activity.GetInfo(ctx).Attempt < j.Attempts {
			return Value{}, err
		}
		o = outcome{Error: te}
	case len(o.Result) > 0 && !json.Valid(o.Result):
		o = outcome{Error: &tools.ToolError{Kind: tools.KindInvalidResult,
			Message: "the call was made, but its result is not JSON"}}
	}
	return a.outcome(ctx, o)
}

func cutLast(id string) (run, entry string, ok bool) {
	i := strings.LastIndexByte(id, ':')
	if i < 0 {
		return id, "", false
	}
	return id[:i], id[i+1:], true
}

func (a *Agent) outcome(ctx context.Context, o outcome) (Value, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return Value{}, err
	}
	return keep(ctx, a.options.Objects, text, maxInline)
}

// handle calls a tool. A panic says nothing about the effect.
func handle(ctx context.Context, b *tools.Binding, args json.RawMessage) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			te := &tools.ToolError{Kind: tools.KindUnknown, Message: "the tool crashed; whether it took effect is unknown"}
			err = te.WithCause(fmt.Errorf("temporal: %s panicked: %v\n%s", b.Path(), p, debug.Stack()))
		}
	}()
	return b.Handler(ctx, args)
}

// ask is the activity that makes a request to a model, for a run in the memory of this process. The run gets the reply
// at once. If the run is not in memory any more, it first goes on from its journal.
func (a *Agent) ask(ctx context.Context, in askInput) error {
	defer a.beat(ctx)()
	l, _, err := a.enter(ctx, advance{Run: in.Run})
	if l == nil || err != nil {
		return err
	}
	defer a.leave(in.Run, l)
	err = l.ask(ctx, in.ID)
	if e, ok := errors.AsType[*models.Error](err); ok {
		return temporal.NewApplicationErrorWithOptions(e.Error(), "Model",
			temporal.ApplicationErrorOptions{NextRetryDelay: e.RetryAfter})
	}
	return err
}
