package sandbox_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

//go:embed testdata/script60.js
var script60 string

// crunch is a program that processes much data.
const crunch = `
const rows = Array.from({length: 100000}, (_, i) => ({id: i, group: i % 97, amount: (i * 7919) % 1000}));
const kept = rows.filter(r => r.amount > 100).map(r => ({...r, amount: r.amount * 2}));
kept.sort((a, b) => b.amount - a.amount || a.id - b.id);
const groups = {};
for (const r of kept) (groups[r.group] ??= []).push(r.amount);
const sums = Object.entries(groups).map(([g, list]) => [g, list.reduce((a, b) => a + b, 0)]);
JSON.parse(JSON.stringify(kept)).length + sums.length`

// BenchmarkOverhead compares the sandbox with the floor, goja alone, both in one process
// and in turn. The metric x-raw is the median of ours divided by raw.
//
// The programs are the same in every run, as attempts of agents often are; those of new
// are different. In tools200, the floor is our own run without tools; in tools10000, which
// calls one of them, it is our own run with ten. In crunch, the program processes 100,000
// elements.
//
// In call, it is the time of one awaited tool call; the floor is a promise that a
// goroutine resolves, with JSON in both directions. In parallel20, twenty simultaneous
// calls of 50 ms are compared with one.
func BenchmarkOverhead(b *testing.B) {
	for _, tier := range []struct {
		name string
		open func(*sandbox.Options) (*sandbox.Sandbox, error)
	}{{"inprocess", sandbox.NewInProcess}, {"isolated", sandbox.New}} {
		box := open(b, tier.open)
		set := fiveTools(b)
		b.Run("trivial/"+tier.name, func(b *testing.B) {
			compare(b, func() { rawRun(b, "1+1") }, func() { run(b, box, set, "1+1") })
		})
		b.Run("script60/"+tier.name, func(b *testing.B) {
			wrapped := "(async()=>{" + lastReturned(script60) + "\n})()"
			compare(b, func() { rawRun(b, wrapped) }, func() { run(b, box, set, script60) })
		})
		b.Run("new/trivial/"+tier.name, func(b *testing.B) {
			compare(b, func() { rawRun(b, "1+1") }, func() { run(b, box, set, fresh("1+1")) })
		})
		b.Run("new/script60/"+tier.name, func(b *testing.B) {
			wrapped := "(async()=>{" + lastReturned(script60) + "\n})()"
			compare(b, func() { rawRun(b, wrapped) }, func() { run(b, box, set, fresh(script60)) })
		})
		b.Run("tools200/"+tier.name, func(b *testing.B) {
			other, many := open(b, tier.open), manyTools(b, 200) // a sandbox is fastest with the set that it had last
			compare(b, func() { run(b, other, nil, fresh("1+1")) }, func() { run(b, box, many, fresh("1+1")) })
		})
		b.Run("tools10000/"+tier.name, func(b *testing.B) {
			other, ten, many := open(b, tier.open), serverTools(b, 10), serverTools(b, 10_000)
			const call = `await server0.tool0({ customer: "a" })`
			compare(b, func() { run(b, other, ten, fresh(call)) }, func() { run(b, box, many, fresh(call)) })
		})
		b.Run("crunch/"+tier.name, func(b *testing.B) {
			wrapped := "(async()=>{" + lastReturned(crunch) + "\n})()"
			compare(b, func() { rawRun(b, wrapped) }, func() { run(b, box, set, crunch) })
		})
		b.Run("call/"+tier.name, func(b *testing.B) {
			compareCalls(b, func(n int) { rawCalls(b, n) }, func(n int) { run(b, box, set, calls(n, "echo")) })
		})
	}
	b.Run("parallel20/inprocess", func(b *testing.B) {
		box, set := open(b, sandbox.NewInProcess), fiveTools(b)
		compare(b,
			func() { run(b, box, set, "await slow({})") },
			func() { run(b, box, set, "await Promise.all(Array.from({length: 20}, () => slow({})))") })
	})
}

// compare times floor and ours in turn.
func compare(b *testing.B, floor, ours func()) {
	compareBy(b, func() (time.Duration, time.Duration) { return clock(floor), clock(ours) })
}

// compareCalls measures the cost of one more call.
func compareCalls(b *testing.B, floor, ours func(n int)) {
	perCall := func(f func(int)) time.Duration {
		return (clock(func() { f(101) }) - clock(func() { f(1) })) / 100
	}
	compareBy(b, func() (time.Duration, time.Duration) { return perCall(floor), perCall(ours) })
}

func compareBy(b *testing.B, sample func() (floor, ours time.Duration)) {
	b.Helper()
	sample() // warm up
	var ratios, each []float64
	for b.Loop() {
		floor, ours := sample()
		ratios = append(ratios, float64(ours)/float64(floor))
		each = append(each, float64(ours))
	}
	b.ReportMetric(median(ratios), "x-raw")
	b.ReportMetric(median(each)/1000, "µs-ours")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}

func clock(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

func open(b testing.TB, make func(*sandbox.Options) (*sandbox.Sandbox, error)) *sandbox.Sandbox {
	b.Helper()
	box, err := make(&sandbox.Options{Limits: sandbox.Limits{Calls: 1000, Concurrency: 32}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := box.Close(); err != nil {
			b.Error(err)
		}
	})
	return box
}

type echoArgs struct {
	Customer string   `json:"customer"`
	Limit    int      `json:"limit"`
	Tags     []string `json:"tags"`
}

func fiveTools(b *testing.B) *tools.Set {
	b.Helper()
	echo := func(_ context.Context, in echoArgs) (echoArgs, error) { return in, nil }
	slow := func(context.Context, struct{}) (int, error) {
		time.Sleep(50 * time.Millisecond)
		return 1, nil
	}
	set, err := tools.NewSet(b.Context(),
		tools.Func("echo", "Echo.", echo, nil), tools.Func("slow", "Take 50 ms.", slow, nil),
		tools.Func("third", "", echo, nil), tools.Func("fourth", "", echo, nil), tools.Func("fifth", "", echo, nil))
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// manyTools returns a set of n tools, which are not called.
func manyTools(b *testing.B, n int) *tools.Set {
	b.Helper()
	list := make([]tools.Source, n)
	for i := range list {
		echo := func(_ context.Context, in echoArgs) (echoArgs, error) { return in, nil }
		list[i] = tools.Func(fmt.Sprintf("tool%d", i), "Echo.", echo, nil)
	}
	set, err := tools.NewSet(b.Context(), list...)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

// serverTools returns a set of n tools, ten for each server.
func serverTools(b *testing.B, n int) *tools.Set {
	b.Helper()
	list := make([]tools.Source, n)
	for i := range list {
		list[i] = &tools.Tool{
			Namespace: fmt.Sprintf("server%d", i/10), Name: fmt.Sprintf("tool%d", i), Description: "Echo.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"customer":{"type":"string"}}}`),
			Handler:     answers(`1`),
		}
	}
	set, err := tools.NewSet(b.Context(), list...)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

var programs atomic.Int64

// fresh returns a program that has not run before.
func fresh(source string) string { return fmt.Sprintf("%s\n//%d", source, programs.Add(1)) }

func run(b *testing.B, box *sandbox.Sandbox, set *tools.Set, source string) {
	out, err := box.Run(b.Context(), sandbox.Program{Source: source, Tools: set})
	if err != nil {
		b.Fatal(err)
	}
	if out.Failure != nil {
		b.Fatal(out.Failure)
	}
}

// rawRun is the floor: goja with five bound functions and nothing else.
func rawRun(b *testing.B, source string) {
	vm := goja.New()
	for _, name := range []string{"echo", "slow", "third", "fourth", "fifth"} {
		if err := vm.Set(name, func(goja.FunctionCall) goja.Value { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	v, err := vm.RunString(source)
	if err != nil {
		b.Fatal(err)
	}
	if p, ok := v.Export().(*goja.Promise); ok && p.State() != goja.PromiseStateFulfilled {
		b.Fatal(p.Result())
	}
}

func calls(n int, tool string) string {
	return fmt.Sprintf(`for (let i = 0; i < %d; i++) await %s({customer: "c" + i, limit: i, tags: ["a", "b"]});`, n, tool)
}

// rawCalls awaits n calls of a function that a goroutine answers.
func rawCalls(b *testing.B, n int) {
	vm := goja.New()
	jobs := make(chan func())
	stringify, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("stringify"))
	parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
	err := vm.Set("echo", func(c goja.FunctionCall) goja.Value {
		text, err := stringify(goja.Undefined(), c.Argument(0))
		if err != nil {
			panic(err)
		}
		args := json.RawMessage(text.String())
		p, resolve, _ := vm.NewPromise()
		go func() {
			var in echoArgs
			if err := json.Unmarshal(args, &in); err != nil {
				b.Error(err)
			}
			result, err := json.Marshal(in)
			if err != nil {
				b.Error(err)
			}
			jobs <- func() {
				v, err := parse(goja.Undefined(), vm.ToValue(string(result)))
				if err == nil {
					err = resolve(v)
				}
				if err != nil {
					b.Error(err)
				}
			}
		}()
		return vm.ToValue(p)
	})
	if err != nil {
		b.Fatal(err)
	}
	v, err := vm.RunString("(async()=>{" + calls(n, "echo") + "})()")
	if err != nil {
		b.Fatal(err)
	}
	for main := v.Export().(*goja.Promise); main.State() == goja.PromiseStatePending; {
		(<-jobs)()
	}
}

// lastReturned makes the last line of a script its value, as the sandbox does.
func lastReturned(script string) string {
	script = strings.TrimRight(script, "\n")
	i := strings.LastIndexByte(script, '\n') + 1
	return script[:i] + "return " + script[i:]
}
