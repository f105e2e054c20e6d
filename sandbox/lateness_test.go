package sandbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// lateness is the maximum time between the deadline of a run and its end.
const lateness = 250 * time.Millisecond

// overtimers are programs that do not end by themselves. The engine can interrupt the
// first half; the others are in native functions and end only with their process.
var overtimers = []string{
	`for (;;);`,
	`await new Promise(r => setInterval(() => 1, 1))`,
	`const f = () => Promise.resolve().then(() => f()); for (;;) await null`,
	`[2, 1].sort(() => { for (;;); })`,
	`({get value() { for (;;); }})`,
	`try { for (;;); } finally { for (;;); }`,
	`await wait({})`,
	`Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`,
	`/^(?=(a+)+$)\1b/.test("a".repeat(40) + "!")`,
	`3n ** 3n ** 17n`,
	`JSON.stringify(new Proxy([], {get: (t, k) => k === "length" ? 2 ** 53 - 1 : undefined}))`,
	`const s = new Set([1]); s.union({size: 1, has() {}, keys: () => ({next: () => ({done: false, value: 1})})})`,
	`const p = new Proxy({}, {getPrototypeOf: () => p}); p instanceof Map`,
	`const o = Array.from({length: 1e4}, (_, i) => [i]); for (;;) o.flat().reverse().join("")`,
}

// BenchmarkLateness runs endless programs and measures how long after its deadline each
// run ends. The metric p99-ms must not exceed lateness. The time counts from when a
// program has a worker; wait-p99-ms is how long it waits for one, because nearly every run
// before it has killed one.
func BenchmarkLateness(b *testing.B) {
	const limit = 100 * time.Millisecond
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Time: limit}, Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := box.Close(); err != nil {
			b.Error(err)
		}
	}()
	var late, wait []float64
	for b.Loop() {
		for _, source := range overtimers {
			set, _ := attackTools()
			start := time.Now()
			out, err := box.Run(b.Context(), sandbox.Program{Source: source, Tools: set})
			if err != nil || out.Failure == nil || out.Failure.Kind != sandbox.KindTimeout {
				b.Fatalf("%s: %s", source, outcomeOf(out, err))
			}
			late = append(late, milliseconds(out.Duration-limit))
			wait = append(wait, milliseconds(time.Since(start)-out.Duration))
		}
	}
	slices.Sort(late)
	slices.Sort(wait)
	p99 := late[len(late)*99/100]
	b.ReportMetric(p99, "p99-ms")
	b.ReportMetric(late[len(late)/2], "p50-ms")
	b.ReportMetric(late[len(late)-1], "max-ms")
	b.ReportMetric(wait[len(wait)*99/100], "wait-p99-ms")
	b.ReportMetric(0, "ns/op") // it would be mostly the limit
	if p99 > milliseconds(lateness) {
		b.Errorf("of 100 runs more than one ended %.0f ms after its deadline", p99)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
