//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// trial is a program, and what is right to answer.
type trial struct {
	code    string
	timeout float64
	hostile bool
	right   func(e execution) bool
}

func trivial(i int) trial {
	want := strconv.Itoa(i * 7)
	return trial{code: fmt.Sprintf("%d * 7", i),
		right: func(e execution) bool { return e.Success && string(e.Result) == want }}
}

// ordinary programs compute, call tools and print.
func ordinary(i int) trial {
	switch i % 3 {
	case 0:
		return trivial(i)
	case 1:
		want := strconv.Itoa(i + 7)
		return trial{code: fmt.Sprintf("const n = %d;\n%s + n", i, sumProgram), right: func(e execution) bool {
			return e.Success && string(e.Result) == want && len(e.Calls) == 2 && e.Calls[0].OK && e.Calls[1].OK
		}}
	default:
		printed := fmt.Sprintf("line %d\n", i)
		return trial{code: fmt.Sprintf("console.log('line', %d); [...Array(100).keys()].map(n => n + %d)", i, i),
			right: func(e execution) bool {
				var list []int
				return e.Success && e.Stdout == printed && json.Unmarshal(e.Result, &list) == nil && len(list) == 100 &&
					list[99] == 99+i
			}}
	}
}

func failed(kind string) func(execution) bool {
	return func(e execution) bool { return !e.Success && e.ErrorType == kind }
}

// hostile programs crash, hang, eat memory and write without end.
func hostile(i int) trial {
	all := []trial{
		{code: `const a = []; a.push(a); a["fl" + "at"](Infinity)`, right: failed("CRASHED")},
		{code: `for (;;);`, timeout: 0.3, right: failed("TIMEOUT")},
		{code: `const a = []; for (let n = 0; ; n++) a.push(String(n).repeat(1e6))`, right: failed("MEMORY_LIMIT")},
		{code: `for (let i = 0; i < 20000; i++) console.log("x".repeat(99))`, right: func(e execution) bool {
			return e.Success && e.StdoutTruncated && e.StdoutBytes == 2_000_000 && len(e.Stdout) < 80_000
		}},
	}
	h := all[i%len(all)]
	h.hostile = true
	return h
}

func mixed(i int) trial {
	if i%20 == 19 {
		return hostile(i / 20)
	}
	return ordinary(i)
}

// answers are how a load was answered.
type answers struct {
	executions, hostile, wrong, lost int
	took                             time.Duration
	latencies                        []time.Duration // of programs that are not hostile
}

func (a answers) percentile(p float64) time.Duration {
	slices.Sort(a.latencies)
	return a.latencies[int(p*float64(len(a.latencies)-1))].Round(100 * time.Microsecond)
}

func (a answers) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %.0f | %v | %v |", name, a.executions, a.hostile, a.wrong, a.lost,
		float64(a.executions)/a.took.Seconds(), a.percentile(0.5), a.percentile(0.99))
}

// load has clients, each a principal and every other one of the older protocol,
// run n programs between them.
func load(t *testing.T, r *running, tokens []string, n int, program func(i int) trial) answers {
	t.Helper()
	a := answers{executions: n}
	var mu sync.Mutex
	var next atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for c, token := range tokens {
		session := dialed(t.Context(), t, r.url, token, []string{newEra, oldEra}[c%2])
		all.Go(func() {
			defer session.Close()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				p := program(i)
				started := time.Now()
				e, err := execute1(t.Context(), session, p)
				took := time.Since(started)
				mu.Lock()
				switch {
				case err != nil:
					a.lost++
					t.Errorf("program %d: %v", i, err)
				case !p.right(e):
					a.wrong++
					t.Errorf("program %d: %.300s: %.600s", i, p.code, fmt.Sprintf("%+v", e))
				}
				if p.hostile {
					a.hostile++
				} else {
					a.latencies = append(a.latencies, took)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	a.took = time.Since(begin)
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() // how many are kept differs
	return a
}

func execute1(ctx context.Context, session *mcp.ClientSession, p trial) (execution, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	args := map[string]any{"code": p.code}
	if p.timeout > 0 {
		args["timeout"] = p.timeout
	}
	return answered[execution](ctx, session, "execute_code", args)
}

// TestLoad is the server under load, one program in twenty of which is hostile.
// No answer may be wrong or missing, and nothing may be left behind. With
// WRIT_TEST_LOAD it runs that many programs of 64 clients, and prints the tables
// of docs/measured/serve.md.
func TestLoad(t *testing.T) {
	clients, n := 8, 300
	if text := os.Getenv("WRIT_TEST_LOAD"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		clients = 64
	}
	path, _ := config(t)
	tokens, file := writeTokens(t, clients)
	r := launch(t, "-config", path, "-tokens", file)
	load(t, r, tokens, 4*clients, ordinary) // warm
	before := r.idle(t)
	only := load(t, r, tokens, n, trivial)
	all := load(t, r, tokens, n, mixed)
	after := r.idle(t)
	for begin := time.Now(); after.over(before) && time.Since(begin) < time.Minute; { // a busy machine takes its time
		after = r.idle(t)
	}
	t.Logf("\n| programs | executions | hostile | wrong | lost | per second | p50 | p99 "+
		"|\n|---|---|---|---|---|---|---|---|\n%s\n%s",
		only.row("trivial"), all.row("mixed"))
	t.Logf("\n| | RSS, MB | children | descriptors | goroutines |\n|---|---|---|---|---|\n%s\n%s", before.row("before"),
		after.row("after"))
	if after.over(before) {
		t.Errorf("something is left behind: %+v before, %+v after", before, after)
	}
}

// over reports whether there is more than before.
func (u usage) over(before usage) bool {
	return u.rss > before.rss+30 || u.children > before.children || u.descriptors > before.descriptors ||
		u.goroutines > before.goroutines
}

func (u usage) row(name string) string {
	return fmt.Sprintf("| %s | %s |", name,
		strings.Trim(strings.Join(strings.Fields(fmt.Sprint(u.rss, u.children, u.descriptors, u.goroutines)), " | "), "{}"))
}

// idle waits until nothing has changed for a second, for at most fifteen:
// connections are closed some time after the last client has gone.
func (r *running) idle(t *testing.T) usage {
	t.Helper()
	u, since, end := r.usage(t), time.Now(), time.Now().Add(15*time.Second)
	for time.Now().Before(end) && time.Since(since) < time.Second {
		time.Sleep(200 * time.Millisecond)
		now := r.usage(t)
		if now.children != u.children || now.descriptors != u.descriptors || now.goroutines != u.goroutines {
			since = time.Now()
		}
		u = now
	}
	return u
}
