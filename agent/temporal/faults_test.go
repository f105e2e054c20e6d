package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
)

// faulty is a store whose Open fails if fail is set, after it has called opening.
type faulty struct {
	journal.Store
	fail    error
	opening func()
	removed int
}

func (f *faulty) Open(ctx context.Context, run string) (journal.Log, error) {
	if f.opening != nil {
		f.opening()
	}
	if f.fail != nil {
		return nil, f.fail
	}
	return f.Store.Open(ctx, run)
}

func (f *faulty) Remove(ctx context.Context, run string) error {
	f.removed++
	return f.Store.Remove(ctx, run)
}

// If the store fails, no activity says that the run has failed.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	f := &faulty{Store: journal.NewMemory(), fail: errors.New("no connection")}
	a, _ := newAgent(t, (&shop{}).set(t), Options{Store: f})
	entered, ended := make(chan *live), make(chan error)
	f.opening = func() { // another activity of the run begins meanwhile
		f.opening = nil
		go func() {
			l, _, _ := a.enter(t.Context(), advance{Run: "r-1"})
			entered <- l
			_, err := l.rest(t.Context(), nil)
			if err == nil {
				_, err = a.ended(t.Context(), advance{}, l)
			}
			ended <- err
		}()
		<-entered
	}
	if _, _, err := a.enter(t.Context(), advance{Run: "r-1"}); !errors.Is(err, f.fail) {
		t.Errorf("got %v", err)
	}
	if err := <-ended; !errors.Is(err, f.fail) {
		t.Errorf("the other activity got %v", err)
	}
}

// A worker does not remove the log of a run that another one may have begun.
func TestLogIsNotRemoved(t *testing.T) {
	t.Parallel()
	f := &faulty{Store: journal.NewMemory()}
	a, _ := newAgent(t, (&shop{}).set(t), Options{Store: f})
	if _, err := a.runs.Checkpoint(t.Context(), "r-1"); !errors.Is(err, agent.ErrNoRun) || f.removed > 0 {
		t.Errorf("got %v, and %d logs were removed", err, f.removed)
	}
}

// A run that went on elsewhere, after this worker has read its state, has not failed.
func TestRunWentOn(t *testing.T) {
	t.Parallel()
	s := &shop{}
	a, _ := newAgent(t, s.set(t), Options{}, `await pay({of: "a"})`)
	ctx := context.WithValue(t.Context(), liveKey{}, newLive(a))
	if _, err := a.begin(ctx, nil, "r-1", []byte(`{"task":"Buy."}`)); err == nil {
		t.Fatal("the run did not pause")
	}
	old, err := a.runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	old.Records--
	l := newLive(a)
	l.start(func(ctx context.Context) (returned, error) { return a.resume(ctx, nil, old, nil) })
	if _, err := l.rest(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if p, err := a.ended(t.Context(), advance{}, l); err == nil {
		t.Errorf("got %+v", p)
	}
}

// Of the results that answer for a person, the last ones are kept.
func TestLateResultsAreFew(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	l := newLive(a)
	var results []result
	for i := range 2 * maxLate {
		id := fmt.Sprint("r-1:E", i)
		l.recorded[id] = dispatch.StateUnknown
		results = append(results, result{Number: i + 1, ID: id})
	}
	if got := l.needless(results); len(got) != maxLate || got[0] != maxLate {
		t.Errorf("%v are not needed", got)
	}
}

// A value's limit is that of its text in the history.
func TestEscapedValues(t *testing.T) {
	t.Parallel()
	o, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	v, err := keep(t.Context(), o, json.RawMessage(`"`+strings.Repeat("<", maxInline/2)+`"`), maxInline)
	if err != nil || v.Key == "" {
		t.Errorf("got %d bytes, %v", len(v.JSON), err)
	}
}

// The server gets the error of an attempt, whatever the tool says.
func TestErrorIsText(t *testing.T) {
	t.Parallel()
	odd := tools.Func("odd", "Fails.", func(context.Context, order) (int, error) {
		return 0, &tools.ToolError{Kind: tools.KindUnavailable, Message: "\xff" + strings.Repeat("x", 1e6)}
	}, &tools.Hints{Class: tools.Read})
	a, _ := newAgent(t, (&shop{}).set(t, odd), Options{})
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(a.call, activity.RegisterOptions{Name: "botCall"})
	_, err := env.ExecuteActivity("botCall", job{ID: "r-1:E1", Effect: "r-1:E1", Tool: "odd", Attempts: 2,
		Args: value{JSON: []byte(`{"of":"a"}`)}})
	if err == nil || !utf8.ValidString(err.Error()) || len(err.Error()) > 10000 {
		t.Errorf("got %.200q", err)
	}
}

// starter is a client that records how a workflow is started.
type starter struct {
	client.Client
	options client.StartWorkflowOptions
}

func (s *starter) ExecuteWorkflow(
	_ context.Context, o client.StartWorkflowOptions, _ any, _ ...any,
) (client.WorkflowRun, error) {
	s.options = o
	return nil, nil
}

// A start that is sent again, after the run has ended, does not do everything again.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	a, _ := newAgent(t, (&shop{}).set(t), Options{})
	s := &starter{}
	if _, err := a.Start(t.Context(), s, "r-1", agent.Task{}); err != nil {
		t.Fatal(err)
	}
	if got := s.options.WorkflowIDReusePolicy; got != enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE {
		t.Errorf("the policy is %s", got)
	}
}

// fragile are Objects that fail now and then.
type fragile struct {
	Objects
	fails func(put bool) bool
}

func (f *fragile) Put(ctx context.Context, key string, object []byte) error {
	if f.fails(true) {
		return errors.New("no connection")
	}
	return f.Objects.Put(ctx, key, object)
}

func (f *fragile) Get(ctx context.Context, key string) ([]byte, error) {
	if f.fails(false) {
		return nil, errors.New("no connection")
	}
	return f.Objects.Get(ctx, key)
}

// If the objects cannot be reached when a worker repeats a call that was made, the call has not failed.
func TestObjectsFail(t *testing.T) {
	t.Parallel()
	for puts, size := range map[bool]int{false: 1e5, true: 7} {
		s := &shop{}
		dir, err := OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var failing atomic.Int32
		f := &fragile{dir, func(put bool) bool { return put == puts && failing.Add(-1) >= 0 }}
		large := tools.Func("large", "Returns much.", func(ctx context.Context, o order) (string, error) {
			s.did(ctx, "large")
			failing.Store(2)
			return strings.Repeat("y", size), nil
		}, &tools.Hints{Class: tools.Effect})
		a, _ := newAgent(t, s.set(t, large), Options{Objects: f}, `const of = "x".repeat(1e5);
let got; try { got = await large({of}) } catch { got = await large({of}) }
submit({answer: "got " + got.length})`)
		env := killed(t, a, func(n int) (dies, lost bool) { return n == 2, false })
		if got := answer(t, a, env); !strings.Contains(got, fmt.Sprint("got ", size)) || s.String() != "large" {
			t.Errorf("got %s; the tools did %s", got, s)
		}
	}
}

// A call was not refused if an earlier attempt may have taken effect.
func TestRefusedLater(t *testing.T) {
	t.Parallel()
	tries := 0
	set := tools.Func("put", "Puts.", func(context.Context, order) (int, error) {
		if tries++; tries == 1 {
			return 0, context.DeadlineExceeded
		}
		return 0, &tools.ToolError{Kind: tools.KindUnavailable, Message: "closed"}
	}, &tools.Hints{Class: tools.Idempotent})
	a, _ := newAgent(t, (&shop{}).set(t, set), Options{Attempts: 2},
		`try { await put({of: "a"}) } catch (e) { submit({answer: e.kind}) }`)
	if got := answer(t, a, environment(t, a)); !strings.Contains(got, "unknown") || tries != 2 {
		t.Errorf("got %s after %d attempts", got, tries)
	}
}

// Options that are negative are errors.
func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	objects, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{
		{CallTimeout: -1}, {AskTimeout: -1}, {Heartbeat: -1}, {Attempts: -1}, {Cached: -1}, {CacheFor: -1},
	} {
		o.Store, o.Objects = journal.NewMemory(), objects
		if _, err := New[agent.Task, agent.Answer]("bot", nil, &o); err == nil {
			t.Errorf("%+v are no error", o)
		}
	}
}
