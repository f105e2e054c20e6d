package temporal

import (
	"cmp"
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

// callJob returns the job of a call. What may have an effect is attempted once.
func (a *Agent) callJob(ctx context.Context, b *tools.Binding, id effect.ID, args json.RawMessage) (job, error) {
	j := job{ID: id.Run + ":" + id.Entry, Effect: id.String(), Tool: b.Path(), Digest: digestOf(args),
		Queue: a.TaskQueue(), Timeout: a.options.CallTimeout, Attempts: 1}
	if !once(b) {
		j.Attempts = int32(a.options.Attempts)
	}
	if a.options.Queue != nil {
		j.Queue = cmp.Or(a.options.Queue(b.Path()), j.Queue)
	}
	var err error
	j.Args, err = keep(ctx, a.options.Objects, args, maxInline)
	return j, err
}

// once reports whether a call of a tool must not be attempted again.
func once(b *tools.Binding) bool {
	c := b.ReplayClass()
	return c != tools.Read && c != tools.Idempotent && !b.Hints.Repeatable
}

// outcomeOf returns the outcome of a call. The error says why the outcome is missing.
func (a *Agent) outcomeOf(ctx context.Context, r result) (o outcome, err error) {
	if r.Lost != "" {
		return o, errors.New(r.Lost)
	}
	text, err := load(ctx, a.options.Objects, r.Outcome)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

// call is the activity that makes a call. Its error means that there is no outcome.
func (a *Agent) call(ctx context.Context, j job) (value, error) {
	defer a.beat(ctx)()
	o, err := a.perform(ctx, j)
	if err != nil {
		return value{}, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return value{}, err
	}
	return keep(ctx, a.options.Objects, text, maxInline)
}

// perform makes a call. The error means that it is to be made again.
func (a *Agent) perform(ctx context.Context, j job) (o outcome, err error) {
	b := a.tools[j.Tool]
	defer func() {
		again := activity.GetInfo(ctx).Attempt > 1 && (b == nil || b.ReplayClass() != tools.Read)
		if e := o.Error; again && e != nil && dispatch.StateOf(e) == dispatch.StateRejected {
			e.Kind, e.Message = tools.KindUnknown, e.Message+"; an earlier attempt may have taken effect"
		}
	}()
	args, err := load(ctx, a.options.Objects, j.Args)
	if b == nil || err != nil {
		return outcome{Error: &tools.ToolError{Kind: tools.KindUnavailable,
			Message: "the call was not made: its worker lacks the tool, or cannot read the arguments"}}, nil
	}
	at := strings.LastIndexByte(j.Effect, ':')
	id := effect.ID{Run: j.Effect[:at], Entry: j.Effect[at+1:]}
	if b.ReplayClass() != tools.Read {
		id.Server, id.Tool = b.Namespace, b.Name
	}
	o.Result, err = handle(effect.With(ctx, id), b, args)
	switch {
	case tools.IsFatal(err):
		return outcome{Fatal: err.Error()}, nil
	case err != nil:
		o = outcome{Error: dispatch.ToolError(ctx, b, err)}
	case len(o.Result) > 0 && !json.Valid(o.Result):
		o = outcome{Error: &tools.ToolError{Kind: tools.KindInvalidResult,
			Message: "the call was made, but its result is not JSON"}}
	}
	if e := o.Error; e != nil && (e.Kind == tools.KindUnavailable || dispatch.StateOf(e) == dispatch.StateUnknown) &&
		activity.GetInfo(ctx).Attempt < j.Attempts {
		return o, errors.New(valid(e.Error()))
	}
	return o, nil
}

// valid returns the beginning of a message as UTF-8, without which the server does not get it.
func valid(message string) string {
	return strings.ToValidUTF8(fmt.Sprintf("%.1000s", message), "\ufffd")
}

// handle calls a tool. A panic says nothing about the effect.
func handle(ctx context.Context, b *tools.Binding, args json.RawMessage) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			te := tools.ToolError{Kind: tools.KindUnknown, Message: "the tool crashed; whether it took effect is unknown"}
			err = te.WithCause(fmt.Errorf("temporal: %s panicked: %v\n%s", b.Path(), p, debug.Stack()))
		}
	}()
	return b.Handler(ctx, args)
}

// ask is the activity that makes a request to a model, for a run in the memory of this process. The run gets the reply
// at once. If the run is not in memory any more, it first goes on from its journal.
func (a *Agent) ask(ctx context.Context, in askInput) error {
	defer a.beat(ctx)()
	l, _, err := a.enter(ctx, advance{Run: in.Run, Module: in.Module})
	if l == nil || err != nil {
		return err
	}
	defer a.leave(in.Run, l)
	err = l.ask(ctx, in.ID)
	if e, ok := errors.AsType[*models.Error](err); ok {
		return temporal.NewApplicationErrorWithOptions(valid(e.Error()), "Model",
			temporal.ApplicationErrorOptions{NextRetryDelay: e.RetryAfter})
	}
	return err
}
