package module

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
)

// BenchmarkEvents measures the cost of the two events of a tool call that nobody observes. The floor, which is
// subtracted, copies the calls that the events have.
func BenchmarkEvents(b *testing.B) {
	const calls = 100
	_, r := begin(b.Context(), "CodeAct", "", nil)
	call := sandbox.Call{ID: 1, Tool: "mail.send", Args: json.RawMessage(`{"to": "ada"}`), Line: 3, Column: 7}
	var copied [2]event.Event
	var ours, floor time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range calls {
			r.emit(event.ToolCallStart{Origin: r.at(1), Call: call})
			r.emit(event.ToolCallEnd{Origin: r.at(1), Call: call})
		}
		middle := time.Now()
		for range calls {
			copied = [2]event.Event{event.ToolCallStart{Call: call}, event.ToolCallEnd{Call: call}}
		}
		ours, floor = ours+middle.Sub(start), floor+time.Since(middle)
	}
	_ = copied
	perCall := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N*calls) }
	b.ReportMetric(perCall(ours-floor), "ns/call")
	b.ReportMetric(perCall(floor), "raw-ns/call")
}
