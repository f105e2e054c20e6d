package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// BenchmarkCall compares calls with and without policies, measured in turn in one process.
// x-raw is the ratio of the median times. The tool returns 300 bytes, or 64 KB in redact64k.
func BenchmarkCall(b *testing.B) {
	secrets := newSecrets(b, "correct horse battery staple", "another secret", "0123456789abcdef0123456789abcdef")
	yes := func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Approved: true}, nil
	}
	quiet := slog.New(slog.DiscardHandler)
	five := []tools.Policy{
		policy.Audit(quiet, nil),
		policy.Redact(secrets),
		policy.Allow(policy.Tools("mail.*", "orders.*"), ""),
		policy.If(policy.Destructive(), policy.Approve(yes)),
		policy.Rate(1e9, time.Second, 0),
	}
	record, page := recordOf(300), recordOf(64<<10)
	for _, bench := range []struct {
		name     string
		result   json.RawMessage
		policies []tools.Policy
	}{
		{"five", record, five},
		{"all", record, append(slices.Clone(five), policy.DenySecrets(secrets), policy.Retry(nil),
			policy.Timeout(time.Minute))},
		{"audit", record, five[:1]}, {"redact", record, five[1:2]}, {"allow", record, five[2:3]},
		{"when", record, five[3:4]}, {"rate", record, five[4:]},
		{"retry", record, []tools.Policy{policy.Retry(nil)}},
		{"timeout", record, []tools.Policy{policy.Timeout(time.Minute)}},
		{"redact64k", page, five[1:2]},
	} {
		b.Run(bench.name, func(b *testing.B) {
			set := newSet(b,
				tool("orders.get", tools.Hints{}, func(context.Context, json.RawMessage) (json.RawMessage,
					error) {
					return bench.result, nil
				}))
			compare(b, set, set.With(bench.policies...))
		})
	}
}

// recordOf returns JSON of about size bytes.
func recordOf(size int) json.RawMessage {
	var b strings.Builder
	b.WriteString(`[`)
	for i := 0; b.Len() < size-40; i++ {
		fmt.Fprintf(&b, `{"id":%d,"name":"a name with\na few words","sum":12.50,"open":true},`, i)
	}
	return json.RawMessage(b.String() + `null]`)
}

// compare measures a hundred calls of each set in turn.
func compare(b *testing.B, raw, ours *tools.Set) {
	b.Helper()
	run := func(set *tools.Set) time.Duration {
		d, start := dispatch.New(set, nil), time.Now()
		for range 100 {
			if _, err := d.Issue(tools.Call{Args: json.RawMessage(`{"id":"a1"}`)}, 0).Perform(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start) / 100
	}
	run(raw)
	run(ours)
	var ratios, each []float64
	for b.Loop() {
		floor, took := run(raw), run(ours)
		ratios = append(ratios, float64(took)/float64(floor))
		each = append(each, float64(took))
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(each[len(each)/2]/1000, "µs-ours")
	b.ReportMetric(0, "ns/op") // it would be both together
}
