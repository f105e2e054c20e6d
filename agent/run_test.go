package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

var errFull = errors.New("no space left on device")

// disk is a Store that keeps what was synced, and fails after a number of operations.
type disk struct {
	journal.Store
	mu      sync.Mutex
	left    int // operations until it is full; negative: never full
	records [][]byte
	synced  int
}

func newDisk(left int, records ...[]byte) *disk {
	return &disk{Store: journal.NewMemory(), left: left, records: records, synced: len(records)}
}

// restart returns the disk that the next process finds. It has space.
func (d *disk) restart() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return newDisk(-1, d.records[:d.synced]...)
}

// has reports whether a durable record contains a string.
func (d *disk) has(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.records[:d.synced], func(r []byte) bool { return strings.Contains(string(r), text) })
}

func (d *disk) Open(ctx context.Context, run string) (journal.Log, error) {
	log, err := d.Store.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return &diskLog{Log: log, disk: d, had: slices.Clone(d.records)}, nil
}

type diskLog struct {
	journal.Log
	disk *disk
	had  [][]byte
}

func (l *diskLog) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range l.had {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l *diskLog) work(do func()) error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.disk.left == 0 {
		return errFull
	}
	l.disk.left--
	do()
	return nil
}

func (l *diskLog) Append(r []byte) error {
	return l.work(func() { l.disk.records = append(l.disk.records, slices.Clone(r)) })
}

func (l *diskLog) Sync() error { return l.work(func() { l.disk.synced = len(l.disk.records) }) }

// When the disk is full, the run says so, and makes no call that is not durable. Later, it goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	const program = `const a = await note({to: "ann"}); const b = await note({to: "bob"}); submit({answer: a + b + ""})`
	for left := 0; ; left++ {
		o, d := &office{}, newDisk(left)
		bot, model := o.bot(t, program)
		pred, err := agent.Start(t.Context(), agent.NewRuns(d), "r-1", bot, task)
		if err == nil {
			if left < 10 || pred.Output.Answer != "3" {
				t.Errorf("after %d operations: %v", left, pred)
			}
			return
		}
		if !errors.Is(err, errFull) && !strings.Contains(err.Error(), errFull.Error()) {
			t.Errorf("after %d operations: %v", left, err)
		}
		for _, name := range []string{"ann", "bob"} {
			if strings.Contains(o.String(), name) && !d.has(`note`) {
				t.Errorf("after %d operations: the call for %s is not durable", left, name)
			}
		}
		again := d.restart()
		runs := agent.NewRuns(again)
		at, err := runs.Checkpoint(t.Context(), "r-1")
		if errors.Is(err, agent.ErrNoRun) {
			if _, err = agent.Start(t.Context(), runs, "r-1", bot, task); err == nil {
				err = errors.New("the model's only reply was asked for twice")
			}
			if len(model.Requests()) > 1 || o.String() != "note:ann note:bob" {
				t.Errorf("after %d operations: started again: %v; the tools did %s", left, err, o)
			}
			continue
		}
		bot, _ = o.bot(t, program) // the first reply may be lost
		_, err = agent.Resume(t.Context(), runs, bot, at, nil)
		for range 3 {
			p, ok := errors.AsType[*agent.PausedError](err)
			if !ok {
				break
			}
			decisions := map[string]agent.Decision{}
			for _, w := range p.Checkpoint.Waiting {
				if !w.Unknown {
					t.Errorf("%v waits for approval", w)
				}
				outcome := &journal.Reconciled{State: journal.StateRejected}
				for _, name := range []string{"ann", "bob"} {
					if strings.Contains(string(w.Args), name) && strings.Contains(o.String(), name) {
						outcome = &journal.Reconciled{State: journal.StateOK, Result: []byte("1")}
					}
				}
				decisions[w.ID] = agent.Decision{Outcome: outcome}
			}
			if len(decisions) == 0 {
				t.Fatalf("after %d operations: nothing to decide: %v", left, err)
			}
			_, err = agent.Resume(t.Context(), runs, bot, p.Checkpoint, decisions)
		}
		if err != nil || o.String() != "note:ann note:bob" {
			t.Errorf("after %d operations: the tools did %s, and the error is %v", left, o, err)
		}
	}
}

// A run whose process ended while a tool was working waits for a decision.
func TestCrashDuringCall(t *testing.T) {
	t.Parallel()
	for _, state := range []journal.State{journal.StateOK, journal.StateRejected} {
		o, d := &office{}, newDisk(-1)
		var copied *disk
		act := tools.Func("act", "Act.", func(context.Context, mail) (int, error) {
			if copied == nil {
				copied = d.restart()
			}
			return o.did("act"), nil
		}, &tools.Hints{Class: tools.Effect})
		set, err := tools.NewSet(t.Context(), act)
		if err != nil {
			t.Fatal(err)
		}
		bot, err := agent.New(llmtest.New("```js\nsubmit({answer: 'got ' + await act({to: '<x>'})})\n```"),
			&agent.Options{Sandbox: open(t), Tools: set})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Start(t.Context(), agent.NewRuns(d), "r-1", bot, task); err != nil {
			t.Fatal(err)
		}
		runs := agent.NewRuns(copied)
		at, err := runs.Checkpoint(t.Context(), "r-1")
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.Resume(t.Context(), runs, bot, at, nil)
		at = paused(t, err)
		if len(at.Waiting) != 1 || !at.Waiting[0].Unknown || o.String() != "act" {
			t.Fatalf("%v wait; the tools did %s", at.Waiting, o)
		}
		outcome := &journal.Reconciled{State: state}
		want, did := "got 2", "act act"
		if state == journal.StateOK {
			outcome.Result, want, did = []byte("7"), "got 7", "act"
		}
		pred, err := agent.Resume(t.Context(), runs, bot, at,
			map[string]agent.Decision{at.Waiting[0].ID: {Outcome: outcome}})
		if err != nil || pred.Output.Answer != want || o.String() != did {
			t.Errorf("%s: got %v, %v; the tools did %s", state, pred, err, o)
		}
	}
}

// If the process ends after a decision was recorded, wherever that happens, nobody has to decide again, unless the call
// was made again.
func TestCrashAfterDecision(t *testing.T) {
	t.Parallel()
	for _, state := range []journal.State{journal.StateOK, journal.StateRejected} {
		for left, ended := 0, false; !ended; left++ {
			o, d := &office{}, newDisk(-1)
			var crashed *disk
			act := tools.Func("act", "Act.", func(context.Context, mail) (int, error) {
				if crashed == nil {
					crashed = d.restart()
				}
				return o.did("act"), nil
			}, &tools.Hints{Class: tools.Effect})
			bot, err := agent.New(llmtest.New("```js\nsubmit({answer: 'got ' + await act({to: 'x'}) + "+
				"await send({to: 'ann'})})\n```"), &agent.Options{Sandbox: open(t), Tools: o.tools(t, act)})
			if err != nil {
				t.Fatal(err)
			}
			_, err = agent.Start(t.Context(), agent.NewRuns(d), "r-1", bot, task)
			paused(t, err)
			resume := func(d *disk, decisions map[string]agent.Decision) (agent.Checkpoint, error) {
				runs := agent.NewRuns(d)
				at, err := runs.Checkpoint(t.Context(), "r-1")
				if err == nil {
					_, err = agent.Resume(t.Context(), runs, bot, at, decisions)
				}
				if p, ok := errors.AsType[*agent.PausedError](err); ok {
					return p.Checkpoint, nil
				}
				return at, err
			}
			at, err := resume(crashed, nil)
			if err != nil || len(at.Waiting) != 1 || !at.Waiting[0].Unknown {
				t.Fatalf("%v wait; %v", at.Waiting, err)
			}
			full := crashed.restart()
			full.left = left
			_, err = resume(full, map[string]agent.Decision{
				at.Waiting[0].ID: {Outcome: &journal.Reconciled{State: state, Result: []byte("7")}}})
			ended = err == nil
			last := full.restart()
			made := o.String()
			if now, err := agent.NewRuns(last).Checkpoint(t.Context(), "r-1"); err != nil ||
				!ended && last.has(`"outcome"`) && len(now.Waiting) > 0 {
				t.Errorf("%s, %d operations: %v wait; %v", state, left, now.Waiting, err)
			}
			if at, err = resume(last, nil); !last.has(`"outcome"`) || made == "act act" {
				continue // the person has to decide, perhaps about another call
			}
			if err != nil || len(at.Waiting) != 1 || at.Waiting[0].Unknown {
				t.Errorf("%s, %d operations: %v wait; %v", state, left, at.Waiting, err)
			}
			if want := map[bool]string{true: "act", false: "act act"}[state == journal.StateOK]; o.String() != want {
				t.Errorf("%s, %d operations: the tools did %s", state, left, o)
			}
		}
	}
}

// broken is a module that panics.
type broken struct{}

func (broken) Run(context.Context, agent.Task) (*module.Prediction[agent.Answer], error) {
	panic("boom")
}

// empty is a module that returns nothing.
type empty struct{}

func (empty) Run(context.Context, agent.Task) (*module.Prediction[agent.Answer], error) {
	return nil, nil
}

// Modules that panic, return nothing or are missing end their run with an error.
func TestBrokenModules(t *testing.T) {
	t.Parallel()
	runs := agent.NewRuns(journal.NewMemory())
	for id, test := range map[string]struct {
		module module.Module[agent.Task, agent.Answer]
		want   string
	}{"panics": {broken{}, "panicked: boom"}, "empty": {empty{}, "neither a prediction nor an error"}, "nil": {nil, "panicked"}} {
		if _, err := agent.Start(t.Context(), runs, id, test.module, task); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", id, err)
		}
	}
}

// Logs that are damaged, of another version or no logs of runs are refused, and nothing is done.
func TestForeignLogs(t *testing.T) {
	t.Parallel()
	const first = "run\t" + `{"format":"writ run 1","state":"interrupted","at":"2026-01-02T03:04:05Z","input":{"task":"x"}}`
	for name, test := range map[string]struct {
		records string
		want    string
	}{
		"another format":  {`run	{"format":"writ run 9","state":"done"}`, `format "writ run 9"`},
		"no part":         {`{"op":"run","format":1,"run":"r-1"}`, "is this the log of a run?"},
		"bad milestone":   {`run	{"format":`, "record"},
		"bad decision":    {first + "\n" + `decision	[]`, "record"},
		"bad reply":       {first + "\n" + `model	{"key":`, "model"},
		"no begin":        {`model	{"retry":true}`, `the format ""`},
		"unknown journal": {"calls r-1/aa\t" + `{"op":"run"}`, `the format ""`},
	} {
		o := &office{}
		bot, model := o.bot(t, `submit({answer: "no"})`)
		var records [][]byte
		for r := range strings.SplitSeq(test.records, "\n") {
			records = append(records, []byte(r))
		}
		d := newDisk(-1, records...)
		runs := agent.NewRuns(d)
		_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
		_, err2 := agent.Resume(t.Context(), runs, bot, agent.Checkpoint{Run: "r-1"}, nil)
		for _, err := range []error{err, err2} {
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "r-1") {
				t.Errorf("%s: got %v, want %s", name, err, test.want)
			}
		}
		if len(model.Requests()) > 0 || len(d.records) != len(records) {
			t.Errorf("%s: something was done", name)
		}
	}
}

// IDs cannot leave the store, and runs that were only asked for do not exist.
func TestRunIDs(t *testing.T) {
	t.Parallel()
	dir, err := journal.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bot, _ := (&office{}).bot(t, `submit({answer: "yes"})`)
	for _, store := range []journal.Store{journal.NewMemory(), dir} {
		runs := agent.NewRuns(store)
		for _, id := range []string{"", "..", "../x", "a/b", `a\b`, "/etc", "a\x00", "a\n", "-a", strings.Repeat("a", 129), "é"} {
			if _, err := agent.Start(t.Context(), runs, id, bot, task); err == nil || !strings.Contains(err.Error(), "ID is invalid") {
				t.Errorf("%q: %v", id, err)
			}
			if _, err := runs.Checkpoint(t.Context(), id); err == nil || runs.Pause(id) {
				t.Errorf("%q: %v", id, err)
			}
		}
		if _, err := runs.Checkpoint(t.Context(), "r-none"); !errors.Is(err, agent.ErrNoRun) {
			t.Error(err)
		}
		if list, err := runs.List(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("got %v, %v", list, err)
		}
	}
}

// A run that another owner has cannot be resumed, started or looked at. Then it goes on.
func TestResumeTwiceAtOnce(t *testing.T) {
	t.Parallel()
	runs := agent.NewRuns(journal.NewMemory())
	inside, leave := make(chan struct{}), make(chan struct{})
	o := &office{}
	act := tools.Func("act", "Act.", func(context.Context, struct{}) (int, error) {
		close(inside)
		<-leave
		return o.did("act"), nil
	}, &tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), act)
	if err != nil {
		t.Fatal(err)
	}
	bot, err := agent.New(llmtest.New("```js\nsubmit({answer: '' + await act({})})\n```"),
		&agent.Options{Sandbox: open(t), Tools: set.With(policy.Approve(nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Start(t.Context(), runs, "r-1", bot, task)
	at := paused(t, err)
	decisions := map[string]agent.Decision{at.Waiting[0].ID: approved()}
	ended := make(chan error)
	go func() {
		_, err := agent.Resume(t.Context(), runs, bot, at, decisions)
		ended <- err
	}()
	<-inside
	for range 2 {
		if _, err := agent.Resume(t.Context(), runs, bot, at, decisions); !errors.Is(err, journal.ErrInUse) {
			t.Error(err)
		}
	}
	if list, err := runs.List(t.Context()); err != nil || len(list) != 1 || list[0].State != agent.Running {
		t.Errorf("got %v, %v", list, err)
	}
	close(leave)
	if err := <-ended; err != nil || o.String() != "act" {
		t.Errorf("the tools did %s, and the error is %v", o, err)
	}
}

// A canceled run can be resumed. Its calls that waited are made once.
func TestCancelParkedRun(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	ctx, cancel := context.WithCancel(t.Context())
	stop := tools.Func("stop", "Stop.", func(ctx context.Context, _ struct{}) (int, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	}, &tools.Hints{Class: tools.Read})
	bot, err := agent.New(llmtest.New("```js\nconst [a] = await Promise.all([send({to: 'ann'}), stop({}).catch(() => 0)]);"+
		" submit({answer: '' + a})\n```"), &agent.Options{Sandbox: open(t), Tools: o.tools(t, stop)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = agent.Start(ctx, runs, "r-1", bot, task); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	cancel = func() {}
	ctx2, end := context.WithCancel(t.Context())
	defer end()
	cancel = end
	_, err = agent.Resume(ctx2, runs, bot, at, nil)
	if err == nil || o.String() != "" {
		t.Errorf("got %v; the tools did %s", err, o)
	}
}

// A run within a run has its own calls, and goes on without the outer run.
func TestRunWithinRun(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	o := &office{}
	outerRuns, innerRuns := agent.NewRuns(journal.NewMemory()), agent.NewRuns(journal.NewMemory())
	inner, model := o.bot(t, `await note({to: "x"}); submit({answer: "inner " + await send({to: "ann"})})`)
	var innerErr error
	start := tools.Func("start", "Start.", func(ctx context.Context, _ struct{}) (string, error) {
		_, innerErr = agent.Start(ctx, innerRuns, "r-in", inner, task)
		return "", innerErr
	}, &tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	outer := module.NewCodeAct(sig, llmtest.New(
		"```js\nsubmit({answer: await start({}).catch(e => 'outer: ' + e.message)})\n```"), open(t), set, nil)
	_, err = agent.Start(t.Context(), outerRuns, "r-out", outer, task)
	paused(t, err)
	at := paused(t, innerErr)
	if len(at.Waiting) != 1 || o.String() != "note:x" {
		t.Fatalf("%v wait", at.Waiting)
	}
	in, err := agent.Resume(t.Context(), innerRuns, inner, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
	if err != nil || in.Output.Answer != "inner 2" || o.String() != "note:x send:ann" || len(model.Requests()) != 1 {
		t.Errorf("got %v, %v; the tools did %s", in, err, o)
	}
}

// A model that answers every hold with {again: …} repeats only what it names, until its steps are used up.
func TestModelRepeatsOnPurpose(t *testing.T) {
	t.Parallel()
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	requests := 0
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		requests++
		second := ""
		if requests > 1 {
			second = fmt.Sprintf(", {again: 'E%d'}", requests-1)
		}
		return llmtest.Reply{Text: "```js\nawait note({to: 'ann'}" + second + "); throw new Error('no')\n```"}, nil
	})
	bot, err := agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agent.Start(t.Context(), runs, "r-1", bot, task)
	if !errors.Is(err, module.ErrMaxIters) || len(o.done) > requests || requests > 40 {
		t.Fatalf("the tools did %d calls in %d requests: %v", len(o.done), requests, err)
	}
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	before := len(o.done)
	_, err = agent.Resume(t.Context(), runs, bot, at, nil)
	if !errors.Is(err, module.ErrMaxIters) || len(o.done) != before {
		t.Errorf("resumed: the tools did %d calls instead of %d: %v", len(o.done), before, err)
	}
}

// A tool that returns after its run has ended changes nothing.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	d := newDisk(-1)
	release, returned := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	slow := tools.Func("slow", "Slow.", func(context.Context, struct{}) (int, error) {
		calls++
		defer close(returned)
		cancel()
		<-release
		return 7, nil
	}, &tools.Hints{Class: tools.Effect})
	o := &office{}
	bot, err := agent.New(llmtest.New("```js\nsubmit({answer: '' + await slow({})})\n```"),
		&agent.Options{Sandbox: open(t), Tools: o.tools(t, slow)})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(d)
	if _, err := agent.Start(ctx, runs, "r-1", bot, task); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	close(release)
	<-returned
	_, err = agent.Resume(t.Context(), runs, bot, at, nil)
	at = paused(t, err)
	if len(at.Waiting) != 1 || !at.Waiting[0].Unknown || calls != 1 {
		t.Fatalf("%v wait, after %d calls", at.Waiting, calls)
	}
	pred, err := agent.Resume(t.Context(), runs, bot, at, map[string]agent.Decision{
		at.Waiting[0].ID: {Outcome: &journal.Reconciled{State: journal.StateOK, Result: []byte("7")}}})
	if err != nil || pred.Output.Answer != "7" || calls != 1 {
		t.Errorf("got %v, %v after %d calls", pred, err, calls)
	}
}

// What another module or other instructions find recorded counts as done.
func TestResumeWithAnother(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	const program = "await note({to: 'x'}); submit({answer: '' + await send({to: 'ann'})})"
	for _, name := range []string{"instructions", "module", "type", "tools", "sandbox", "program"} {
		o, runs := &office{}, agent.NewRuns(journal.NewMemory())
		bot, _ := o.bot(t, program)
		_, err := agent.Start(t.Context(), runs, "r-1", bot, task)
		at := paused(t, err)
		var m module.Module[agent.Task, agent.Answer] = bot
		model := llmtest.New("```js\n"+program+"\n```", "```js\n"+program+"\n```")
		err = nil
		switch name {
		case "instructions":
			m, err = agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t), Instructions: "Shout."})
		case "module":
			m = &sampled{bot.Module, true}
		case "type":
			m = module.NewReAct(sig, llmtest.New(`{"tool": "note", "args": {"to": "x"}}`,
				`{"tool": "submit", "args": {"answer": "noted"}}`), o.tools(t), nil)
		case "tools":
			another := tools.Func("other", "Other.", func(context.Context, mail) (int, error) { return 0, nil }, nil)
			m, err = agent.New(model, &agent.Options{Sandbox: open(t), Tools: o.tools(t, another)})
		case "sandbox":
			box, failed := sandbox.NewInProcess(&sandbox.Options{Limits: sandbox.Limits{Calls: 7}})
			if failed != nil {
				t.Fatal(failed)
			}
			t.Cleanup(func() { box.Close() })
			m, err = agent.New(model, &agent.Options{Sandbox: box, Tools: o.tools(t)})
		case "program":
			m, err = agent.New(llmtest.New("```js\nawait note({to: 'y'})\n```"),
				&agent.Options{Sandbox: open(t), Tools: o.tools(t), Instructions: "Whisper."})
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.Resume(t.Context(), runs, m, at, map[string]agent.Decision{at.Waiting[0].ID: approved()})
		if other := name == "module" || name == "type"; other != (err != nil && strings.Contains(err.Error(), "is one of a")) {
			t.Errorf("%s: %v", name, err)
		}
		if got := o.String(); strings.Count(got, "note:") != 1 {
			t.Errorf("%s: the tools did %s: %v", name, got, err)
		}
		t.Logf("%s: %s: %v", name, o, err)
	}
}

// When the disk is full while a run is resumed, no decision is lost or applied twice.
func TestDiskFullAtResume(t *testing.T) {
	t.Parallel()
	for left := 0; ; left++ {
		o, first := &office{}, newDisk(-1)
		bot, _ := o.bot(t, sendTwo)
		_, err := agent.Start(t.Context(), agent.NewRuns(first), "r-1", bot, task)
		at := paused(t, err)
		full := first.restart()
		full.left = left
		decisions := map[string]agent.Decision{}
		for _, w := range at.Waiting {
			decisions[w.ID] = approved()
		}
		_, err = agent.Resume(t.Context(), agent.NewRuns(full), bot, at, decisions)
		ended := err == nil
		if !ended && !strings.Contains(err.Error(), errFull.Error()) {
			t.Errorf("after %d operations: %v", left, err)
		}
		runs := agent.NewRuns(full.restart())
		for range 8 {
			if err == nil {
				break
			}
			if at, err = runs.Checkpoint(t.Context(), "r-1"); err != nil {
				t.Fatal(err)
			}
			decisions := map[string]agent.Decision{}
			for _, w := range at.Waiting {
				decisions[w.ID] = approved()
				if w.Unknown {
					outcome := &journal.Reconciled{State: journal.StateRejected}
					for _, name := range []string{"ann", "bob"} {
						if strings.Contains(string(w.Args), name) && strings.Contains(o.String(), name) {
							outcome = &journal.Reconciled{State: journal.StateOK, Result: []byte("1")}
						}
					}
					decisions[w.ID] = agent.Decision{Outcome: outcome}
				}
			}
			_, err = agent.Resume(t.Context(), runs, bot, at, decisions)
		}
		if err != nil || o.String() != "note:x send:ann send:bob" {
			t.Errorf("after %d operations: the tools did %s: %v", left, o, err)
		}
		if ended {
			return
		}
	}
}

// After a crash, a person decides on the calls of a sub-agent, and not on the call of the sub-agent.
func TestCrashInSubAgent(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	o, d := &office{}, newDisk(-1)
	var copied *disk
	both := make(chan struct{}, 2)
	act := tools.Func("act", "Act.", func(_ context.Context, m mail) (int, error) {
		both <- struct{}{}
		for len(both) < 2 {
			time.Sleep(time.Millisecond)
		}
		o.mu.Lock()
		if copied == nil {
			copied = d.restart()
		}
		o.mu.Unlock()
		return o.did("act:" + m.To), nil
	}, &tools.Hints{Class: tools.Effect})
	inner, err := agent.New(llmtest.New("```js\nconst r = await Promise.all([act({to: 'a'}), act({to: 'b'})]);"+
		"submit({answer: '' + r.length})\n```"), &agent.Options{Sandbox: open(t), Tools: o.tools(t, act)})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), module.Tool("helper", "Does it.", inner, nil))
	if err != nil {
		t.Fatal(err)
	}
	outer := module.NewCodeAct(sig, llmtest.New("```js\nsubmit(await helper({task: 'x'}))\n```"), open(t), set, nil)
	if _, err := agent.Start(t.Context(), agent.NewRuns(d), "r-1", outer, task); err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(copied)
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	pred, err := agent.Resume(t.Context(), runs, outer, at, nil)
	pauses := 0
	for range 4 {
		p, ok := errors.AsType[*agent.PausedError](err)
		if !ok {
			break
		}
		if pauses++; len(p.Checkpoint.Waiting) != 2 || p.Checkpoint.Waiting[0].Tool != "act" {
			t.Fatalf("%v wait", p.Checkpoint.Waiting)
		}
		decisions := map[string]agent.Decision{}
		for _, w := range p.Checkpoint.Waiting {
			decisions[w.ID] = agent.Decision{Outcome: &journal.Reconciled{State: journal.StateOK, Result: []byte("1")}}
		}
		pred, err = agent.Resume(t.Context(), runs, outer, p.Checkpoint, decisions)
	}
	if err != nil || o.String() != "act:a act:b" || pauses != 1 || pred.Output.Answer != "2" {
		t.Errorf("got %v, %v after %d pauses; the tools did %s", pred, err, pauses, o)
	}
}
