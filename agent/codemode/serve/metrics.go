package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bounds are the upper bounds of the histogram buckets, in seconds.
var bounds = [...]float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// durations is a histogram.
type durations struct {
	buckets [len(bounds) + 1]uint64
	sum     float64
	count   uint64
}

func (d *durations) add(t time.Duration) {
	seconds := t.Seconds()
	i, _ := slices.BinarySearch(bounds[:], seconds)
	d.buckets[i]++
	d.sum += seconds
	d.count++
}

func (d *durations) write(w io.Writer, name, help string) {
	head(w, name, "histogram", help)
	total := uint64(0)
	for i, b := range bounds {
		total += d.buckets[i]
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, strconv.FormatFloat(b, 'g', -1, 64), total)
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %g\n%s_count %d\n", name, d.count, name, d.sum, name, d.count)
}

func head(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func gauge(w io.Writer, name, help string, value int) {
	head(w, name, "gauge", help)
	fmt.Fprintf(w, "%s %d\n", name, value)
}

// webMeter counts requests. Its labels have a fixed set of values, so that clients cannot fill the memory with their
// own labels.
type webMeter struct {
	mu       sync.Mutex
	requests map[webLabels]uint64
	open     int
	took     durations
}

type webLabels struct {
	method string
	code   int
}

func (m *webMeter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open++
}

func (m *webMeter) end(method string, code int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests = map[webLabels]uint64{}
	}
	m.open--
	m.requests[webLabels{method, code}]++
	m.took.add(took)
}

func (m *webMeter) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head(w, "writ_http_requests_total", "counter", "Requests by method and status.")
	byName := func(a, b webLabels) int {
		return strings.Compare(fmt.Sprint(a.method, a.code), fmt.Sprint(b.method, b.code))
	}
	for _, l := range slices.SortedFunc(maps.Keys(m.requests), byName) {
		fmt.Fprintf(w, "writ_http_requests_total{method=%q,code=\"%d\"} %d\n", l.method, l.code, m.requests[l])
	}
	gauge(w, "writ_http_requests_open", "Requests without a complete response, including streams.", m.open)
	m.took.write(w, "writ_http_request_duration_seconds", "Duration of requests, including streams.")
}

// queueMeter counts and times the calls of a [Queue].
type queueMeter struct {
	mu       sync.Mutex
	outcomes map[string]uint64
	waited   durations
	took     durations
}

func (m *queueMeter) refused(err error) {
	outcome := "cancelled"
	if errors.Is(err, ErrBusy) {
		outcome = "busy"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(outcome)
}

func (m *queueMeter) ran(err error, waited, took time.Duration) {
	outcome := "done"
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrStopped):
		outcome = "cancelled"
	case err != nil:
		outcome = "failed"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(outcome)
	m.waited.add(waited)
	m.took.add(took)
}

func (m *queueMeter) count(outcome string) {
	if m.outcomes == nil {
		m.outcomes = map[string]uint64{}
	}
	m.outcomes[outcome]++
}

// WriteMetrics writes the metrics for the queue, and for the queues that AddQueue added, in Prometheus' text format.
func (q *Queue) WriteMetrics(w io.Writer) {
	q.mu.Lock()
	running, waiting := q.running, q.waiting
	q.mu.Unlock()
	name := "writ_" + q.name
	gauge(w, name+"_running", "Running calls.", running)
	gauge(w, name+"_waiting", "Waiting calls.", waiting)
	q.meter.write(w, name)
	for _, other := range q.list() {
		other.WriteMetrics(w)
	}
}

func (m *queueMeter) write(w io.Writer, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	head(w, name+"_total", "counter", "Calls by outcome.")
	for _, outcome := range []string{"busy", "cancelled", "done", "failed"} {
		fmt.Fprintf(w, "%s_total{outcome=%q} %d\n", name, outcome, m.outcomes[outcome])
	}
	m.waited.write(w, name+"_wait_seconds", "Waiting time of calls.")
	m.took.write(w, name+"_duration_seconds", "Duration of calls.")
}
