package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// sample returns many if all tests are to be run, and few otherwise.
func sample(few, many int) int {
	if os.Getenv("WRIT_TEST_FULL") == "1" {
		return many
	}
	return few
}

func itoa(n int) string { return strconv.Itoa(n) }

// tool returns a set of one tool.
var tool = []engine.Binding{{Namespace: "t", Names: []string{"f"}}}

func job(source string) *engine.Job {
	return &engine.Job{Source: source, Tools: tool, Limits: engine.Limits{Time: 4 * time.Minute}}
}

func newPool(t testing.TB, o Options) *Pool {
	t.Helper()
	o.Kind = cmp.Or(o.Kind, fakes)
	p, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// first returns the worker that has been idle the longest.
func first(p *Pool) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle[0].instance
}

// mustEcho checks that the pool still works.
func mustEcho(t testing.TB, p *Pool, text string) {
	t.Helper()
	res, err := p.Run(t.Context(), nil, job("echo:"+text), &enginetest.Host{})
	if err != nil || res.Failure != nil || string(res.Value) != `"`+text+`"` {
		t.Fatalf("echo: %+v (%v), %v", res, res.Failure, err)
	}
}

// mustFail runs a program that must fail soon. The next run must work.
func mustFail(t *testing.T, p *Pool, j *engine.Job, h *enginetest.Host) *engine.Failure {
	t.Helper()
	start := time.Now()
	res, err := p.Run(t.Context(), nil, j, h)
	if err != nil {
		t.Fatal(err)
	}
	if res.Failure == nil {
		t.Fatalf("the program did not fail: %+v", res)
	}
	if d := time.Since(start); d > endTime {
		t.Errorf("it took %v", d)
	}
	mustEcho(t, p, "next")
	return res.Failure
}

func TestRun(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	for i := range 20 {
		mustEcho(t, p, itoa(i))
	}
	res, err := p.Run(t.Context(), nil, job("echo:x"), &enginetest.Host{Refuse: true})
	if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindRefused {
		t.Errorf("refused: %+v, %v", res, err)
	}
	res, err = p.Run(t.Context(), nil, job("syntax"), &enginetest.Host{})
	if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindSyntax {
		t.Errorf("syntax: %+v, %v", res, err)
	}
	mustEcho(t, p, "again")
	if w := first(p); w.runs != 23 {
		t.Errorf("worker %d did %d runs, not all 23", w.cmd.Process.Pid, w.runs)
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	h := &enginetest.Host{}
	res, err := p.Run(t.Context(), nil, job("call:50"), h)
	if err != nil || string(res.Value) != `{"n":1}` || h.Called.Load() != 50 {
		t.Errorf("%+v, %v after %d calls", res, err, h.Called.Load())
	}
	h = &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) {
		reply(engine.Reply{Error: &engine.ToolError{Kind: "denied", Message: "no"}}) // at once, and twice
		reply(engine.Reply{})
	}}
	res, err = p.Run(t.Context(), nil, job("call"), h)
	if err != nil || res.Failure == nil || res.Failure.Tool.Kind != "denied" {
		t.Errorf("denied: %+v, %v", res, err)
	}
	h = &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) {
		reply(engine.Reply{Value: json.RawMessage("{not json")})
	}}
	res, err = p.Run(t.Context(), nil, job("call"), h)
	if err != nil || res.Failure == nil || res.Failure.Message != "the tool's result is not valid JSON" {
		t.Errorf("bad reply: %+v, %v", res, err)
	}
}

func TestLargeFrames(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	long := strings.Repeat("x", 2<<20)
	mustEcho(t, p, long)
	big, _ := json.Marshal(long)
	h := &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) { go reply(engine.Reply{Value: big}) }}
	res, err := p.Run(t.Context(), nil, job("call:3"), h)
	if err != nil || string(res.Value) != string(big) {
		t.Errorf("%d bytes, %v", len(res.Value), err)
	}
}

func TestToolsChange(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	mustEcho(t, p, "with a tool")
	j := job("call")
	j.Tools = nil
	if f := mustFail(t, p, j, &enginetest.Host{}); !strings.Contains(f.Message, "a call to tool 0") {
		t.Error(f.Message)
	}
}

func TestManyRuns(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 4})
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 20 {
				text := fmt.Sprintf("%d-%d", g, i)
				res, err := p.Run(t.Context(), nil, job("echo:"+text), &enginetest.Host{})
				if err != nil || string(res.Value) != `"`+text+`"` {
					t.Errorf("%s: %+v, %v", text, res, err)
				}
				res, err = p.Run(t.Context(), nil, job("call:3"), &enginetest.Host{})
				if err != nil || string(res.Value) != `{"n":1}` {
					t.Errorf("%s: %+v, %v", text, res, err)
				}
			}
			if _, err := p.Run(t.Context(), nil, job("die"), &enginetest.Host{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 4 {
		t.Errorf("%d workers are idle, more than the pool may have", n)
	}
}

func TestDeaths(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Memory: 64 << 20})
	for _, tt := range []struct{ source, kind, message string }{
		{"die", engine.KindCrashed, "the process that ran the program died: panic: no more"},
		{"exit", engine.KindCrashed, "the process that ran the program died: exit status 7"},
		{"recurse", engine.KindCrashed, stackOverflow().Message},
		{"allocate", engine.KindMemory, "the program ran out of memory"},
		{"grow", engine.KindMemory, "the program ran out of memory"},
	} {
		f := mustFail(t, p, job(tt.source), &enginetest.Host{})
		if f.Kind != tt.kind || f.Message != tt.message {
			t.Errorf("%s: %s: %s", tt.source, f.Kind, f.Message)
		}
	}
}

func TestLies(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	const broke = "the worker broke the protocol: "
	for source, message := range map[string]string{
		"raw-early-call":    broke + "call 1, but the program was not allowed to run",
		"raw-bad-id":        broke + "call 7 after call 0",
		"raw-same-id":       broke + "call 1 after call 1",
		"raw-bad-tool":      broke + "a call to tool 5, but the number of tools is 1",
		"echo:bad-site":     broke + "a call site for tool 99, but the number of tools is 1",
		"raw-waiting":       broke + "waiting after 1 replies, but 0 were sent",
		"raw-waiting-twice": broke + "waiting after 0 replies, but 0 were sent",
		"raw-waiting-call":  broke + "call 2 while the program waits",
		"raw-turns":         broke + "frame 'C': too many array elements",
		"raw-early-turn":    broke + "a turn refers to call 1, which does not exist",
		"raw-many-turns":    broke + "100003 turns, but 100002 are allowed",
		"raw-more-turns":    broke + "100004 turns, but 100002 are allowed",
		"raw-old-run":       broke + "frame 'E' of run 0 in run 1",
		"raw-two-reports":   broke + "a second report",
		"raw-unknown-kind":  broke + "unexpected frame '?'",
		"raw-host-kind":     broke + "unexpected frame 'V'",
		"raw-early-end":     broke + "success, but the program was not allowed to run",
		"raw-odd-failure":   broke + `a failure of kind "approved"`,
		"raw-used":          broke + "use of tools that do not exist",
		"raw-stale":         broke + "a session or prelude that was sent is reported missing",
		"raw-late-stale":    broke + "a session or prelude that was sent is reported missing",
		"raw-same-key":      broke + `frame 'C': duplicate key "a"`,
		"raw-other-case":    broke + "call 2 after call 0",
		"raw-deep":          broke + "frame 'C': nested deeper than 1024 levels",
		"raw-not-json":      broke + "frame 'E': unexpected end of JSON input",
		"raw-huge":          broke + "frame 'E' of 4294967295 bytes exceeds the limit of 16777216",
		"raw-garbage":       broke + "frame 'a' of 1734439522 bytes exceeds the limit of 16777216",
		"close":             broke + "it closed the connection",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, Options{Max: 1})
			h := &enginetest.Host{}
			if strings.HasPrefix(source, "raw-waiting") {
				h.OnCall = func(engine.Call, func(engine.Reply)) {}
			}
			j := job(source)
			j.Record = source != "raw-turns"
			f := mustFail(t, p, j, h)
			if f.Kind != engine.KindCrashed || f.Message != message {
				t.Errorf("%s: %s", f.Kind, f.Message)
			}
		})
	}
	for _, pause := range []time.Duration{0, 40 * time.Millisecond} {
		res, err := p.Run(t.Context(), nil, job("raw-unasked"), &enginetest.Host{})
		if err != nil || string(res.Value) != "1" {
			t.Errorf("unasked: %+v, %v", res, err)
		}
		time.Sleep(pause) // it sends the second result before the next run, or during it
		mustEcho(t, p, "in another worker")
	}
}

// endTime is how long a busy machine may take to end a program.
const endTime = 2 * time.Minute

func TestDeadline(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for _, source := range []string{"hang", "spin"} {
		j := job(source)
		j.Limits.Time = 100 * time.Millisecond
		start := time.Now()
		res, err := p.Run(t.Context(), nil, j, &enginetest.Host{})
		late := time.Since(start) - j.Limits.Time
		if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindTimeout {
			t.Fatalf("%+v, %v", res, err)
		}
		if late < gracePeriod || late > endTime {
			t.Errorf("%s: returned %v after the deadline", source, late)
		}
		mustEcho(t, p, "next")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	for source, message := range map[string]string{
		"wait": "stopped in time", // the worker says so
		"hang": "the program was stopped",
	} {
		start := time.Now()
		res, err := cancelled(t, p, source)
		for source == "wait" && err == nil && res.Failure != nil && res.Failure.Message != message &&
			time.Since(start) < endTime {
			res, err = cancelled(t, p, source) // it was too busy to say so
		}
		if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindStopped || res.Failure.Message != message {
			t.Errorf("%s: %+v, %v", source, res, err)
		}
		if d := time.Since(start); d > endTime {
			t.Errorf("%s took %v", source, d)
		}
		mustEcho(t, p, "next")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, nil, job("echo:x"), &enginetest.Host{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// cancelled runs a program whose caller cancels when it begins.
func cancelled(t *testing.T, p *Pool, source string) (*engine.Result, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return p.Run(ctx, nil, job(source), &enginetest.Host{OnJudge: cancel})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	busy, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	h := &enginetest.Host{OnCall: func(engine.Call, func(engine.Reply)) { close(started) }}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = p.Run(busy, nil, job("call"), h) })
	<-started
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := p.Run(ctx, nil, job("echo:x"), &enginetest.Host{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in the queue: %v", err)
	}
	wg.Go(func() {
		if _, err := p.Run(t.Context(), nil, job("echo:x"), &enginetest.Host{}); !errors.Is(err, ErrClosed) {
			t.Errorf("in the queue of a closed pool: %v", err)
		}
	})
	time.Sleep(10 * time.Millisecond) // until it waits, or finds the pool closed
	wg.Go(func() { p.Close() })
	<-p.slots.closed
	cancel() // not earlier, or it would be its turn
	wg.Wait()
	if _, err := p.Run(t.Context(), nil, job("echo:x"), &enginetest.Host{}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestLateReply(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	var late func(engine.Reply)
	h := &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) { late = reply }}
	res, err := p.Run(t.Context(), nil, job("abandon"), h)
	if err != nil || string(res.Value) != `"gone"` {
		t.Fatalf("%+v, %v", res, err)
	}
	late(engine.Reply{Value: json.RawMessage("1")})
	mustEcho(t, p, "next")
	if first(p).runs != 2 {
		t.Error("the worker was not used again")
	}
}

func TestHostPanics(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	h := &enginetest.Host{OnCall: func(engine.Call, func(engine.Reply)) { panic("host") }}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		_, _ = p.Run(t.Context(), nil, job("call"), h)
	}()
	mustEcho(t, p, "next")
}

func TestNoise(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	res, err := p.Run(t.Context(), nil, job("noise"), &enginetest.Host{})
	if err != nil || string(res.Value) != `"said"` {
		t.Fatalf("%+v, %v", res, err)
	}
	mustEcho(t, p, "next")
	if n := len(first(p).log.String()); n == 0 || n > logSize {
		t.Errorf("%d bytes were kept", n)
	}
}

func TestNest(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	res, err := p.Run(t.Context(), nil, job("nest"), &enginetest.Host{})
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal(res.Value, &got); err != nil || got != errNested.Error() {
		t.Errorf("%s, %v", res.Value, err)
	}
}

func TestBadJob(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{})
	j := job("echo:x")
	j.Inputs = []engine.Input{{Name: "x", JSON: json.RawMessage("{")}}
	if _, err := p.Run(t.Context(), nil, j, &enginetest.Host{}); !errors.Is(err, worker.ErrEncode) {
		t.Error(err)
	}
	mustEcho(t, p, "next")
}

func TestDiesIdle(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	w := first(p)
	w.end()
	<-w.exited
	mustEcho(t, p, "in another")
}

func TestIdleEnds(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 3, Idle: 200 * time.Millisecond})
	var wg sync.WaitGroup
	var all sync.WaitGroup
	all.Add(3)
	for range 3 {
		wg.Go(func() {
			h := &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) {
				all.Done()
				go func() { all.Wait(); reply(engine.Reply{}) }()
			}}
			if _, err := p.Run(t.Context(), nil, job("call"), h); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		p.mu.Lock()
		n := len(p.idle)
		p.mu.Unlock()
		if n == 1 {
			break
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("%d workers are idle", n)
		}
	}
	mustEcho(t, p, "in the last")
}

// TestIdleEndsWithPool closes a pool at the time when its idle workers end.
func TestIdleEndsWithPool(t *testing.T) {
	t.Parallel()
	for range sample(4, 20) {
		p := newPool(t, Options{Max: 2, Idle: time.Nanosecond})
		w, err := newInstance(t.Context(), &p.opts)
		if err != nil {
			t.Fatal(err)
		}
		go p.trim() // as its timer does
		p.park(w)
		go p.trim()
		p.Close()
		<-w.exited
		p.mu.Lock()
		if n := len(p.idle); n != 0 {
			t.Errorf("%d workers are idle", n)
		}
		p.mu.Unlock()
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Kind: "nobody"},
			`start worker: this program cannot become a worker of kind "nobody": import the package that registers the ` +
				`kind, or set Options.Command`},
		{Options{Memory: 1}, "a memory limit of 1 bytes is too small: use at least 16777216"},
		{Options{Max: -1}, "an option is negative: use zero for the default"},
	} {
		if _, err := NewPool(tt.o); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}

// TestFlood has a worker that continues to make calls after its caller has gone.
func TestFlood(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &enginetest.Host{OnCall: func(c engine.Call, _ func(engine.Reply)) {
		if c.ID == 5 {
			cancel()
		}
	}}
	res, err := p.Run(ctx, nil, job("raw-flood"), h)
	if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindStopped {
		t.Errorf("%+v, %v", res, err)
	}
	mustEcho(t, p, "next")
}

// TestUnread has a worker that does not read. Its handlers do not wait, and the replies that wait
// for it are bounded.
func TestUnread(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1, Memory: 64 << 20})
	big, _ := json.Marshal(strings.Repeat("x", 8<<20))
	var wg sync.WaitGroup
	h := &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) {
		wg.Go(func() { reply(engine.Reply{Value: big}) })
	}}
	res, err := p.Run(t.Context(), nil, job("raw-deaf"), h)
	if err != nil || res.Failure == nil || res.Failure.Kind != engine.KindMemory || !strings.Contains(res.Failure.Message,
		"tool results waiting") {
		t.Errorf("%+v, %v", res, err)
	}
	wg.Wait()
	mustEcho(t, p, "next")
}

// TestUsedUp checks that a program has all of its memory, whatever ran before it.
func TestUsedUp(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1, Memory: 128 << 20})
	for range sample(3, 10) {
		res, err := p.Run(t.Context(), nil, job("swell:70"), &enginetest.Host{})
		if err != nil || string(res.Value) != `"70"` {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	mustEcho(t, p, "in a fresh worker")
	if runs := first(p).runs; runs != 1 {
		t.Errorf("%d runs in a worker that grew", runs)
	}
	for range 100 {
		res, err := p.Run(t.Context(), nil, job("swell:1"), &enginetest.Host{})
		if err != nil || string(res.Value) != `"1"` {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if runs := first(p).runs; runs < 50 {
		t.Errorf("%d runs in a worker that did not grow", runs)
	}
}

// TestFIFO checks that the caller that has waited longest is next. Whether a caller waits cannot be
// observed, so each gets some time to begin, and more if that was too short.
func TestFIFO(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	for pause := 5 * time.Millisecond; ; pause *= 4 {
		order := inTurn(t, p, pause)
		if slices.IsSorted(order) && len(order) == 20 {
			return
		}
		if pause > time.Second {
			t.Fatal(order)
		}
	}
}

// inTurn has twenty callers that wait for one worker, each of which begins after a pause, and
// returns the order in which they get it.
func inTurn(t *testing.T, p *Pool, pause time.Duration) (order []int) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	wg.Go(func() {
		h := &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) {
			go func() { <-start; reply(engine.Reply{}) }()
		}}
		_, _ = p.Run(t.Context(), nil, job("call"), h)
	})
	waitFor(t, func() bool { return p.busy() == 1 })
	for i := range 20 {
		arrived := make(chan struct{})
		wg.Go(func() {
			close(arrived)
			h := &enginetest.Host{OnCall: func(_ engine.Call, reply func(engine.Reply)) {
				order = append(order, i) // one at a time
				reply(engine.Reply{})
			}}
			if _, err := p.Run(t.Context(), nil, job("call"), h); err != nil {
				t.Error(err)
			}
		})
		<-arrived
		time.Sleep(pause)
	}
	close(start)
	wg.Wait()
	return order
}

// busy returns the number of workers that are neither idle nor gone.
func (p *Pool) busy() int {
	p.slots.mu.Lock()
	defer p.slots.mu.Unlock()
	return p.slots.workers
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for start := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatal("the order was never right")
		}
	}
}

// TestHostile has some callers that keep killing workers. The others continue.
func TestHostile(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 2, Memory: 64 << 20})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for ctx.Err() == nil {
				res, err := p.Run(ctx, nil, job([]string{"die", "allocate", "raw-garbage"}[i%3]), &enginetest.Host{})
				if err == nil && res.Failure == nil || err != nil && ctx.Err() == nil {
					t.Error(res, err)
				}
			}
		})
	}
	for i := range sample(8, 30) {
		mustEcho(t, p, itoa(i))
	}
	cancel()
	wg.Wait()
	mustEcho(t, p, "after all")
}

// TestFailedStart has workers that are not ready in time. After the first of them, runs fail at once for a while.
func TestFailedStart(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	good := p.opts
	p.unpark(&engine.Job{}).retire()
	p.opts.Command, p.opts.StartTimeout = []string{"/bin/sleep", "60"}, 500*time.Millisecond
	begin := time.Now()
	for i := range 5 {
		_, err := p.Run(t.Context(), nil, job("echo:x"), &enginetest.Host{})
		if !errors.Is(err, errStartup) {
			t.Fatalf("run %d: got %v, want %v", i, err, errStartup)
		}
	}
	if took := time.Since(begin); took > 4*p.opts.StartTimeout { // 5 of them without the pause
		t.Errorf("five runs took %v to fail", took)
	}
	p.opts = good
	p.mu.Lock()
	p.notBefore = time.Time{}
	p.mu.Unlock()
	mustEcho(t, p, "again")
	if p.startErr != nil {
		t.Error("the error of the last start is kept:", p.startErr)
	}
}

// TestIdleWorkersDie has workers that are ready, but die before their first run.
func TestIdleWorkersDie(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	p.unpark(&engine.Job{}).retire()
	for range 3 {
		w, err := newInstance(t.Context(), &p.opts)
		if err != nil {
			t.Fatal(err)
		}
		w.end()
		<-w.exited
		p.mu.Lock()
		p.idle = append(p.idle, idleInstance{w, time.Now()})
		p.mu.Unlock()
	}
	mustEcho(t, p, "later")
}

// TestDiagnosis has the ways in which workers have been observed to die.
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	status := func(command string) *os.ProcessState {
		cmd := exec.Command("/bin/sh", "-c", command)
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState
	}
	two, race := status("exit 2"), status("exit 66")
	for _, tt := range []struct {
		log   string
		state *os.ProcessState
		kind  string
		want  string
	}{
		{"runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow", two, engine.KindCrashed,
			stackOverflow().Message},
		{"fatal error: runtime: out of memory", two, engine.KindMemory, ""},
		{"fatal error: runtime: cannot map pages in arena address space", two, engine.KindMemory, ""},
		{"fatal error: unexpected signal during runtime execution\n[signal SIGSEGV: segmentation violation", two,
			engine.KindMemory, ""},
		{"runtime/cgo: pthread_create failed: Resource temporarily unavailable", status("kill -ABRT $$"), engine.KindMemory,
			""},
		{"", two, engine.KindMemory, ""},
		{"", status("kill -SEGV $$"), engine.KindMemory, ""},
		{"", status("kill -BUS $$"), engine.KindMemory, ""},
		{"", status("kill -KILL $$"), engine.KindMemory, ""},
		{"ThreadSanitizer: CHECK failed", race, engine.KindMemory, ""},
		{"", race, engine.KindMemory, ""},
		{"panic: no more\n\ngoroutine 7", two, engine.KindCrashed, "the process that ran the program died: panic: no more"},
		{"fatal error: concurrent map writes", two, engine.KindCrashed,
			"the process that ran the program died: fatal error: concurrent map writes"},
		{"writ worker: frame 'T' is odd", status("exit 125"), engine.KindCrashed,
			"the process that ran the program died: writ worker: frame 'T' is odd"},
		{"", status("exit 7"), engine.KindCrashed, "the process that ran the program died: exit status 7"},
		{"", status("kill -SYS $$"), engine.KindCrashed,
			"the process that ran the program died: it made a forbidden system call"},
	} {
		f := diagnose(tt.log, tt.state)
		if f.Kind != tt.kind || tt.want != "" && f.Message != tt.want {
			t.Errorf("%q, %v: %s: %s", tt.log, tt.state, f.Kind, f.Message)
		}
	}
}
