package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/tmc/langchaingo/llms"
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

func (a *Agent) outcome(ctx context.Context, o any) (Value, error) {
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

// Model returns a model with a name. In a run of an [Agent], its requests are activities, which any worker makes with
// the model of this name in its Options.Models. Elsewhere, the model is m.
func Model(name string, m llms.Model) llms.Model {
	r := &remote{Model: m, name: name}
	if _, ok := m.(interface{ Capabilities() models.Capabilities }); ok {
		return capable{r}
	}
	return r
}

// remote is a model whose requests may be made elsewhere.
type remote struct {
	llms.Model
	name string
}

func (r *remote) base() *remote { return r }

// capable is a remote model that states its capabilities.
type capable struct{ *remote }

// Capabilities returns what the model can do.
func (c capable) Capabilities() models.Capabilities { return models.CapabilitiesOf(c.Model) }

// GenerateContent implements [llms.Model].
func (r *remote) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	l, ok := ctx.Value(liveKey{}).(*live)
	if !ok || l.agent.models[r.name] == nil {
		return r.Model.GenerateContent(ctx, messages, options...)
	}
	q, ok := requestOf(ctx, messages, options)
	if !ok {
		return r.Model.GenerateContent(ctx, messages, options...)
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, &models.Error{Kind: models.KindInvalid, Err: err}
	}
	o := l.agent.options
	end, err := l.want(ctx, job{ID: "ask:" + r.name + ":" + digestOf(text), Ask: true, Name: r.name,
		Queue: l.agent.TaskQueue(), Timeout: o.AskTimeout, Attempts: int32(o.Attempts)}, text)
	if err != nil {
		return nil, err
	}
	if end.Lost != "" {
		return nil, &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: errors.New(end.Lost)}
	}
	var answer reply
	if text, err = load(ctx, o.Objects, end.Data); err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		return nil, &models.Error{Kind: models.KindUnknown, MaybeCharged: true, Err: err}
	}
	return answer.response()
}

// ask is the activity that makes a request to a model. Temporary errors are tried again.
func (a *Agent) ask(ctx context.Context, j job) (Value, error) {
	defer a.beat(ctx)()
	m := a.models[j.Name]
	if m == nil {
		return Value{}, fmt.Errorf("temporal: the worker has no model %q; add it to Options.Models", j.Name)
	}
	var q request
	text, err := load(ctx, a.options.Objects, j.Data)
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		return Value{}, err
	}
	response, err := q.send(ctx, models.Retry(m, &models.RetryOptions{Attempts: 1})) // which classifies the error
	if e, ok := errors.AsType[*models.Error](err); ok && e.Temporary() && activity.GetInfo(ctx).Attempt < j.Attempts {
		return Value{}, temporal.NewApplicationErrorWithOptions(e.Error(), "Model",
			temporal.ApplicationErrorOptions{Cause: err, NextRetryDelay: e.RetryAfter})
	}
	return a.outcome(ctx, replyOf(response, err))
}
