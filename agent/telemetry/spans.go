package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// span is a span that has not ended.
type span struct {
	trace.Span
	ctx   context.Context // has the span
	name  string
	began time.Time
}

// run has the open spans of a run.
type run struct {
	outer                     trace.SpanContext // of the span in the context of the run
	mu                        sync.Mutex
	root, step, chat, program *span // nil if they are not open
	calls                     map[int]*span
	number                    int         // of the step
	model                     string      // that was asked last
	usage                     event.Usage // including the runs within
}

// innermost returns the context of the innermost span that may enclose a run or a call.
func (r *run) innermost() context.Context { return cmp.Or(r.program, r.step, r.root).ctx }

// start starts a span within the span in ctx.
func (t *Telemetry) start(
	ctx context.Context, name string, at time.Time, kind trace.SpanKind, attributes ...attribute.KeyValue,
) *span {
	s := &span{name: name, began: at}
	s.ctx, s.Span = t.tracer.Start(ctx, name, trace.WithTimestamp(at), trace.WithSpanKind(kind),
		trace.WithAttributes(nonZero(attributes...)...))
	return s
}

// end ends a span, unless it is nil.
func (t *Telemetry) end(s *span, at time.Time, f failure, attributes ...attribute.KeyValue) {
	if s == nil {
		return
	}
	level := slog.LevelInfo
	if f.kind != "" {
		s.SetStatus(codes.Error, t.content("", f.message).Value.AsString())
		level = slog.LevelWarn
	}
	s.SetAttributes(nonZero(append(attributes, semconv.ErrorTypeKey.String(f.kind))...)...)
	s.End(trace.WithTimestamp(at))
	if l, c := t.options.Logger, s.SpanContext(); l != nil {
		l.LogAttrs(s.ctx, level, s.name, slog.String("trace_id", c.TraceID().String()),
			slog.String("span_id", c.SpanID().String()), slog.Duration("duration", at.Sub(s.began)),
			slog.String("error_type", f.kind))
	}
}

// observe receives the events of all runs.
func (t *Telemetry) observe(ctx context.Context, e event.Event) {
	o := e.From()
	if _, ok := e.(event.RunStart); ok {
		t.begin(ctx, o)
		return
	}
	r := t.run(o.Run)
	if r == nil { // Observe was called within the run
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case event.ModelRequest:
		step := t.atStep(r, o)
		t.end(r.chat, o.Time, failure{}) // its response was not reported
		r.model = e.Model
		r.chat = t.start(step.ctx, strings.TrimSpace("chat "+e.Model), o.Time, trace.SpanKindClient,
			t.requestAttributes(e)...)
	case event.ModelResponse:
		t.response(r, e)
	case event.ReplyRejected:
		t.atStep(r, o).AddEvent("writ.reply.rejected", trace.WithTimestamp(o.Time),
			trace.WithAttributes(nonZero(t.content("writ.observation", e.Observation))...))
	case event.ProgramStart:
		if step := t.atStep(r, o); r.program == nil && o.Module != "ReAct" { // a ReAct has no programs, only calls
			r.program = t.start(step.ctx, "program", o.Time, trace.SpanKindInternal,
				t.content("writ.program.code", e.Code), attribute.Bool("writ.program.compiled", e.Compiled))
		}
	case event.ToolCallStart:
		t.atStep(r, o)
		r.calls[e.Call.ID] = t.callStart(r.innermost(), o.Time, e.Call)
	case event.ToolCallEnd:
		t.callEnd(r.calls[e.Call.ID], o.Time, e.Call)
		delete(r.calls, e.Call.ID)
	case event.ProgramEnd:
		t.programEnd(r, e)
	case event.RunEnd:
		t.finish(r, e)
	}
}

// begin begins a run. Its parent is the span in its context or, if that is already the parent of the enclosing run, the
// innermost span of the enclosing run.
func (t *Telemetry) begin(ctx context.Context, o event.Origin) {
	r := &run{outer: trace.SpanContextFromContext(ctx), calls: map[int]*span{}}
	if enclosing := t.run(o.Parent); enclosing != nil && enclosing.outer.Equal(r.outer) {
		enclosing.mu.Lock()
		ctx = enclosing.innermost()
		enclosing.mu.Unlock()
	}
	name := cmp.Or(o.Name, o.Module)
	r.root = t.start(ctx, "invoke_agent "+name, o.Time, trace.SpanKindInternal, semconv.GenAIOperationNameInvokeAgent,
		semconv.GenAIProviderNameKey.String(t.options.Provider), semconv.GenAIAgentName(name),
		attribute.String("writ.module", o.Module), attribute.String("writ.run", strconv.FormatUint(o.Run, 10)))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[o.Run] = r
}

// atStep returns the span of the event's step, and ends the step before.
func (t *Telemetry) atStep(r *run, o event.Origin) *span {
	if r.step == nil || o.Step > r.number {
		t.endStep(r, o.Time, failure{})
		r.number = o.Step
		r.step = t.start(r.root.ctx, "step", o.Time, trace.SpanKindInternal, attribute.Int("writ.step", o.Step))
	}
	return r.step
}

// endStep ends the span of a step, and all spans within it that are still open.
func (t *Telemetry) endStep(r *run, at time.Time, f failure) {
	for _, s := range r.calls {
		t.end(s, at, f)
	}
	clear(r.calls)
	t.end(r.chat, at, f)
	t.end(r.program, at, f)
	t.end(r.step, at, f)
	r.chat, r.program, r.step = nil, nil, nil
}

func (t *Telemetry) response(r *run, e event.ModelResponse) {
	s, f := r.chat, failureOf(e.Err)
	r.chat, r.usage = nil, r.usage.Add(e.Usage)
	t.end(s, e.Time, f, t.responseAttributes(e)...)
	if s != nil && e.Usage.Hits == 0 {
		t.metrics.chat(s, e, f, semconv.GenAIOperationNameChat, semconv.GenAIProviderNameKey.String(t.options.Provider),
			semconv.GenAIRequestModel(r.model), semconv.GenAIResponseModel(e.Model))
	}
}

func (t *Telemetry) callStart(ctx context.Context, at time.Time, c sandbox.Call) *span {
	return t.start(ctx, "execute_tool "+c.Tool, at, trace.SpanKindInternal,
		semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(c.Tool), semconv.GenAIToolType("function"),
		semconv.GenAIToolCallID(strconv.Itoa(c.ID)), t.content(semconv.GenAIToolCallArgumentsKey, string(c.Args)))
}

func (t *Telemetry) callEnd(s *span, at time.Time, c sandbox.Call) {
	f := failureOfCall(c)
	t.end(s, at, f, attribute.Bool("writ.tool.recorded", c.Recorded),
		t.content(semconv.GenAIToolCallResultKey, string(c.Result)))
	if s != nil && !c.Recorded {
		s.record(t.metrics.calls, at, f, semconv.GenAIToolName(c.Tool))
	}
}

// programEnd ends a program, and makes the span of its check. The check begins with the program, and includes the time
// in which the program waited for a worker. If the program ran, the check ended when the duration of the run began.
func (t *Telemetry) programEnd(r *run, e event.ProgramEnd) {
	s, out := r.program, e.Outcome
	r.program = nil
	if s == nil {
		return
	}
	rejected, checked, failed := failure{}, e.Time.Add(-out.Duration), cmp.Or(out.Failure, &sandbox.Failure{})
	f := failure{string(failed.Kind), failed.Message}
	if !failed.Ran() {
		rejected, checked = f, e.Time
	}
	if began := s.began.Round(0); checked.Before(began) { // by the wall clock, whose times are exported
		checked = began
	}
	t.end(t.start(s.ctx, "check", s.began, trace.SpanKindInternal), checked, rejected,
		attribute.Int("writ.check.findings", len(failed.Findings)))
	t.end(s, e.Time, f, t.content("writ.observation", e.Observation),
		attribute.Float64("writ.program.computing", out.Computing.Seconds()))
	s.record(t.metrics.programs, e.Time, f)
}

// finish ends a run.
func (t *Telemetry) finish(r *run, e event.RunEnd) {
	f := failureOf(e.Err)
	t.endStep(r, e.Time, f)
	t.end(r.root, e.Time, f, append(tokens(r.usage), t.content("writ.output", string(e.Output)),
		attribute.Bool("writ.fallback", e.Fallback != ""))...)
	r.root.record(t.metrics.operations, e.Time, f, semconv.GenAIOperationNameInvokeAgent,
		semconv.GenAIProviderNameKey.String(t.options.Provider), attribute.String("writ.module", e.Module))
	t.mu.Lock()
	delete(t.runs, e.Run)
	enclosing := t.runs[e.Parent]
	t.mu.Unlock()
	if enclosing != nil {
		enclosing.mu.Lock()
		enclosing.usage = enclosing.usage.Add(r.usage)
		enclosing.mu.Unlock()
	}
}

// record records the duration of a span that has ended.
func (s *span) record(h metric.Float64Histogram, end time.Time, f failure, attributes ...attribute.KeyValue) {
	attributes = append(attributes, semconv.ErrorTypeKey.String(f.kind))
	h.Record(s.ctx, end.Sub(s.began).Seconds(), metric.WithAttributes(nonZero(attributes...)...))
}

// chat records a request to a model, and its tokens if the provider has reported them.
func (i *instruments) chat(s *span, e event.ModelResponse, f failure, attributes ...attribute.KeyValue) {
	if e.Usage.InputTokens+e.Usage.OutputTokens > 0 {
		for kind, n := range map[attribute.KeyValue]int{
			semconv.GenAITokenTypeInput: e.Usage.InputTokens, semconv.GenAITokenTypeOutput: e.Usage.OutputTokens,
		} {
			i.tokens.Record(s.ctx, int64(n),
				metric.WithAttributes(kind), metric.WithAttributes(nonZero(slices.Clone(attributes)...)...))
		}
	}
	s.record(i.operations, e.Time, f, attributes...)
}
