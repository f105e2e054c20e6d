package queue

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// bounds are the upper bounds of the histograms' buckets, in seconds.
var bounds = metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

// meter records the calls of a [Queue], and of the queues that AddQueue added.
type meter struct {
	meter        metric.Meter
	waited, took metric.Float64Histogram
}

func newMeter(p metric.MeterProvider) *meter {
	p = cmp.Or[metric.MeterProvider](p, noop.NewMeterProvider())
	m := &meter{meter: p.Meter("github.com/writ-go/writ/agent/queue")}
	m.waited, _ = m.meter.Float64Histogram("writ.queue.wait.duration", bounds, metric.WithUnit("s"),
		metric.WithDescription("Waiting time of calls, including calls that did not run."))
	m.took, _ = m.meter.Float64Histogram("writ.queue.call.duration", bounds, metric.WithUnit("s"),
		metric.WithDescription("Duration of calls that ran, without the waiting time."))
	return m
}

// watch reports how many calls run and wait.
func (m *meter) watch(q *Queue) {
	running, _ := m.meter.Int64ObservableUpDownCounter("writ.queue.running", metric.WithUnit("{call}"),
		metric.WithDescription("Running calls."))
	waiting, _ := m.meter.Int64ObservableUpDownCounter("writ.queue.waiting", metric.WithUnit("{call}"),
		metric.WithDescription("Waiting calls."))
	name := metric.WithAttributes(attribute.String("writ.queue.name", q.name))
	_, _ = m.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		q.mu.Lock()
		defer q.mu.Unlock()
		o.ObserveInt64(running, int64(q.running), name)
		o.ObserveInt64(waiting, int64(q.waiting), name)
		return nil
	}, running, waiting)
}

// ended records a call. A call that did not run has no time at which it started.
func (m *meter) ended(ctx context.Context, name string, begin, started time.Time, err error) {
	outcome, waited := "done", time.Since(begin)
	switch {
	case started.IsZero() && errors.Is(err, ErrBusy):
		outcome = "busy"
	case started.IsZero(), errors.Is(err, context.Canceled), errors.Is(err, ErrStopped):
		outcome = "cancelled"
	case err != nil:
		outcome = "failed"
	}
	set := metric.WithAttributeSet(attribute.NewSet(attribute.String("writ.queue.name", name),
		attribute.String("writ.queue.outcome", outcome)))
	if !started.IsZero() {
		waited = started.Sub(begin)
		m.took.Record(ctx, time.Since(started).Seconds(), set)
	}
	m.waited.Record(ctx, waited.Seconds(), set)
}
