package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// save writes a program for a set of tools to a folder.
func save(t *testing.T, folder, name, sig, code string, set *tools.Set) {
	t.Helper()
	s, err := signature.Parse(sig, "Greets people.")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := module.NewProgram(s, module.Script{Code: code}, open(t), set, nil).Script.Write(&text); err != nil {
		t.Fatal(err)
	}
	put(t, folder, name+".js", text.String())
}

func put(t *testing.T, folder, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// post has the letters that were sent.
type post struct{ sent atomic.Int32 }

func (p *post) tools(t *testing.T) *tools.Set {
	t.Helper()
	count := func(context.Context, struct{}) (int32, error) { return p.sent.Load(), nil }
	set, err := tools.NewSet(t.Context(),
		tools.Func("send", "Sends a letter.", func(_ context.Context, in nameArgs) (string, error) {
			p.sent.Add(1)
			return "sent to " + in.Name, nil
		}, &tools.Hints{Class: tools.Effect}),
		tools.Func("get_count", "Counts.", count, nil),
		tools.Func("look", "Looks.", count, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func withPrograms(t *testing.T, set *tools.Set, folder string) *tools.Set {
	t.Helper()
	with, leftOut, err := agent.WithPrograms(t.Context(), set, folder, open(t), nil)
	if err := errors.Join(append(leftOut, err)...); err != nil {
		t.Fatal(err)
	}
	return with
}

const greet = "const text = await send({name});\nsubmit({text})"

// perform runs an agent whose model replies with the programs.
func perform(t *testing.T, set *tools.Set, programs ...string) (module.Trajectory, error) {
	t.Helper()
	var replies []string
	for _, p := range programs {
		replies = append(replies, "```js\n"+p+"\n```")
	}
	bot, err := agent.New(llmtest.New(replies...), &agent.Options{Sandbox: open(t), Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "greet"})
	return pred.TrajectoryOf(err), err
}

// A saved program is a typed tool, whose run is below the run that calls it, and whose calls go through the policies.
func TestSavedProgram(t *testing.T) {
	t.Parallel()
	p, dir, seen := &post{}, t.TempDir(), []string{}
	set := p.tools(t).With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			seen = append(seen, c.Tool.Path())
			return next.Call(ctx, c)
		})
	})
	save(t, dir, "greet", "name: str -> text: str", greet, set)
	with := withPrograms(t, set, dir)
	if set.Len() != 3 || with.Len() != 4 {
		t.Fatalf("%d tools, then %d", set.Len(), with.Len())
	}
	const program = `const [hit] = await tools.search("greet people", {limit: 1});
if (!(await tools.describe(hit.name)).includes("const text = await send({name});")) throw hit;
submit({answer: (await programs.greet({name: "ann"})).text})`
	run, err := perform(t, with, program)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(run.Answer()); got != `{"answer":"sent to ann"}` || p.sent.Load() != 1 {
		t.Errorf("got %s, sent %d", got, p.sent.Load())
	}
	if want := []string{"programs.greet", "send"}; !slices.Equal(seen, want) {
		t.Errorf("the policy saw %q", seen)
	}
	if len(run.Runs) != 1 || run.Runs[0].Name != "greet" || len(run.Runs[0].Calls) != 1 {
		t.Errorf("the runs are %v", run.Runs)
	}
	if prompt := run.Steps[0].Sent(); !strings.Contains(prompt, "greet(args: {name: string}): ") ||
		strings.Contains(prompt, "await send({name})") {
		t.Errorf("the prompt is\n%s", prompt)
	}
	_, err = perform(t, with, `await programs.greet({name: 1})`, `submit({answer: ""})`)
	if err != nil || p.sent.Load() != 1 {
		t.Errorf("sent %d, %v", p.sent.Load(), err)
	}
	bot, err := agent.New(llmtest.New(), &agent.Options{Sandbox: open(t), Tools: set, Programs: dir})
	if err != nil {
		t.Fatal(err)
	}
	predictors := 0
	for range module.Predictors(module.Clone(bot)) {
		predictors++
	}
	if predictors != 1 {
		t.Errorf("the agent's state has %d predictors, and depends on the saved programs", predictors)
	}
}

// A rewritten program does not repeat what a saved program did. If that failed, a program must name it.
func TestSavedProgramRetried(t *testing.T) {
	t.Parallel()
	const failing = "const text = await send({name});\nthrow new Error('no stamps')"
	for _, test := range []struct {
		code     string
		programs []string
		sent     int32
		told     string
	}{
		{greet, []string{`const r = await programs.greet({name: "ann"}); r.no.x`,
			`submit({answer: (await programs.greet({name: "ann"})).text})`}, 1, `{"text":"sent to ann"}`},
		{failing, []string{`await programs.greet({name: "ann"})`, `await programs.greet({name: "ann"})`,
			`submit({answer: "it failed"})`}, 1,
			`the saved program failed: line 2, column 7: Error: no stamps; its calls that may have had effects: ` +
				`send({"name":"ann"}) ok`},
		{failing, []string{`await programs.greet({name: "ann"})`,
			`await look({}); try { await programs.greet({name: "ann"}, {again: "E1"}) } catch {}
submit({answer: "twice"})`,
			`submit({answer: "twice"})`}, 2, "no stamps"},
	} {
		p, dir := &post{}, t.TempDir()
		set := p.tools(t)
		save(t, dir, "greet", "name: str -> text: str", test.code, set)
		run, err := perform(t, withPrograms(t, set, dir), test.programs...)
		if err != nil || p.sent.Load() != test.sent || !strings.Contains(run.Steps[0].Observation, test.told) {
			t.Errorf("sent %d, %v\n%s", p.sent.Load(), err, run)
		}
	}
}

// The class of a program follows from the tools that it calls, and it can call no others.
func TestSavedProgramClass(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`submit({text: "a"})`:                                       "read, replayed as read",
		`submit({text: "" + await look({})})`:                       "read, replayed as read",
		`submit({text: "" + await get_count({}) + await look({})})`: "unclassified, replayed as read",
		`await look({}); submit({text: await send({name: "b"})})`:   "effect, replayed as effect",
	} {
		p, dir := &post{}, t.TempDir()
		set := p.tools(t)
		save(t, dir, "greet", "-> text: str", code, set)
		b := withPrograms(t, set, dir).Bindings()[3]
		if got := fmt.Sprintf("%v, replayed as %v", b.Hints.Class, b.ReplayClass()); got != want {
			t.Errorf("%s: %s", code, got)
		}
	}
	p, dir := &post{}, t.TempDir()
	set := p.tools(t)
	save(t, dir, "sly", "-> text: str", `submit({text: await globalThis["se" + "nd"]({name: "ann"})})`, set)
	run, err := perform(t, withPrograms(t, set, dir), `try { await programs.sly({}) } catch {} submit({answer: ""})`)
	if err != nil || p.sent.Load() != 0 {
		t.Errorf("sent %d, %v\n%v", p.sent.Load(), err, run)
	}
}

// Programs that call the same tools at the same time do not wait for each other's slots, and one that never ends is
// stopped by its limits.
func TestSavedProgramLimits(t *testing.T) {
	t.Parallel()
	p, dir := &post{}, t.TempDir()
	set := p.tools(t)
	save(t, dir, "greet", "name: str -> text: str", greet, set)
	save(t, dir, "forever", "-> text: str", `for (;;) await look({})`, set)
	box, err := sandbox.NewInProcess(&sandbox.Options{Workers: 1,
		Limits: sandbox.Limits{Concurrency: 1, Calls: 20, Compute: time.Minute, Time: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	with, _, err := agent.WithPrograms(t.Context(), set, dir, box, nil)
	if err != nil {
		t.Fatal(err)
	}
	bot, err := agent.New(llmtest.New("```js\n"+`
const all = await Promise.all([1, 2, 3].map(n => programs.greet({name: "" + n})));
try { await programs.forever({}) } catch (e) { submit({answer: all.length + e.message}) }`+"\n```"),
		&agent.Options{Sandbox: box, Tools: with})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(t.Context(), agent.Task{Task: "greet"})
	if err != nil || !strings.HasPrefix(pred.Output.Answer, "3the saved program failed: ") ||
		!strings.Contains(pred.Output.Answer, "20 tool calls") {
		t.Errorf("%v, %v", pred, err)
	}
}

// A program that cannot be used is left out, with the reason, and does not affect the others.
func TestProgramsLeftOut(t *testing.T) {
	t.Parallel()
	p, dir, elsewhere := &post{}, t.TempDir(), t.TempDir()
	set := p.tools(t)
	save(t, dir, "greet", "name: str -> text: str", greet, set)
	text, err := os.ReadFile(filepath.Join(dir, "greet.js"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := tools.NewSet(t.Context(), tools.Func("send", "", func(context.Context, orderArgs) (int, error) {
		return 1, nil
	}, nil), tools.Func("gone", "", func(context.Context, orderArgs) (int, error) { return 1, nil }, nil))
	if err != nil {
		t.Fatal(err)
	}
	save(t, dir, "changed", "-> text: str", `submit({text: await send({id: "a"})})`, other)
	save(t, dir, "missing", "-> text: str", `submit({text: await gone({id: "a"})})`, other)
	save(t, dir, "recursive", "-> text: str", `submit(await programs.greet({name: "a"}))`, set)
	save(t, dir, "not-a-name", "-> text: str", `submit({text: "a"})`, set)
	save(t, dir, "then", "-> text: str", `submit({text: "a"})`, set)
	put(t, dir, "large.js", string(text)+strings.Repeat(" ", 10<<20))
	put(t, dir, "new.js", `submit({text: "a"})`)
	put(t, dir, "unparsed.js", strings.Replace(string(text), "name: str ->", "name str ->", 1))
	put(t, dir, "ignored.txt", "x")
	put(t, elsewhere, "linked.js", string(text))
	want := map[string]string{
		"changed": "the tool send has changed", "missing": "the tool gone, which the program calls, no longer exists",
		"recursive": "programs is not defined", "not-a-name": "not an identifier", "then": "taken, reserved",
		"large": "larger than 4 MB",
		"new":   "its line // @signature: ", "unparsed": "line 3: @signature: ", "folder": "not a regular file",
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.js"), 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Symlink(filepath.Join(elsewhere, "linked.js"), filepath.Join(dir, "linked.js")) == nil {
		want["linked"] = "escapes"
	}
	put(t, dir, "Greet.js", string(text))
	if _, err := os.Stat(filepath.Join(dir, "GREET.JS")); err != nil { // the file system distinguishes cases
		want["greet"] = "its name differs from Greet.js only in case"
	}
	with, leftOut, err := agent.WithPrograms(t.Context(), set, dir, open(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, reason := range want {
		if !slices.ContainsFunc(leftOut, func(e error) bool {
			return strings.HasPrefix(e.Error(), "agent: the saved program "+name+".js is left out: ") &&
				strings.Contains(e.Error(), reason)
		}) {
			t.Errorf("%s: no error with %q in\n%v", name, reason, errors.Join(leftOut...))
		}
	}
	if len(leftOut) != len(want) || with.Len() != 4 {
		t.Errorf("%d programs are left out, %d tools are left:\n%v", len(leftOut), with.Len(), errors.Join(leftOut...))
	}
	var log bytes.Buffer
	_, err = agent.New(llmtest.New(), &agent.Options{Sandbox: open(t), Tools: set, Programs: dir,
		Module: module.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}})
	if err != nil || strings.Count(log.String(), "level=WARN") != len(want) {
		t.Errorf("%v\n%s", err, &log)
	}
}

// The folder as a whole has bounds, and the namespace must be free.
func TestProgramsFolder(t *testing.T) {
	t.Parallel()
	p, dir := &post{}, t.TempDir()
	set := p.tools(t)
	for i := range 101 {
		put(t, dir, fmt.Sprintf("p%03d.js", i), "// @program 1\n// @signature -> text: str\nsubmit({text: 'a'})")
	}
	with, leftOut, err := agent.WithPrograms(t.Context(), set, dir, open(t), nil)
	if err != nil || with.Len() != 103 || len(leftOut) != 1 || !strings.Contains(leftOut[0].Error(), "p100.js") {
		t.Errorf("%d tools, %v, %v", with.Len(), leftOut, err)
	}
	taken, err := set.Plus(&tools.Tool{Namespace: "programs", Name: "a",
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for want, load := range map[string]func() error{
		"no such file": func() error {
			o := &agent.Options{Sandbox: open(t), Programs: filepath.Join(dir, "no")}
			return second(agent.New(llmtest.New(), o))
		},
		"cannot run in a Session": func() error {
			return third(agent.WithPrograms(t.Context(), set, dir, open(t).NewSession(nil), nil))
		},
		"programs.a has the name of the saved programs": func() error {
			return third(agent.WithPrograms(t.Context(), taken, t.TempDir(), open(t), nil))
		},
	} {
		if err := load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if with := withPrograms(t, set, t.TempDir()); with.Len() != 3 {
		t.Errorf("an empty folder has %d programs", with.Len()-3)
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }

// A durable run that goes on after a crash in a saved program does not repeat the program's calls.
func TestSavedProgramResumed(t *testing.T) {
	t.Parallel()
	p, dir := &post{}, t.TempDir()
	set := p.tools(t)
	ctx, crash := context.WithCancel(t.Context())
	defer crash()
	var crashes atomic.Bool
	crashes.Store(true)
	set = set.With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if c.Tool.Path() == "look" && crashes.Load() {
				crash()
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return next.Call(ctx, c)
		})
	})
	save(t, dir, "greet", "name: str -> text: str",
		"const text = await send({name});\nawait look({});\nsubmit({text})", set)
	bot, err := agent.New(llmtest.New("```js\nsubmit({answer: (await programs.greet({name: 'ann'})).text})\n```"),
		&agent.Options{Sandbox: open(t), Tools: set, Programs: dir})
	if err != nil {
		t.Fatal(err)
	}
	runs := agent.NewRuns(journal.NewMemory())
	_, err = agent.Start(ctx, runs, "r-1", module.Module[agent.Task, agent.Answer](bot), agent.Task{Task: "greet"})
	if err == nil || p.sent.Load() != 1 {
		t.Fatalf("sent %d, %v", p.sent.Load(), err)
	}
	crashes.Store(false)
	c, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	pred, err := agent.Resume(t.Context(), runs, module.Module[agent.Task, agent.Answer](bot), c, nil)
	if err != nil || pred.Output.Answer != "sent to ann" || p.sent.Load() != 1 {
		t.Errorf("%v, sent %d, %v", pred, p.sent.Load(), err)
	}
}
