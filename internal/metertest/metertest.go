// Package metertest has a meter provider for tests.
package metertest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Provider is a [metric.MeterProvider]. It has the sums of counters and the counts of histograms.
type Provider struct {
	noop.MeterProvider
	mu        sync.Mutex
	values    map[string]int64
	callbacks []metric.Callback
}

// New returns a Provider.
func New() *Provider { return &Provider{values: map[string]int64{}} }

// Meter implements [metric.MeterProvider].
func (p *Provider) Meter(string, ...metric.MeterOption) metric.Meter { return &meter{provider: p} }

func (p *Provider) add(name string, set attribute.Set, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values[line(name, set)] += n
}

func line(name string, set attribute.Set) string {
	return name + "{" + set.Encoded(attribute.DefaultEncoder()) + "}"
}

// Text returns the metrics, one on each line: http.server.active_requests{http.request.method=POST,url.scheme=http} 1.
func (p *Provider) Text() string {
	p.mu.Lock()
	o := &observer{values: maps.Clone(p.values)}
	callbacks := slices.Clone(p.callbacks)
	p.mu.Unlock()
	for _, f := range callbacks {
		_ = f(context.Background(), o)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.values)) {
		fmt.Fprintf(&b, "%s %d\n", name, o.values[name])
	}
	return b.String()
}

type meter struct {
	noop.Meter
	provider *Provider
}

// Float64Histogram implements [metric.Meter].
func (m *meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return &histogram{name: name, provider: m.provider}, nil
}

// Int64UpDownCounter implements [metric.Meter].
func (m *meter) Int64UpDownCounter(
	name string, _ ...metric.Int64UpDownCounterOption,
) (metric.Int64UpDownCounter, error) {
	return &counter{name: name, provider: m.provider}, nil
}

// Int64ObservableUpDownCounter implements [metric.Meter].
func (m *meter) Int64ObservableUpDownCounter(
	name string, _ ...metric.Int64ObservableUpDownCounterOption,
) (metric.Int64ObservableUpDownCounter, error) {
	return &observable{name: name}, nil
}

// RegisterCallback implements [metric.Meter].
func (m *meter) RegisterCallback(f metric.Callback, _ ...metric.Observable) (metric.Registration, error) {
	m.provider.mu.Lock()
	defer m.provider.mu.Unlock()
	m.provider.callbacks = append(m.provider.callbacks, f)
	return noop.Registration{}, nil
}

type histogram struct {
	noop.Float64Histogram
	name     string
	provider *Provider
}

// Enabled implements [metric.Float64Histogram].
func (h *histogram) Enabled(context.Context) bool { return true }

// Record implements [metric.Float64Histogram].
func (h *histogram) Record(_ context.Context, _ float64, o ...metric.RecordOption) {
	h.provider.add(h.name, metric.NewRecordConfig(o).Attributes(), 1)
}

type counter struct {
	noop.Int64UpDownCounter
	name     string
	provider *Provider
}

// Enabled implements [metric.Int64UpDownCounter].
func (c *counter) Enabled(context.Context) bool { return true }

// Add implements [metric.Int64UpDownCounter].
func (c *counter) Add(_ context.Context, n int64, o ...metric.AddOption) {
	c.provider.add(c.name, metric.NewAddConfig(o).Attributes(), n)
}

type observable struct {
	noop.Int64ObservableUpDownCounter
	name string
}

type observer struct {
	noop.Observer
	values map[string]int64
}

// ObserveInt64 implements [metric.Observer].
func (o *observer) ObserveInt64(what metric.Int64Observable, n int64, options ...metric.ObserveOption) {
	o.values[line(what.(*observable).name, metric.NewObserveConfig(options).Attributes())] = n
}
