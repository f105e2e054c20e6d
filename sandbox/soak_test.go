package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// soakEnv is the environment variable for the number of runs of TestSoak; .ci/long sets
// it.
const soakEnv = "WRIT_TEST_SOAK"

const (
	soakSample  = 100 // runs where soakEnv is not set
	soakWorkers = 4
	soakAtOnce  = 16
	soakHostile = 10 // one in so many
	// soakGrowth is how much the memory of this process may grow after the first tenth
	// of a soak.
	soakGrowth = 32 << 20
)

// soakPrograms are correct programs with the input n.
var soakPrograms = []struct {
	source string
	want   func(n int) string
}{
	{`n * 2`, func(n int) string { return fmt.Sprintf("value: %d\n", 2*n) }},
	{`console.log("run", n); globalThis.left = n; Array.prototype.left = n; [n].length`,
		func(n int) string { return fmt.Sprintf("value: 1\nstdout:\n  run %d\n", n) }},
	{`[typeof globalThis.left, [].left, Math.max(...Array.from({length: 100}, (_, i) => i + n))]`,
		func(n int) string { return fmt.Sprintf("value: [\"undefined\",null,%d]\n", n+99) }},
	{`(await Promise.all([1, 2].map(i => echo({n: n * i})))).map(r => r.n)`, func(n int) string {
		return fmt.Sprintf("value: [%[1]d,%[2]d]\ncall 1 at 1:36: echo({\"n\":%[1]d}) → {\"n\":%[1]d}\ncall 2 at "+
			"1:36: echo({\"n\":%[2]d}) → {\"n\":%[2]d}\n", n, 2*n)
	}},
	{`await sleep(1); submit({n})`, func(n int) string { return fmt.Sprintf("submitted: {\"n\":%d}\n", n) }},
}

// soakAttacks are hostile programs that end soon, with the kind of their failure.
var soakAttacks = []struct {
	source  string
	timeout time.Duration
	want    sandbox.Kind
}{
	{`throw new Error("no")`, 0, sandbox.KindThrown},
	{`const f = () => [1].map(f); f()`, 0, sandbox.KindThrown},
	{`const a = []; a.push(a); a["fl" + "at"](Infinity)`, 0, "crashed"},
	{`"x"["rep" + "eat"](2 ** 40)`, 0, sandbox.KindMemoryLimit},
	{`for (;;);`, 20 * time.Millisecond, sandbox.KindTimeout},
	{`Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`, 20 * time.Millisecond, sandbox.KindTimeout},
	{`await new Promise(() => {})`, 0, "deadlock"},
	{`for (let i = 0; i < 3000; i++) echo({i}).catch(() => 1)`, 0, sandbox.KindCallLimit},
	{`let a = ;`, 0, sandbox.KindSyntax},
	{`"x".repeat(1e6)`, 0, "output_limit"},
}

// TestSoak runs many programs at the same time, one in ten of them hostile. No run may get
// the result of another, and neither memory nor goroutines, descriptors or child processes
// may accumulate. It does not run in parallel with other tests.
func TestSoak(t *testing.T) {
	runs := soakSample
	if text := os.Getenv(soakEnv); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	before := resources()
	box, err := sandbox.New(&sandbox.Options{Limits: sandbox.Limits{Memory: attackMemory, Time: ample, Compute: ample},
		Workers: soakWorkers})
	if err != nil {
		t.Fatal(err)
	}
	set := newSet(t, raw("echo", answersItself))
	start := time.Now()
	soak(t, box, set, 0, runs/10)
	warm := resources()
	soak(t, box, set, runs/10, runs)
	end := resources()
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	took := time.Since(start)
	after := settled(before)
	t.Logf("| runs | hostile | seconds | runs/s |")
	t.Logf("|---|---|---|---|")
	t.Logf("| %d | %d | %.0f | %.0f |", runs, runs/soakHostile, took.Seconds(), float64(runs)/took.Seconds())
	t.Logf("|")
	t.Logf("| | memory, MiB | goroutines | sockets and pipes | children |")
	t.Logf("|---|---|---|---|---|")
	for _, row := range []struct {
		when string
		usage
	}{{"before", before}, {"after a tenth", warm}, {"at the end", end}, {"closed", after}} {
		t.Logf("| %s | %d | %d | %d | %d |", row.when, row.memory>>20, row.goroutines, row.descriptors, row.children)
	}
	// The race detector keeps memory for the maximum number of goroutines: with it, memory
	// approaches 250 MiB, without it, 23.
	if !raceDetector && end.memory > warm.memory+soakGrowth {
		t.Errorf("memory grew from %d to %d bytes", warm.memory, end.memory)
	}
	if end.children > soakWorkers {
		t.Errorf("%d child processes are left, more than the workers", end.children)
	}
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.children > before.children {
		t.Errorf("before: %+v, after: %+v", before, after)
	}
}

func answersItself(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
	return args, nil
}

// soak makes the runs from first to end, soakAtOnce at a time.
func soak(t *testing.T, box *sandbox.Sandbox, set *tools.Set, first, end int) {
	var next atomic.Int64
	next.Store(int64(first))
	var wg sync.WaitGroup
	for range soakAtOnce {
		wg.Go(func() {
			for !t.Failed() {
				n := int(next.Add(1)) - 1
				if n >= end {
					return
				}
				soakOne(t, box, set, n)
			}
		})
	}
	wg.Wait()
}

func soakOne(t *testing.T, box *sandbox.Sandbox, set *tools.Set, n int) {
	p := sandbox.Program{Inputs: map[string]any{"n": n}, Tools: set, Submit: true}
	if n%soakHostile == 0 {
		attack := soakAttacks[n/soakHostile%len(soakAttacks)]
		p.Source, p.Limits.Time = attack.source, attack.timeout
		out, err := box.Run(t.Context(), p)
		if err != nil || out.Failure == nil || out.Failure.Kind != attack.want {
			t.Errorf("run %d, %s: %s", n, attack.source, outcomeOf(out, err))
		}
		return
	}
	program := soakPrograms[n%len(soakPrograms)]
	p.Source = program.source
	if got, want := outcomeOf(box.Run(t.Context(), p)), program.want(n); got != want {
		t.Errorf("run %d, %s: got %s, want %s", n, p.Source, got, want)
	}
}

// usage is what this process uses.
type usage struct {
	memory                            int
	goroutines, descriptors, children int
}

func resources() usage {
	runtime.GC()
	return usage{
		memory: residentMemory(), goroutines: runtime.NumGoroutine(),
		descriptors: len(leaktest.Descriptors()), children: len(leaktest.Children()),
	}
}

// settled waits until no more is in use than before.
func settled(before usage) usage {
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		if now := resources(); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors &&
			now.children <= before.children {
			return now
		}
		time.Sleep(10 * time.Millisecond)
	}
	return resources()
}

// residentMemory returns the resident memory in bytes, or 0 if the system does not report
// it.
func residentMemory() int {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			kb, _ := strconv.Atoi(strings.Fields(string(rest))[0])
			return kb << 10
		}
	}
	return 0
}
