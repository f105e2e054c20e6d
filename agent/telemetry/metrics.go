package telemetry

import (
	"errors"
	"time"

	"github.com/writ-go/writ/module/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// instruments are the metrics. The values of their attributes come from the configuration of the modules, and from fixed
// lists, so that their number is bounded.
type instruments struct {
	tokens    genaiconv.ClientTokenUsage
	durations genaiconv.ClientOperationDuration
	calls     metric.Float64Histogram
	programs  metric.Float64Histogram
}

// The bounds of the buckets are those that the conventions recommend.
var (
	tokenBounds = metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576,
		4194304, 16777216, 67108864)
	durationBounds = metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12,
		10.24, 20.48, 40.96, 81.92)
)

func newInstruments(m metric.Meter) (*instruments, error) {
	var i instruments
	var errs [4]error
	i.tokens, errs[0] = genaiconv.NewClientTokenUsage(m, tokenBounds)
	i.durations, errs[1] = genaiconv.NewClientOperationDuration(m, durationBounds)
	i.calls, errs[2] = m.Float64Histogram("writ.tool.call.duration", durationBounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of tool calls, except those that the journal answered."))
	i.programs, errs[3] = m.Float64Histogram("writ.program.duration", durationBounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of programs, including their check and their tool calls."))
	return &i, errors.Join(errs[:]...)
}

// withError adds an error type, unless it is "".
func withError(errorType string, list ...attribute.KeyValue) []attribute.KeyValue {
	if errorType != "" {
		list = append(list, semconv.ErrorTypeKey.String(errorType))
	}
	return list
}

func (i *instruments) chat(s *span, e event.ModelResponse, provider, model, errorType string) {
	list := []attribute.KeyValue{semconv.GenAIOperationNameChat, semconv.GenAIProviderNameKey.String(provider)}
	if model != "" {
		list = append(list, semconv.GenAIRequestModel(model))
	}
	if e.Model != "" {
		list = append(list, semconv.GenAIResponseModel(e.Model))
	}
	n := len(list)
	i.durations.RecordSet(s.ctx, e.Time.Sub(s.began).Seconds(), attribute.NewSet(withError(errorType, list[:n:n]...)...))
	if e.Usage.InputTokens+e.Usage.OutputTokens == 0 { // not reported
		return
	}
	i.tokens.RecordSet(s.ctx, int64(e.Usage.InputTokens), attribute.NewSet(append(list[:n:n], semconv.GenAITokenTypeInput)...))
	i.tokens.RecordSet(s.ctx, int64(e.Usage.OutputTokens), attribute.NewSet(append(list[:n:n], semconv.GenAITokenTypeOutput)...))
}

func (i *instruments) run(s *span, e event.RunEnd, provider, errorType string) {
	i.durations.RecordSet(s.ctx, e.Time.Sub(s.began).Seconds(), attribute.NewSet(withError(errorType,
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIProviderNameKey.String(provider),
		attribute.String("writ.module", e.Module))...))
}

func (i *instruments) call(s *span, e event.ToolCallEnd, errorType string) {
	i.calls.Record(s.ctx, e.Time.Sub(s.began).Seconds(),
		metric.WithAttributes(withError(errorType, semconv.GenAIToolName(e.Call.Tool))...))
}

func (i *instruments) program(s *span, end time.Time, errorType string) {
	i.programs.Record(s.ctx, end.Sub(s.began).Seconds(), metric.WithAttributes(withError(errorType)...))
}
