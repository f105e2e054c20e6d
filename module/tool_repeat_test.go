package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// post has a tool that sends mails. The first mail may fail after it was sent.
type post struct {
	sent    atomic.Int64
	failure error
}

func (p *post) tool() *tools.Tool {
	return tools.Func("mail", "Sends.", func(context.Context, orders) (int64, error) {
		n := p.sent.Add(1)
		if n == 1 && p.failure != nil {
			return 0, p.failure
		}
		return n, nil
	}, nil)
}

// isFirst reports whether a request is the first one of a run.
func isFirst(r llmtest.Request) bool {
	return !slices.ContainsFunc(r.Messages, func(m llms.MessageContent) bool { return m.Role == llms.ChatMessageTypeAI })
}

// secretary returns the model of an agent whose first runs reply with a fault, and whose last one sends a mail. If that
// is held, it gives up.
func secretary(fault string, failing int) *llmtest.Model {
	runs := 0
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if isFirst(r) {
			runs++
		}
		switch {
		case runs <= failing && fault == "":
			if isFirst(r) {
				return llmtest.Reply{Text: fence(`await mail({limit: 7})`)}, nil
			}
			return llmtest.Reply{}, errors.New("the provider is down")
		case runs <= failing:
			return llmtest.Reply{Text: fault}, nil
		case isFirst(r):
			return llmtest.Reply{Text: fence(`submit({total: await mail({limit: 7})})`)}, nil
		}
		return llmtest.Reply{Text: fence(`submit({total: -1})`)}, nil
	})
}

// faults are the points at which a run of the agent fails, and the mail's error.
var faults = map[string]struct {
	reply   string
	failure error
	unknown bool
}{
	"the program fails":             {reply: fence(`await mail({limit: 7}); throw 1`)},
	"the program goes on":           {reply: fence(`console.log(await mail({limit: 7}))`)},
	"the answer is invalid":         {reply: fence(`await mail({limit: 7}); submit({total: "x"})`)},
	"the model fails":               {},
	"the mail fails":                {reply: fence(`await mail({limit: 7})`), failure: errors.New("502")},
	"the mail fails in every run":   {reply: fence(`await mail({limit: 7}).catch(() => {}); throw 1`), failure: errors.New("502")},
	"the outcome is unknown":        {reply: fence(`await mail({limit: 7})`), failure: tools.Unknown(errors.New("eof")), unknown: true},
	"the unknown outcome is caught": {reply: fence(`try { await mail({limit: 7}) } catch {}; throw 1`), failure: tools.Unknown(errors.New("eof")), unknown: true},
}

// repetitions are the ways in which the agent's caller repeats its call.
var repetitions = map[string]struct {
	programs []string
	hints    *tools.Hints
	policy   tools.Policy
}{
	"named": {programs: []string{`await ask({limit: 1})`, `submit(await ask({limit: 1}, {again: "E1"}))`}},
	"after a hold": {programs: []string{`await ask({limit: 1})`, `submit(await ask({limit: 1}))`,
		`submit(await ask({limit: 1}, {again: "E1", distinct: "E1"}))`}},
	"caught": {programs: []string{`let r; try { r = await ask({limit: 1}) } catch (e) { r = await ask({limit: 1}, {again: e.id}) }; submit(r)`}},
	"twice": {programs: []string{`await ask({limit: 1}).catch(() => {}); throw 1`,
		`await ask({limit: 1}, {again: "E1"}); throw 1`, `submit(await ask({limit: 1}, {again: "E1"}))`}},
	"idempotent": {programs: []string{`await ask({limit: 1})`, `submit(await ask({limit: 1}))`},
		hints: &tools.Hints{Class: tools.Idempotent}},
	"repeatable": {programs: []string{`await ask({limit: 1})`, `submit(await ask({limit: 1}))`},
		hints: &tools.Hints{Repeatable: true}},
	"in other words": {programs: []string{`await ask({limit: 1})`, `submit(await ask({limit: 2}))`,
		`submit(await ask({limit: 2}, {distinct: "E1", again: "E1"}))`}},
	"by an argument": {programs: []string{`await ask({limit: 1})`, `submit(await ask({limit: 2}, {again: "E1"}))`},
		hints: &tools.Hints{Identity: []string{}}},
	"retried by a policy": {programs: []string{`submit(await ask({limit: 1}))`},
		policy: func(next tools.Caller) tools.Caller {
			return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
				if _, err := next.Call(ctx, c); err == nil {
					return nil, errors.New("the first try did not fail")
				}
				return next.Call(ctx, c)
			})
		}},
}

// However an agent fails after an effect, and however the call of the agent is repeated, the effect happens once.
func TestRepeatedAgent(t *testing.T) {
	t.Parallel()
	for fault, f := range faults {
		for way, w := range repetitions {
			for _, level := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s, %s, level %d", fault, way, level), func(t *testing.T) {
					t.Parallel()
					p, failing := &post{failure: f.failure}, 1
					if strings.Contains(fault, "every run") {
						failing = 3
					}
					var agent totaler = module.NewCodeAct(adding, secretary(f.reply, failing), inProcess(t), toolSet(t, p.tool()),
						&module.Options{MaxIters: 2})
					if level == 2 { // an agent between them calls the agent, and its first run does nothing else
						agent = module.NewCodeAct(adding, between(), inProcess(t),
							toolSet(t, module.Tool("inner", "", agent, nil)), &module.Options{MaxIters: 1})
					}
					set := toolSet(t, module.Tool("ask", "", agent, w.hints))
					if w.policy != nil {
						set = set.With(w.policy)
					}
					m := module.NewCodeAct(adding, llmtest.New(append(fences(w.programs), submit1, submit1)...), inProcess(t), set,
						&module.Options{MaxIters: 4})
					pred, err := m.Run(t.Context(), anything)
					if n := p.sent.Load(); n != 1 {
						t.Errorf("sent %d mails, %v\n%s", n, err, pred.TrajectoryOf(err))
					}
					unknown := (*journal.UnknownError)(nil)
					if errors.As(err, &unknown) != f.unknown || err != nil && !f.unknown {
						t.Errorf("got %v\n%s", err, pred.TrajectoryOf(err))
					}
				})
			}
		}
	}
}

// between returns the model of an agent that calls another agent. If that fails, its run fails. Its next run names it.
func between() *llmtest.Model {
	runs := 0
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if isFirst(r) {
			runs++
		}
		switch {
		case runs == 1:
			return llmtest.Reply{Text: fence(`submit(await inner({limit: 3}))`)}, nil
		case isFirst(r):
			return llmtest.Reply{Text: fence(`submit(await inner({limit: 3}, {again: "E1"}))`)}, nil
		}
		return llmtest.Reply{Text: fence(`submit({total: -1})`)}, nil
	})
}

// planner is an agent of two modules: the first writes what the second does.
type planner struct {
	Plan *module.Predict[orders, sum]
	Act  totaler
}

func (o *planner) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	plan, err := o.Plan.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	if pred, err := o.Act.Run(ctx, orders{Limit: plan.Output.Total}); err != nil || plan.Output.Total > 1 {
		return pred, err
	}
	return nil, errors.New("the office closes")
}

// The agent's parts go on as well, even if a model has written other inputs for them, and if they had answered.
func TestRepeatedParts(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{`submit({total: await mail({limit: 7})})`, `await mail({limit: 7}); throw 1`} {
		p := &post{}
		agent := &planner{
			module.NewPredict(adding, llmtest.New("[[ ## total ## ]]\n1\n\n[[ ## completed ## ]]",
				"[[ ## total ## ]]\n2\n\n[[ ## completed ## ]]"), nil),
			module.NewCodeAct(adding, llmtest.New(fence(reply), fence(`submit({total: await mail({limit: 7})})`)), inProcess(t),
				toolSet(t, p.tool()), &module.Options{MaxIters: 1}),
		}
		model := llmtest.New(fence(`await ask({limit: 1})`), fence(`submit(await ask({limit: 1}, {again: "E1"}))`))
		pred, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, module.Tool("ask", "", totaler(agent), nil)), nil).
			Run(t.Context(), anything)
		if err != nil || p.sent.Load() != 1 || pred.Output.Total != 1 {
			t.Errorf("%s: sent %d, %v\n%s", reply, p.sent.Load(), err, pred.TrajectoryOf(err))
		}
	}
}

// Agents that make single calls go on as well, and the model is told what was done.
func TestRepeatedReAct(t *testing.T) {
	t.Parallel()
	p := &post{}
	within := llmtest.New(action("mail", `{"limit": 7}`), action("mail", `{"limit": 7}`), submits1)
	agent := module.NewReAct(adding, within, toolSet(t, p.tool()), &module.Options{MaxIters: 1})
	model := llmtest.New(action("ask", `{"limit": 1}`), action("ask", `{"limit": 1}`), action("ask", `{"limit": 1}`), submits1)
	pred, err := module.NewReAct(adding, model, toolSet(t, module.Tool("ask", "", totaler(agent), nil)), nil).
		Run(t.Context(), anything)
	if err != nil || p.sent.Load() != 1 || len(within.Requests()) < 2 {
		t.Errorf("sent %d, %v\n%s", p.sent.Load(), err, pred.TrajectoryOf(err))
	}
	wantTold(t, within, 1, "An earlier attempt at this task ended without an answer.\n"+
		"Called; nobody has declared whether it changed data:\n- E1 mail({\"limit\":7}) → 1")
}

// A call that is not a repetition of a failed one begins anew.
func TestAgentBeginsAnew(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]int64{
		`await ask({limit: 1}); submit(await ask({limit: 1}))`:                                 2,
		`const r = await ask({limit: 1}); submit(await ask({limit: 2}))`:                       2,
		`await ask({limit: 1}); try { await ask({limit: 2}) } catch {}; submit({total: 1})`:    2,
		`await Promise.all([ask({limit: 1}), ask({limit: 1})]); submit(await ask({limit: 1}))`: 3,
	} {
		p := &post{}
		agent := module.NewCodeAct(adding, passes("mail"), inProcess(t), toolSet(t, tools.Func("mail", "",
			func(context.Context, orders) (sum, error) { return sum{Total: int(p.sent.Add(1))}, nil }, nil)), nil)
		model := llmtest.New(fence(call))
		pred, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, module.Tool("ask", "", totaler(agent), nil)), nil).
			Run(t.Context(), anything)
		if err != nil || p.sent.Load() != want {
			t.Errorf("%s: sent %d, want %d, %v\n%s", call, p.sent.Load(), want, err, pred.TrajectoryOf(err))
		}
		calls := 0
		for e := range pred.TrajectoryOf(err).AllCalls() {
			if e.Tool == "mail" {
				calls++
			}
		}
		if calls != int(want) {
			t.Errorf("%s: the trajectory has %d mails", call, calls)
		}
	}
}

// stubborn is a module whose first run ignores its context.
type stubborn struct {
	Act      totaler
	runs     atomic.Int64
	running  atomic.Int64
	overlaps atomic.Bool
	begun    chan struct{}
	release  chan struct{}
}

func (m *stubborn) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	if m.running.Add(1) > 1 {
		m.overlaps.Store(true)
	}
	defer m.running.Add(-1)
	if m.runs.Add(1) == 1 {
		close(m.begun)
		<-m.release
	}
	return m.Act.Run(ctx, in)
}

// A repeated call waits until the earlier run has ended, even if nobody waits for that run any more.
func TestRepeatedAgentStillRuns(t *testing.T) {
	t.Parallel()
	unhurried(t, func(t *testing.T) {
		m := &stubborn{Act: module.NewPredict(adding, totalModel(5), nil), begun: make(chan struct{}),
			release: make(chan struct{})}
		abandon := func(next tools.Caller) tools.Caller {
			return tools.CallerFunc(func(ctx context.Context, c tools.Call) (result json.RawMessage, err error) {
				var both sync.WaitGroup
				abandoned, stop := context.WithCancel(ctx)
				both.Go(func() { _, _ = next.Call(abandoned, c) })
				<-m.begun
				stop()
				both.Go(func() { result, err = next.Call(ctx, c) })
				synctest.Wait()
				close(m.release)
				both.Wait()
				return result, err
			})
		}
		set := toolSet(t, module.Tool("ask", "", totaler(m), nil)).With(abandon)
		_, err := module.NewReAct(adding, llmtest.New(action("ask", `{"limit": 1}`), submits1), set, nil).
			Run(t.Context(), anything)
		if err != nil || m.overlaps.Load() || m.runs.Load() != 2 {
			t.Errorf("%d runs, overlapping: %t, %v", m.runs.Load(), m.overlaps.Load(), err)
		}
	})
}
