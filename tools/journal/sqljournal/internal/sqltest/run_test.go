package sqltest

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/sqljournal"
)

// world has tools: note and pay have effects, and look reads. It calls during at the first call of a tool.
type world struct {
	mu     sync.Mutex
	done   []string
	during map[string]func()
}

type what struct {
	What string `json:"what"`
}

func (w *world) did() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.done)
}

// bot returns an agent that writes the programs in order.
func (w *world) bot(t testing.TB, programs ...string) (*agent.Agent, *llmtest.Model) {
	t.Helper()
	programs = slices.Clone(programs)
	for i, p := range programs {
		programs[i] = "```js\n" + p + "\n```"
	}
	model := llmtest.New(programs...)
	return w.answering(t, model), model
}

// answering returns an agent with a model.
func (w *world) answering(t testing.TB, model llms.Model) *agent.Agent {
	t.Helper()
	tool := func(name string, class tools.Class) *tools.Tool {
		return tools.Func(name, "Do it.", func(_ context.Context, in what) (string, error) {
			w.mu.Lock()
			during := w.during[name]
			delete(w.during, name)
			if class == tools.Effect {
				w.done = append(w.done, name+" "+in.What)
			}
			w.mu.Unlock()
			if during != nil {
				during()
			}
			return "done", nil
		}, &tools.Hints{Class: class})
	}
	set, err := tools.NewSet(t.Context(),
		tool("note", tools.Effect), tool("pay", tools.Effect), tool("look", tools.Read))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

var task = agent.Task{Task: "Pay the bills."}

// A run whose lease ends in the middle of a program does nothing more. Another process goes on with it.
func TestLeaseLostDuringProgram(t *testing.T) {
	for name, test := range map[string]struct {
		during   string   // the tool during whose call the lease ends
		programs []string // the last one answers
		before   []string // what is done by the owner that loses the lease
		unknown  string   // the call about which a person decides
		after    []string
	}{
		// The result of the note is not durable yet.
		"read": {"look", []string{`await note({what: "a"}); await look({what: "x"}); await note({what: "b"});
			submit({answer: "yes"})`}, []string{"note a"}, "note", []string{"note a", "note b"}},
		"before the model is asked": {"look", []string{`await note({what: "a"}); return look({what: "x"})`,
			`await note({what: "b"}); submit({answer: "yes"})`},
			[]string{"note a"}, "note", []string{"note a", "note b"}},
		"effect": {"pay", []string{`await note({what: "a"}); await pay({what: "x"}); await note({what: "b"});
			submit({answer: "yes"})`}, []string{"note a", "pay x"}, "pay", []string{"note a", "pay x", "note b"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, d *database) {
				w := &world{during: map[string]func(){test.during: func() { d.steal(t) }}}
				bot, model := w.bot(t, test.programs...)
				_, err := agent.Start(t.Context(), agent.NewRuns(d.store(t, 0)), "run", bot, task)
				if !errors.Is(err, sqljournal.ErrLeaseLost) {
					t.Errorf("the run ends with %v", err)
				}
				if got := w.did(); !slices.Equal(got, test.before) || len(model.Requests()) != 1 {
					t.Errorf("the first owner did %q, and asked the model %d times", got, len(model.Requests()))
				}
				d.exec(t, "UPDATE writ_runs SET lease_until = 0")
				resume(t, w, d, test.unknown, test.programs[1:])
				if got := w.did(); !slices.Equal(got, test.after) {
					t.Errorf("both owners did %q", got)
				}
			})
		})
	}
}

// resume resumes the run in another process, after a person has decided about the call of a tool, if any.
func resume(t *testing.T, w *world, d *database, unknown string, programs []string) {
	t.Helper()
	runs := agent.NewRuns(d.store(t, 0))
	at, err := runs.Checkpoint(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	bot, _ := w.bot(t, programs...)
	pred, err := agent.Resume(t.Context(), runs, bot, at, nil)
	if unknown != "" {
		paused, ok := errors.AsType[*agent.PausedError](err)
		if !ok || len(paused.Checkpoint.Waiting) != 1 {
			t.Fatalf("the run is not paused: %v", err)
		}
		if w := paused.Checkpoint.Waiting[0]; !w.Unknown || w.Tool != unknown {
			t.Fatalf("the run is not paused: %v", err)
		}
		done := &journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(`"done"`)}
		pred, err = agent.Resume(t.Context(), runs, bot, paused.Checkpoint,
			map[string]agent.Decision{paused.Checkpoint.Waiting[0].ID: {Outcome: done}})
	}
	if err != nil || !strings.Contains(pred.Output.Answer, "yes") {
		t.Fatalf("%v, %v", pred, err)
	}
}

// twice asks a model twice, without tools.
type twice struct {
	ask     *module.Predict[agent.Task, agent.Answer]
	between func()
}

func (m twice) Run(ctx context.Context, in agent.Task) (*module.Prediction[agent.Answer], error) {
	if _, err := m.ask.Run(ctx, in); err != nil {
		return nil, err
	}
	m.between()
	return m.ask.Run(ctx, in)
}

// A run whose lease has ended does not ask the model, even if there is nothing to write.
func TestLeaseLostBetweenRequests(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *database) {
		var f faults
		s, err := sqljournal.Open(t.Context(), d.openFaulty(t, &f), &sqljournal.Options{Lease: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		const yes = "[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"
		model := llmtest.New(yes, yes)
		sig := signature.Must(signature.New[agent.Task, agent.Answer]("Do it."))
		m := twice{module.NewPredict(sig, model, nil), func() {
			f.set(func(context.Context, string, []driver.NamedValue) error { return errDown }, nil)
			eventually(t, d.store(t, 0), "run")
			f.set(nil, nil)
		}}
		_, err = agent.Start(t.Context(), agent.NewRuns(s), "run", m, task)
		if !errors.Is(err, sqljournal.ErrLeaseLost) {
			t.Errorf("the run ends with %v", err)
		}
		if n := len(model.Requests()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}
