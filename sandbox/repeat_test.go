package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// event is a line of a recording: source and start, turns, an issued call, or its result.
type event struct {
	Source, Start []byte   `json:",omitempty"`
	Turns         [][]byte `json:",omitempty"`
	Issued        string   `json:",omitempty"` // the call
	Settled       int      `json:",omitempty"` // the number of the call, from 1
	Result        json.RawMessage
	Error         *tools.ToolError
}

// tape is an attempt that records a program, and repeats an earlier recording of it.
type tape struct {
	mu     sync.Mutex
	old    []event // the recording that is repeated
	events []event // the recording of this run
	issued int
}

func (p *tape) add(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

func (p *tape) Records() bool { return true }

func (p *tape) Begin(source, start []byte) (recorded []byte, turns [][]byte, err error) {
	for i, e := range p.old {
		if turns = append(turns, e.Turns...); i == 0 {
			start = e.Start
			if !bytes.Equal(e.Source, source) {
				return nil, nil, fmt.Errorf("the source was %s, but is %s", e.Source, source)
			}
		}
	}
	p.add(event{Source: source, Start: start})
	return start, turns, nil
}

func (p *tape) Turns(turns [][]byte) { p.add(event{Turns: turns}) }

func (p *tape) Issue(c tools.Call, _ []*tools.Binding) (dispatch.Entry, error) {
	e := &tapedEntry{tape: p, call: fmt.Sprintf("%d %s(%s) at %d:%d", c.ID, c.Tool.Path(), c.Args, c.Line, c.Column)}
	p.add(event{Issued: e.call})
	p.issued++
	e.number = p.issued
	number := 0
	for _, o := range p.old {
		if o.Issued == "" {
			continue
		}
		if number++; number == e.number && o.Issued != e.call {
			return nil, fmt.Errorf("call %d was %s, but is %s", number, o.Issued, e.call)
		}
	}
	if i := slices.IndexFunc(p.old, func(o event) bool { return o.Settled == e.number }); i >= 0 {
		e.known = &p.old[i]
		p.add(*e.known)
	}
	return e, nil
}

type tapedEntry struct {
	tape   *tape
	call   string
	number int
	known  *event
}

func (e *tapedEntry) Effect() effect.ID { return effect.ID{} }

func (e *tapedEntry) Recorded() (result json.RawMessage, err error, ok bool) {
	if e.known == nil {
		return nil, nil, false
	}
	if e.known.Error != nil {
		return nil, e.known.Error, true
	}
	return e.known.Result, nil, true
}

func (e *tapedEntry) Dispatched(json.RawMessage) error { return nil }

func (e *tapedEntry) Settled(result json.RawMessage, err error, _ string, _ json.RawMessage, _ bool) string {
	te, _ := errors.AsType[*tools.ToolError](err)
	e.tape.add(event{Settled: e.number, Result: result, Error: te})
	return ""
}

// calls returns the calls and the turns of a recording, in order. Its results may be in any order.
func (p *tape) calls() string {
	var b strings.Builder
	for _, e := range p.events {
		for _, t := range e.Turns {
			fmt.Fprintf(&b, "%s\n", t)
		}
		if e.Issued != "" {
			fmt.Fprintf(&b, "%s\n", e.Issued)
		}
	}
	return b.String()
}

// repetition is a program and its recording.
type repetition struct {
	Program string
	Events  []event
	Outcome string // of the recorded run, if Events has all of it
	Calls   string
}

// randomTools returns tools whose results differ from call to call and from process to process, and that take different
// times.
func randomTools() (*tools.Set, error) {
	type args struct {
		N int `json:"n"`
	}
	type result struct {
		N     int    `json:"n"`
		Stamp uint32 `json:"stamp"`
		List  []int  `json:"list"`
	}
	wait := func() {
		if n := rand.IntN(4); n > 0 {
			time.Sleep(time.Duration(rand.IntN(2000*n)) * time.Microsecond)
		}
	}
	get := func(_ context.Context, in args) (result, error) {
		wait()
		stamp := rand.Uint32()
		return result{N: in.N, Stamp: stamp, List: []int{int(stamp % 3), in.N}}, nil
	}
	try := func(ctx context.Context, in args) (result, error) {
		if r, _ := get(ctx, in); r.Stamp%2 == 0 {
			return r, nil
		}
		return result{}, fmt.Errorf("no luck with %d: %d", in.N, rand.Uint32())
	}
	return tools.NewSet(context.Background(), tools.Func("get", "", get, nil), tools.Func("try_it", "", try, nil))
}

// run runs the program, and repeats the given events before that.
func (r repetition) run(box *sandbox.Sandbox, set *tools.Set, old []event) (repetition, error) {
	p := &tape{old: old}
	out, err := box.Run(context.Background(), sandbox.Program{Source: r.Program, Tools: set, Attempt: p, Submit: true})
	if err != nil {
		return r, err
	}
	for i := range out.Calls {
		out.Calls[i].Recorded = false
	}
	return repetition{r.Program, p.events, outcomeOf(out, nil), p.calls()}, nil
}

// check repeats a recording from its beginning, in full, and from the given prefixes. The runs from prefixes are
// repeated in turn.
func (r repetition) check(box *sandbox.Sandbox, set *tools.Set, prefixes []int) error {
	again, err := r.run(box, set, r.Events)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, r.Program)
	}
	if again.Outcome != r.Outcome || again.Calls != r.Calls {
		return fmt.Errorf("%s\ngave %s%s\nthen %s%s", r.Program, r.Outcome, r.Calls, again.Outcome, again.Calls)
	}
	for _, n := range prefixes {
		before := tape{events: r.Events[:n]}
		resumed, err := r.run(box, set, r.Events[:n])
		if err == nil && !strings.HasPrefix(resumed.Calls, before.calls()) {
			err = fmt.Errorf("the calls were %s, but are %s", before.calls(), resumed.Calls)
		}
		if err == nil {
			err = resumed.check(box, set, nil)
		}
		if err != nil {
			return fmt.Errorf("after %d of %d events: %w\n%s", n, len(r.Events), err, r.Program)
		}
	}
	return nil
}

// statements are parts of programs. The letter N stands for a number.
var statements = []string{
	`log.push(await get({n: N}));`,
	`log.push((await Promise.all([1, 2, 3, N].map(n => get({n})))).map(r => r.stamp));`,
	`log.push(await Promise.race([get({n: N}), get({n: N}), sleep(1).then(() => "slept")]));`,
	`log.push(await Promise.any([try_it({n: N}), try_it({n: N}), get({n: 0})]));`,
	`log.push(await Promise.allSettled([try_it({n: N}), get({n: N}), try_it({n: N})]));`,
	`try { log.push(await try_it({n: N})) } catch (e) { log.push(e.message) }`,
	`for (const n of (await get({n: N})).list) log.push((await get({n})).stamp);`,
	`log.push(Date.now(), new Date().toLocaleString(), new Date(2026, N, 1).getTimezoneOffset());`,
	`if (Math.random() < 0.5) await get({n: N}); else log.push(await Promise.race([get({n: N}), get({n: 1})]));`,
	`if (Date.now() % 2) log.push(await get({n: N})); else { await sleep(2); log.push(crypto.randomUUID()); }`,
	`later.push(get({n: N}).then(r => get({n: r.stamp % 100})).then(r => log.push(r.stamp)));`,
	`later.push(try_it({n: N}).catch(e => log.push(e.message)).finally(() => get({n: 5})));`,
	`await new Promise(done => setTimeout(done, N % 3));`,
	`{ let n = 0; await new Promise(done => { const id = setInterval(() => { log.push(n, Date.now());` +
		` if (++n === 3) { clearInterval(id); done() } }, 1) }); }`,
	`setTimeout(() => later.push(get({n: N}).then(r => log.push("timer", r.stamp))), N % 4);`,
	`console.log(log.length, crypto.getRandomValues(new Uint8Array(4)).join());`,
	`{ const first = get({n: N}), t = Date.now(); await sleep(N % 3); log.push(Date.now() - t, (await first).stamp); }`,
	`for await (const r of [get({n: N}), get({n: 2})]) log.push(r.stamp);`,
}

// randomProgram returns a program that depends on everything that must be repeated.
func randomProgram(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("const log = [], later = [];\n")
	for range 2 + random.IntN(6) {
		s := statements[random.IntN(len(statements))]
		b.WriteString(strings.ReplaceAll(s, "N", strconv.Itoa(random.IntN(12))) + "\n")
	}
	ends := []string{"await Promise.all(later); log", "log", "await Promise.all(later); submit(log)",
		"await sleep(1); throw new Error(JSON.stringify(log))"}
	return b.String() + ends[random.IntN(len(ends))]
}

const (
	// repeatEnv is the number of programs that TestRepeat repeats; .ci/long sets it.
	repeatEnv    = "WRIT_TEST_REPLAY"
	repeatSample = 30 // programs where repeatEnv is not set
	// repeatFileEnv names the recordings that this process repeats. TestMain reads it.
	repeatFileEnv = "WRIT_TEST_REPLAY_FILE"
)

// TestRepeat records programs, and repeats them in another process with another time zone, other processors and other
// times of the tools: from the whole recording, and as if the process had crashed at any time.
func TestRepeat(t *testing.T) {
	t.Parallel()
	programs := repeatSample
	if text := os.Getenv(repeatEnv); text != "" {
		var err error
		if programs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	set, err := randomTools()
	if err != nil {
		t.Fatal(err)
	}
	box := newBox(t, nil)
	list := make([]repetition, programs)
	err = concurrently(programs, func(i int) (err error) {
		list[i], err = repetition{Program: randomProgram(uint64(i))}.run(box, set, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "recordings")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), repeatFileEnv+"="+file, "TZ=Asia/Tokyo", "GOMAXPROCS=1")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

// A program that was stopped by a limit is stopped at the same time when it is repeated, although its calls are answered
// at once and the limits are higher.
func TestLimitIsRepeated(t *testing.T) {
	t.Parallel()
	set := newSet(t, tools.Func("slow", "", slow, nil))
	for source, want := range map[string]sandbox.Kind{
		`try { await slow({ms: 600000}) } catch {} await slow({ms: 1}); console.log("no")`: sandbox.KindTimeout,
		`await slow({ms: 1}); for (;;);`: sandbox.KindTimeout,
		`const a = [await slow({ms: 1})]; console.log(1); await sleep(1); a.push(a); a["fl" + "at"](Infinity)`: "crashed",
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			box := newBox(t, &sandbox.Options{Limits: sandbox.Limits{Time: ample}})
			first := &tape{}
			p := sandbox.Program{Source: source, Tools: set, Attempt: first, Limits: sandbox.Limits{Time: 200 * time.Millisecond}}
			if want == "crashed" {
				p.Limits.Time = ample
			}
			out, err := box.Run(t.Context(), p)
			if err != nil || out.Failure == nil || out.Failure.Kind != want {
				t.Fatal(outcomeOf(out, err))
			}
			p.Attempt = &tape{old: first.events}
			if strings.Contains(source, "600000") {
				p.Limits.Time = ample
			}
			again, err := box.Run(t.Context(), p)
			if err != nil || again.Failure == nil || again.Failure.Kind != want || again.Stdout != out.Stdout ||
				len(again.Calls) != len(out.Calls) || p.Attempt.(*tape).calls() != first.calls() {
				t.Errorf("got %s%s\nthen %s%s", outcomeOf(out, nil), first.calls(), outcomeOf(again, err),
					p.Attempt.(*tape).calls())
			}
		})
	}
}

// The programs of a session are recorded and repeated like others. The earlier programs of the session are part of what
// is compared.
func TestSessionIsRepeated(t *testing.T) {
	t.Parallel()
	set, err := randomTools()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		sources := []string{
			`const found = await get({n: 1}), at = Date.now(); await sleep(2); const later = Date.now(); [found, at, later]`,
			`[found, at, later, Math.random(), await Promise.race([get({n: 2}), get({n: 3})])]`,
		}
		run := func(session *sandbox.Session, source string, old []event) ([]event, string, error) {
			p := &tape{old: old}
			out, err := session.Run(t.Context(), sandbox.Program{Source: source, Tools: set, Attempt: p})
			if err != nil {
				return nil, "", err
			}
			return p.events, string(out.Value), nil
		}
		var recordings [2][]event
		var values [2]string
		first := box.NewSession(nil)
		for i, source := range sources {
			var err error
			if recordings[i], values[i], err = run(first, source, nil); err != nil {
				t.Fatal(err)
			}
		}
		second := box.NewSession(nil)
		for i, source := range sources {
			if _, value, err := run(second, source, recordings[i]); err != nil || value != values[i] {
				t.Errorf("program %d: got %s, not %s: %v", i+1, value, values[i], err)
			}
			if i == 0 { // rebuild the session
				out, err := second.Run(t.Context(), sandbox.Program{Source: `throw 1`})
				if err != nil || out.Failure == nil {
					t.Error(outcomeOf(out, err))
				}
			}
		}
		other := box.NewSession(nil)
		if _, _, err := run(other, sources[0], nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := run(other, sources[1], recordings[1]); !tools.IsFatal(err) ||
			!strings.HasPrefix(err.Error(), "sandbox: record the program: the source was ") {
			t.Errorf("after another program: %.200v", err)
		}
	})
}

// If a program does not do what was recorded, the run ends with an error that says so.
func TestRepeatDiverges(t *testing.T) {
	t.Parallel()
	set, err := randomTools()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, sandbox.Limits{}, func(t *testing.T, box *sandbox.Sandbox) {
		first := &tape{}
		p := sandbox.Program{Source: `await get({n: 1}); await sleep(1); 1`, Tools: set, Attempt: first}
		if out, err := box.Run(t.Context(), p); err != nil || out.Failure != nil {
			t.Fatal(outcomeOf(out, err))
		}
		for damage, want := range map[string]string{
			`{"timer":2,"at":5}`: "not do the same; it can only go on as a new run: the program waited 3 times, " +
				"but its rerun waited 2 times",
			`{"timer":2,"at":5,"x":1}`: "record the program: json: unknown field",
		} {
			old := append(slices.Clone(first.events), event{Turns: [][]byte{[]byte(damage)}})
			p.Attempt = &tape{old: old}
			out, err := box.Run(t.Context(), p)
			if err == nil || !tools.IsFatal(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %s", outcomeOf(out, err))
			}
		}
	})
}

// concurrently calls f with the numbers below n, some of them at the same time.
func concurrently(n int, f func(i int) error) error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = f(i)
			<-slots
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// repeatAll repeats the recordings in a file. Of every tenth, it repeats all prefixes, and of the others, one.
func repeatAll(file string, w io.Writer) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var list []repetition
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	set, err := randomTools()
	if err != nil {
		return err
	}
	err = concurrently(len(list), func(i int) error {
		var prefixes []int
		for n := range list[i].Events {
			if i%10 == 0 || n == i%len(list[i].Events) {
				prefixes = append(prefixes, n)
			}
		}
		return list[i].check(box, set, prefixes)
	})
	fmt.Fprintf(w, "%d programs\n", len(list))
	return err
}
