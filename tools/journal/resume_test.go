package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// resumed is a process that repeats a run of programs with the tools of a server.
type resumed struct {
	t       *testing.T
	log     *memory
	journal *journal.Journal
	attempt *journal.Attempt
	set     *tools.Set
	run     *dispatch.Dispatcher
	handle  func(ctx context.Context, name string) (json.RawMessage, error)
	policy  tools.Policy
	tried   []string // the calls that reached their tools
}

// next is the next process. The first process is resumed{t: t, log: &memory{}}.
func (r *resumed) next() *resumed {
	r.t.Helper()
	p := &resumed{t: r.t, log: r.log.all(), handle: func(context.Context, string) (json.RawMessage, error) {
		return json.RawMessage(`1`), nil
	}, policy: func(next tools.Caller) tools.Caller { return next }}
	var err error
	if p.journal, err = journal.Open(p.log, nil); err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *resumed) begin(source string) *resumed {
	r.t.Helper()
	var sources []tools.Source
	for name, h := range map[string]tools.Hints{"list": {Class: tools.Read}, "add": {Class: tools.Effect},
		"log": {Class: tools.Effect, Repeatable: true}} {
		sources = append(sources, &tools.Tool{Namespace: "db", Name: name, Hints: h,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{},"page":{"type":"integer"}}}`),
			Handler: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
				r.tried = append(r.tried, name+string(args))
				return r.handle(ctx, name)
			}})
	}
	var err error
	if r.set, err = tools.NewSet(r.t.Context(), sources...); err != nil {
		r.t.Fatal(err)
	}
	r.attempt = r.journal.Attempt()
	r.run = dispatch.New(r.set.With(func(next tools.Caller) tools.Caller { return r.policy(next) }), r.attempt)
	if _, _, err := r.attempt.Begin([]byte(source), nil); err != nil {
		r.t.Fatal(err)
	}
	return r
}

// issue makes a call: add {"n":1}, perhaps with a second argument.
func (r *resumed) issue(text string) *dispatch.Execution {
	r.t.Helper()
	parts := strings.SplitN(text, " ", 3)
	c := tools.Call{Args: json.RawMessage(parts[1])}
	if len(parts) > 2 {
		var err error
		if c.Repeat, err = dispatch.DecodeRepeat([]byte(parts[2])); err != nil {
			r.t.Fatal(err)
		}
	}
	for i, b := range r.set.Bindings() {
		if b.Name == parts[0] {
			return r.run.Issue(c, i)
		}
	}
	panic("no tool " + parts[0])
}

func (r *resumed) call(text string) string {
	r.t.Helper()
	result, err := r.issue(text).Perform(r.t.Context())
	if err != nil {
		return err.Error()
	}
	return string(result)
}

func (r *resumed) end() *resumed { r.run.End(); r.journal.End(); return r }

func answer(result string, err error) func(context.Context, string) (json.RawMessage, error) {
	return func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(result), err }
}

// A program that was interrupted did not see how its calls ended: they are made again, if that does no harm.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := (&resumed{t: t, log: &memory{}}).next().begin("one")
	ctx, cancel := context.WithCancel(t.Context())
	p.handle = func(ctx context.Context, _ string) (json.RawMessage, error) { cancel(); return nil, ctx.Err() }
	list, add := p.issue(`list {}`), p.issue(`add {"n":1}`)
	for _, x := range []*dispatch.Execution{list, add} {
		if _, err := x.Perform(ctx); err == nil {
			t.Error("the call was not interrupted")
		}
	}
	p.end()
	if got := states(p.journal); got != "E1 unknown, E2 rejected" {
		t.Errorf("got %s", got)
	}
	p = p.next().begin("one")
	if got := p.call(`list {}`) + p.call(`add {"n":1}`); got != "11" {
		t.Errorf("got %s", got)
	}
	if got := states(p.end().journal); got != "E1 ok, E2 ok" {
		t.Errorf("got %s", got)
	}
	p = p.next().begin("one")
	p.issue(`list {}`)
	p.issue(`add {"n":1}`)
	if got := states(p.end().journal); got != "E1 ok, E2 ok" || len(p.tried) > 0 {
		t.Errorf("the second end does not count: %s, %s", got, p.tried)
	}
}

// The same holds for a try that ends after the call.
func TestInterruptedTry(t *testing.T) {
	t.Parallel()
	p := (&resumed{t: t, log: &memory{}}).next()
	ended := make(chan struct{})
	p.policy = func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			go func() { defer close(ended); _, _ = next.Call(ctx, c) }()
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	p.handle = func(context.Context, string) (json.RawMessage, error) {
		cancel()
		<-release
		return nil, context.Canceled
	}
	p.begin("one")
	_, _ = p.issue(`list {}`).Perform(ctx)
	close(release)
	<-ended
	p.end()
	if got := p.next().begin("one").call(`list {}`); got != "1" {
		t.Errorf("got %s", got)
	}
}

// A call that is made again, because the first try had no answer, is unknown if it fails.
func TestFailsAgain(t *testing.T) {
	t.Parallel()
	p := (&resumed{t: t, log: &memory{}}).next().begin("one")
	var during *memory
	p.handle = func(context.Context, string) (json.RawMessage, error) { during = p.log.all(); return nil, nil }
	p.call(`log {}`)
	p.log = during // the process ends during the call
	p = p.next().begin("one")
	p.handle = answer("", &tools.ToolError{Kind: tools.KindUnavailable, Message: "no connection"})
	const want = "tool db.log: an earlier try may have taken effect; the last try: no connection"
	if got := p.call(`log {}`); got != want || states(p.journal) != "E1 unknown" {
		t.Errorf("got %s, %s", got, states(p.journal))
	}
}

// The entries of a journal with a log are those that the log has, also if a tool returns odd bytes.
func TestRecordable(t *testing.T) {
	t.Parallel()
	p := (&resumed{t: t, log: &memory{}}).next().begin("one")
	p.handle = answer("", &tools.ToolError{Kind: "odd", Message: "a \xff", Data: json.RawMessage(`{ "a": 1 }`)})
	p.call("add {\"n\":\n1}")
	live := p.journal.Entries()[0]
	read, err := journal.Read(p.log)
	if err != nil {
		t.Fatal(err)
	}
	var was, is *tools.ToolError
	if !errors.As(live.Err, &was) || !errors.As(read[0].Err, &is) || was.Message != is.Message || was.Tool != is.Tool ||
		was.Kind != is.Kind || string(was.Data) != string(is.Data) || string(live.Args) != string(read[0].Args) {
		t.Errorf("the entries are %v %+v and %v %+v", live, was, read[0], is)
	}
}

// The repeated program's calls have the arguments with which they were made, and count as effects.
func TestRepeatedEffects(t *testing.T) {
	t.Parallel()
	change := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			c.Args = json.RawMessage(`{"n":2}`)
			return next.Call(ctx, c)
		})
	}
	p := (&resumed{t: t, log: &memory{}}).next()
	p.policy = change
	p.begin("one").call(`add {"n":1}`)
	p = p.next().begin("one")
	var args json.RawMessage
	outer, err := tools.NewSet(t.Context(), &tools.Tool{Name: "outer",
		Handler: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			x := p.issue(`add {"n":1}`)
			_, err := x.Perform(ctx)
			args = x.Args()
			return nil, errors.Join(err, errors.New("a bug"))
		}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = dispatch.New(outer, nil).Issue(tools.Call{Args: json.RawMessage(`{}`)}, 0).Perform(t.Context())
	if err == nil || err.Error() != "tool outer: a bug; whether it took effect is unknown" || string(args) != `{"n":2}` {
		t.Errorf("got %v, %s", err, args)
	}
}

// In an attempt that goes on after a hold, as in ReAct, a call that was held because it failed can be repeated, also if
// the hold was before the end of the process.
func TestToldBefore(t *testing.T) {
	t.Parallel()
	p := (&resumed{t: t, log: &memory{}}).next().begin("one")
	p.handle = answer("", errors.New("504"))
	p.call(`add {"n":1}`)
	if got := p.call(`add {"n":1}`); !strings.Contains(got, "was held") {
		t.Fatal(got)
	}
	for range 2 {
		p = p.next().begin("one")
		p.call(`add {"n":1}`)
		p.call(`add {"n":1}`)
		if got := p.call(`add {"n":1} {"again":"E1"}`); got != "1" {
			t.Errorf("got %s", got)
		}
	}
}

// A person's answer counts for a call that a policy changes into the unknown one.
func TestResolvedBeforeChange(t *testing.T) {
	t.Parallel()
	change := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			c.Args = json.RawMessage(`{"n":1}`)
			return next.Call(ctx, c)
		})
	}
	repeat := func(p *resumed) string {
		p.handle, p.policy = answer("1", context.DeadlineExceeded), change
		p.begin("one").call(`add {"n":1}`)
		p.end()
		p.handle = answer("1", nil)
		return p.begin("two").call(`add {"n":2} {"distinct":["E1"]}`)
	}
	p := (&resumed{t: t, log: &memory{}}).next()
	if got := repeat(p); !strings.Contains(got, "whether E1") {
		t.Fatal(got)
	}
	p = p.end().next()
	if err := p.journal.Resolve("E1", journal.Reconciled{State: journal.StateRejected}); err != nil {
		t.Fatal(err)
	}
	if got := repeat(p.next()); got != "1" {
		t.Errorf("got %s", got)
	}
}

// A program that is rewritten after the process has ended is held for lists that were read in part.
func TestListBefore(t *testing.T) {
	t.Parallel()
	p := (&resumed{t: t, log: &memory{}}).next().begin("one")
	p.handle = func(_ context.Context, name string) (json.RawMessage, error) {
		if name == "add" {
			return nil, errors.New("504")
		}
		return json.RawMessage(`{"items":[1],"total":3,"offset":0}`), nil
	}
	p.call(`add {"n":1}`)
	p.call(`list {}`)
	p = p.next().begin("two")
	if got := p.call(`add {"n":1} {"again":"E1"}`); !strings.Contains(got, "read db.list({}) to the end") {
		t.Errorf("got %s", got)
	}
}

// A program gets an error, catches it and makes the call again. If a person has found out meanwhile that the call was
// done, the second call gets its result.
func TestResolvedForTheSameProgram(t *testing.T) {
	t.Parallel()
	made := 0
	set, err := tools.NewSet(t.Context(), &tools.Tool{Name: "pay", Hints: tools.Hints{Class: tools.Effect},
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			made++
			return nil, context.DeadlineExceeded
		}})
	if err != nil {
		t.Fatal(err)
	}
	log := &memory{}
	program := func(j *journal.Journal) (json.RawMessage, error) {
		a := j.Attempt()
		if _, _, err := a.Begin([]byte("program"), []byte("start")); err != nil {
			t.Fatal(err)
		}
		d := dispatch.New(set, a)
		_, _ = d.Issue(tools.Call{ID: 1, Args: []byte("{}")}, 0).Perform(t.Context())
		return d.Issue(tools.Call{ID: 2, Args: []byte("{}")}, 0).Perform(t.Context())
	}
	first, err := journal.Open(log, &journal.Options{Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program(first); err == nil {
		t.Fatal("the second call was made although the outcome of the first is unknown")
	}
	second, err := journal.Open(log, &journal.Options{Run: "r"})
	if err == nil {
		err = second.Resolve("E1", journal.Reconciled{State: journal.StateOK, Result: []byte(`"paid"`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	result, err := program(second)
	if err != nil || string(result) != `"paid"` || made != 1 {
		t.Errorf("got %s, %v; the call was made %d times", result, err, made)
	}
}
