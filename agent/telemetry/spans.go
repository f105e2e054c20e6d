package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
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
	outer trace.Span // the span in the context of the run

	mu      sync.Mutex
	root    *span
	step    *span
	number  int // of the step
	chat    *span
	model   string // that was asked last
	program *span
	checked time.Time // when the check of the program ended, at the latest
	calls   map[int]*span
	usage   event.Usage // including the runs within
}

// innermost returns the context of the innermost span that may enclose a run or a call.
func (r *run) innermost() context.Context {
	return cmp.Or(r.program, r.step, r.root).ctx
}

// call returns the span of a call in progress, or nil.
func (r *run) call(id int) *span {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[id]
}

// start starts a span within the span in ctx.
func (t *Telemetry) start(
	ctx context.Context, name string, at time.Time, kind trace.SpanKind, attributes ...attribute.KeyValue,
) *span {
	s := &span{name: name, began: at}
	s.ctx, s.Span = t.tracer.Start(ctx, name, trace.WithTimestamp(at), trace.WithSpanKind(kind),
		trace.WithAttributes(attributes...))
	return s
}

// end ends a span, unless it is nil. The error type is "" if the span has no error.
func (t *Telemetry) end(s *span, at time.Time, errorType, message string, attributes ...attribute.KeyValue) {
	if s == nil {
		return
	}
	level, c := slog.LevelInfo, s.SpanContext()
	record := []slog.Attr{slog.String("trace_id", c.TraceID().String()), slog.String("span_id", c.SpanID().String()),
		slog.Duration("duration", at.Sub(s.began))}
	if errorType != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(errorType))
		if !t.options.Contents {
			message = ""
		}
		s.SetStatus(codes.Error, message)
		level, record = slog.LevelWarn, append(record, slog.String("error_type", errorType))
	}
	s.SetAttributes(attributes...)
	s.End(trace.WithTimestamp(at))
	if t.options.Logger != nil {
		t.options.Logger.LogAttrs(s.ctx, level, s.name, record...)
	}
}

// observe receives the events of all runs.
func (t *Telemetry) observe(ctx context.Context, e event.Event) {
	o := e.From()
	switch e.(type) {
	case event.TextDelta:
		return
	case event.RunStart:
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
		t.request(r, e)
	case event.ModelResponse:
		t.response(r, e)
	case event.ReplyRejected:
		t.atStep(r, o).AddEvent("writ.reply.rejected", trace.WithTimestamp(o.Time),
			trace.WithAttributes(t.content("writ.observation", e.Observation)...))
	case event.ProgramStart:
		if parent := t.atStep(r, o); r.program == nil && o.Module != "ReAct" { // a ReAct has no programs, only calls
			r.program = t.start(parent.ctx, "program", o.Time, trace.SpanKindInternal,
				append(t.content("writ.program.code", e.Code), attribute.Bool("writ.program.compiled", e.Compiled))...)
			r.checked = o.Time.Add(24 * time.Hour)
		}
	case event.ToolCallStart:
		t.callStart(r, e)
	case event.ToolCallEnd:
		t.callEnd(r, e)
	case event.ProgramEnd:
		t.programEnd(r, e)
	case event.Scored:
		r.root.AddEvent("writ.scored", trace.WithTimestamp(o.Time), trace.WithAttributes(append(
			t.content("writ.score.feedback", e.Feedback), attribute.Int("writ.score.attempt", o.Step),
			attribute.Float64("writ.score.value", e.Value))...))
	case event.RunEnd:
		t.finish(r, e)
	}
}

// begin begins a run. Its parent is the span in its context or, if that is already the parent of the enclosing run, the
// innermost span of the enclosing run.
func (t *Telemetry) begin(ctx context.Context, o event.Origin) {
	r := &run{outer: trace.SpanFromContext(ctx), calls: map[int]*span{}}
	parent := ctx
	if enclosing := t.run(o.Parent); enclosing != nil && enclosing.outer == r.outer {
		enclosing.mu.Lock()
		parent = enclosing.innermost()
		enclosing.mu.Unlock()
	}
	name := cmp.Or(o.Name, o.Module)
	r.root = t.start(parent, "invoke_agent "+name, o.Time, trace.SpanKindInternal, semconv.GenAIOperationNameInvokeAgent,
		semconv.GenAIProviderNameKey.String(t.options.Provider), semconv.GenAIAgentName(name),
		attribute.String("writ.module", o.Module), attribute.String("writ.run", strconv.FormatUint(o.Run, 10)))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[o.Run] = r
}

// atStep returns the span of the event's step, and ends the span of the step before.
func (t *Telemetry) atStep(r *run, o event.Origin) *span {
	if r.step == nil || o.Step > r.number {
		t.endStep(r, o.Time, "")
		r.number = o.Step
		r.step = t.start(r.root.ctx, "step", o.Time, trace.SpanKindInternal, attribute.Int("writ.step", o.Step))
	}
	return r.step
}

// endStep ends the span of a step, and all spans within it that are still open.
func (t *Telemetry) endStep(r *run, at time.Time, errorType string) {
	for id, s := range r.calls {
		t.end(s, at, errorType, "")
		delete(r.calls, id)
	}
	for _, s := range []**span{&r.chat, &r.program, &r.step} {
		t.end(*s, at, errorType, "")
		*s = nil
	}
}

func (t *Telemetry) callStart(r *run, e event.ToolCallStart) {
	t.atStep(r, e.Origin)
	r.checked = earlier(r.checked, e.Time.Add(-e.Call.Started))
	r.calls[e.Call.ID] = t.start(r.innermost(), "execute_tool "+e.Call.Tool, e.Time, trace.SpanKindInternal,
		append(t.content(semconv.GenAIToolCallArgumentsKey, string(e.Call.Args)), semconv.GenAIOperationNameExecuteTool,
			semconv.GenAIToolName(e.Call.Tool), semconv.GenAIToolCallID(strconv.Itoa(e.Call.ID)),
			semconv.GenAIToolType("function"))...)
}

func (t *Telemetry) callEnd(r *run, e event.ToolCallEnd) {
	s := r.calls[e.Call.ID]
	if s == nil {
		return
	}
	delete(r.calls, e.Call.ID)
	errorType, message := errorOfCall(e.Call)
	t.end(s, e.Time, errorType, message, append(t.content(semconv.GenAIToolCallResultKey, string(e.Call.Result)),
		attribute.Bool("writ.tool.recorded", e.Call.Recorded))...)
	if !e.Call.Recorded {
		t.metrics.call(s, e, errorType)
	}
}

func (t *Telemetry) programEnd(r *run, e event.ProgramEnd) {
	s, out := r.program, e.Outcome
	r.program = nil
	if s == nil || out == nil {
		t.end(s, e.Time, "", "")
		return
	}
	errorType, message, ran := "", "", true
	if f := out.Failure; f != nil {
		errorType, message, ran = string(f.Kind), f.Message, f.Ran()
	}
	t.check(r, s, e.Time, out, ran)
	t.end(s, e.Time, errorType, message, append(t.content("writ.observation", e.Observation),
		attribute.Float64("writ.program.computing", out.Computing.Seconds()),
		attribute.Float64("writ.program.waiting", out.Waiting.Seconds()))...)
	t.metrics.program(s, e.Time, errorType)
}

// check makes the span of a program's check. It begins with the program, and includes the time in which the program
// waited for a worker. If the program ran, the check ended when the duration of the run began.
func (t *Telemetry) check(r *run, program *span, end time.Time, out *sandbox.Outcome, ran bool) {
	errorType, findings := "", 0
	if ran {
		end = earlier(r.checked, end.Add(-out.Duration))
	} else {
		errorType, findings = string(out.Failure.Kind), len(out.Failure.Findings)
	}
	if end.Before(program.began) {
		end = program.began
	}
	s := t.start(program.ctx, "check", program.began, trace.SpanKindInternal)
	t.end(s, end, errorType, "", attribute.Int("writ.check.findings", findings),
		attribute.Int("writ.check.warnings", len(out.Warnings)))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// finish ends a run.
func (t *Telemetry) finish(r *run, e event.RunEnd) {
	errorType, message := "", ""
	if e.Err != nil {
		errorType, message = errorOf(e.Err), e.Err.Error()
	}
	t.endStep(r, e.Time, errorType)
	t.end(r.root, e.Time, errorType, message, append(t.content("writ.output", string(e.Output)),
		append(usageAttributes(r.usage), attribute.Bool("writ.fallback", e.Fallback != ""))...)...)
	t.metrics.run(r.root, e, t.options.Provider, errorType)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, e.Run)
	if enclosing := t.runs[e.Parent]; enclosing != nil {
		enclosing.add(r.usage)
	}
}

// add adds the usage of a run within r.
func (r *run) add(u event.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage = r.usage.Add(u)
}
