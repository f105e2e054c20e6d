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

// instruments are the metrics. The values of their attributes are the names of models, modules and tools, and kinds of
// errors, so that their number is bounded.
type instruments struct {
	tokens                      metric.Int64Histogram
	operations, calls, programs metric.Float64Histogram
}

// open creates the instruments. The bounds of the buckets are those that the conventions recommend.
func (i *instruments) open(m metric.Meter) error {
	bounds := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24,
		20.48, 40.96, 81.92)
	usage, err1 := genaiconv.NewClientTokenUsage(m, metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096,
		16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	operations, err2 := genaiconv.NewClientOperationDuration(m, bounds)
	calls, err3 := m.Float64Histogram("writ.tool.call.duration", bounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of tool calls, except those that the journal answered."))
	programs, err4 := m.Float64Histogram("writ.program.duration", bounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of programs, including their check and their tool calls."))
	*i = instruments{usage.Inst(), operations.Inst(), calls, programs}
	return errors.Join(err1, err2, err3, err4)
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
			i.tokens.Record(s.ctx, int64(n), metric.WithAttributes(nonZero(append([]attribute.KeyValue{kind}, attributes...)...)...))
		}
	}
	s.record(i.operations, e.Time, f, attributes...)
}
