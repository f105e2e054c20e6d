package codemode

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// awaitCalls waits until n calls are in a state, such as writ.queue.waiting, in one of the server's queues.
func awaitCalls(t *testing.T, s served, state, queue string, n int64) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s.meters.read()[state+" "+queue] == n {
			return
		}
	}
	t.Fatalf("the metrics are %v, want %s %s %d", s.meters.read(), state, queue, n)
}

// meters is a [metric.MeterProvider] that has the gauges of queues.
type meters struct {
	noop.MeterProvider
	callbacks []metric.Callback
}

// Meter implements [metric.MeterProvider].
func (m *meters) Meter(string, ...metric.MeterOption) metric.Meter { return &meter{all: m} }

type meter struct {
	noop.Meter
	all *meters
}

// Int64ObservableUpDownCounter implements [metric.Meter].
func (m *meter) Int64ObservableUpDownCounter(
	name string, _ ...metric.Int64ObservableUpDownCounterOption,
) (metric.Int64ObservableUpDownCounter, error) {
	return &gauge{name: name}, nil
}

// RegisterCallback implements [metric.Meter].
func (m *meter) RegisterCallback(f metric.Callback, _ ...metric.Observable) (metric.Registration, error) {
	m.all.callbacks = append(m.all.callbacks, f)
	return noop.Registration{}, nil
}

// read returns the numbers of calls, by state and queue.
func (m *meters) read() readings {
	r := readings{}
	for _, f := range m.callbacks {
		_ = f(context.Background(), &reader{values: r})
	}
	return r
}

type readings map[string]int64

type reader struct {
	noop.Observer
	values readings
}

type gauge struct {
	noop.Int64ObservableUpDownCounter
	name string
}

// ObserveInt64 implements [metric.Observer].
func (r *reader) ObserveInt64(what metric.Int64Observable, n int64, o ...metric.ObserveOption) {
	set := metric.NewObserveConfig(o).Attributes()
	queue, _ := set.Value("writ.queue.name")
	r.values[what.(*gauge).name+" "+queue.AsString()] = n
}
