package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// fakeTB is a test whose failures are collected.
type fakeTB struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Failed() bool      { return len(f.failures) > 0 }
func (f *fakeTB) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }

func (f *fakeTB) end() {
	for _, fn := range f.cleanups {
		fn()
	}
}
func (f *fakeTB) Errorf(format string, args ...any) {
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}
func (f *fakeTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// weather runs an agent over a recording, and returns its answer and how the test failed.
func weather(t *testing.T, dir, instructions, city string, model llms.Model, set *tools.Set) (string, []string) {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	fake := &fakeTB{TB: t}
	model, set = llmtest.Record(fake, dir, model, set, nil)
	sig := signature.Must(signature.New[Task, Answer](instructions))
	pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(t.Context(), Task{city})
	fake.end()
	if err != nil {
		return err.Error(), fake.failures
	}
	return fmt.Sprint(pred.Output), fake.failures
}

const program = "```js\nlet mm;\ntry { mm = await forecast({city}) } catch (e) { mm = [] }\n" +
	"await forecast({city: 'Rome'});\nsubmit({umbrella: mm.length > 0})\n```"

// TestRecord does not run in parallel, since it sets an environment variable.
func TestRecord(t *testing.T) {
	const ask = "Does one need an umbrella?"
	dir, calls := filepath.Join(t.TempDir(), "weather"), 0
	set, err := tools.NewSet(t.Context(), tools.Func("forecast", "Rain in mm.",
		func(_ context.Context, in Task) ([]float64, error) {
			if calls++; in.City == "Oslo" {
				return nil, errors.New("no data")
			}
			return []float64{0.2, 3.1}, nil
		}, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("WRIT_UPDATE", "1")
	if got, failures := weather(t, dir, ask, "Oslo", llmtest.New(program), set); got != "{false}" || failures != nil {
		t.Fatalf("recording: %s, %q", got, failures)
	}
	if calls != 2 {
		t.Fatalf("%d calls", calls)
	}
	recorded, err := os.ReadFile(filepath.Join(dir, "calls.json"))
	if err != nil {
		t.Fatal(err)
	}

	t.Setenv("WRIT_UPDATE", "")
	for name, set := range map[string]*tools.Set{"with tools": set, "without tools": nil} {
		if got, failures := weather(t, dir, ask, "Oslo", nil, set); got != "{false}" || failures != nil || calls != 2 {
			t.Errorf("%s: %s, %q, %d calls", name, got, failures, calls)
		}
	}
	_, failures := weather(t, dir, "Is an umbrella needed?", "Oslo", nil, nil)
	if len(failures) != 1 || !strings.Contains(failures[0], "WRIT_UPDATE=1\n--- recorded\n+++ now\n") ||
		!strings.Contains(failures[0], "\n- "+ask) || !strings.Contains(failures[0], "\n+ Is an umbrella needed?") {
		t.Errorf("a changed prompt: %q", failures)
	}

	other := strings.ReplaceAll(string(recorded), "Rome", "Bern")
	if err := os.WriteFile(filepath.Join(dir, "calls.json"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	_, failures = weather(t, dir, ask, "Oslo", nil, set)
	if len(failures) != 1 || !strings.Contains(failures[0], `forecast({"city":"Rome"}) is not in the recording`) ||
		!strings.Contains(failures[0], `forecast({"city":"Bern"})`) || calls != 2 {
		t.Errorf("a changed call: %q, %d calls", failures, calls)
	}

	defer func() {
		if why := fmt.Sprint(recover()); !strings.Contains(why, "to record again, run the test with") {
			t.Errorf("without a recording: %s", why)
		}
	}()
	weather(t, t.TempDir(), ask, "Oslo", nil, nil)
}

// A recording has no secrets, and replays nevertheless: a program passes a key from its input and from one tool to
// another.
func TestRecordRedacts(t *testing.T) {
	type key struct {
		Key string `json:"key"`
	}
	const password, token = "correct horse", "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{password}})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	recording := true
	set, err := tools.NewSet(t.Context(),
		tools.Func("login", "The password is "+password+".", func(_ context.Context, in key) (key, error) {
			if !recording || in.Key != password {
				t.Errorf("login with %q", in.Key)
			}
			return key{token}, nil
		}, &tools.Hints{Class: tools.Read}),
		tools.Func("use", "", func(_ context.Context, in key) (bool, error) {
			return false, fmt.Errorf("%s is not %s", in.Key, password)
		}, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	sig := signature.Must(signature.New[key, Answer]("Use it."))
	dir := t.TempDir()
	run := func(model llms.Model, set *tools.Set) {
		t.Helper()
		fake := &fakeTB{TB: t}
		model, set = llmtest.Record(fake, dir, model, set, secrets)
		pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(t.Context(), key{password})
		fake.end()
		if err != nil || pred.Output.Umbrella || fake.failures != nil {
			t.Fatalf("recording: %v; got %v, %v, %q", recording, pred, err, fake.failures)
		}
	}
	t.Setenv("WRIT_UPDATE", "1")
	run(llmtest.New("```js\nconst t = await login({key});\nconsole.log(t, await use(t).catch(e => e.message));\n```",
		"```js\nsubmit({umbrella: false})\n```"), set)
	for _, name := range []string{"exchanges.jsonl", "calls.json", "tools.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || strings.Contains(string(text), password) || strings.Contains(string(text), token) ||
			!strings.Contains(string(text), "[redacted]") {
			t.Errorf("%s (%v): %s", name, err, text)
		}
	}
	recording = false
	t.Setenv("WRIT_UPDATE", "")
	run(nil, set)
	run(nil, nil)
}

// Calls whose arguments differ only in the last digit of a large number have different results.
func TestRecordLargeNumbers(t *testing.T) {
	type order struct {
		ID int64 `json:"id"`
	}
	second := make(chan struct{})
	set, err := tools.NewSet(t.Context(), tools.Func("get", "", func(_ context.Context, o order) (bool, error) {
		if o.ID == 9007199254740993 {
			close(second)
			return true, nil
		}
		<-second
		time.Sleep(50 * time.Millisecond) // the second call is recorded first
		return false, nil
	}, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	sig, dir := signature.Must(signature.New[Task, Answer]("Get it.")), t.TempDir()
	for _, model := range []llms.Model{
		llmtest.New("```js\nconst calls = [get({id: 9007199254740992n}), get({id: 9007199254740993n})];\n" +
			"submit({umbrella: (await Promise.all(calls))[1]})\n```"),
		nil,
	} {
		if model != nil {
			t.Setenv("WRIT_UPDATE", "1")
		} else {
			t.Setenv("WRIT_UPDATE", "")
		}
		fake := &fakeTB{TB: t}
		model, set := llmtest.Record(fake, dir, model, set, nil)
		pred, err := module.NewCodeAct(sig, model, box, set, nil).Run(t.Context(), Task{"Oslo"})
		fake.end()
		if err != nil || !pred.Output.Umbrella || fake.failures != nil {
			t.Errorf("got %v, %v, %q", pred, err, fake.failures)
		}
	}
}
