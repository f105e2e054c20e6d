package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

var scenarios = flag.Int("scenarios", 270, "how many scenarios TestFaults plays")

// result is what happened in a scenario.
type result struct {
	kind     string
	careful  bool
	crashes  int
	holds    int
	needless int // holds of a call whose effect had not taken place
	unknown  int // calls about whose outcome a person was asked
	orphans  int
	answer   string
	err      error
	story    []string
}

// TestFaults plays runs whose process crashes, whose tools fail, and whose model rewrites its programs, and compares
// what the server did with what the run says.
func TestFaults(t *testing.T) {
	url, path := startServer(t)
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	kinds := slices.Sorted(maps.Keys(rewrites))
	results := make([]result, *scenarios)
	var next atomic.Int64
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < *scenarios; i = int(next.Add(1)) - 1 {
				p := newPlay(t, i, kinds[i%len(kinds)], url, box)
				results[i] = p.play()
			}
		})
	}
	running.Wait()
	rows := readRows(t, path)
	report := table{}
	for i, r := range results {
		problems := judge(r, rows[i])
		report.add(r, rows[i])
		if len(problems) > 0 {
			t.Errorf("scenario %d (%s, careful %v): %s\nrows %v\n%s", i, r.kind, r.careful,
				strings.Join(problems, "; "), rows[i], strings.Join(r.story, "\n"))
		}
	}
	t.Log("\n" + report.String())
}

// play is a scenario.
type play struct {
	t       *testing.T
	number  int
	rand    *rand.Rand
	url     string
	box     *sandbox.Sandbox
	drafts  []draft
	fates   map[int64]fate
	effects atomic.Int64 // calls of effects that reached a tool
	process *process
	store   *store
	result  result
}

func newPlay(t *testing.T, number int, kind, url string, box *sandbox.Sandbox) *play {
	r := rand.New(rand.NewPCG(uint64(number), 31))
	p := &play{t: t, number: number, rand: r, url: url, box: box, drafts: rewrites[kind](r), fates: map[int64]fate{}}
	p.result = result{kind: kind, careful: r.IntN(2) == 0}
	for range r.IntN(3) {
		p.fates[r.Int64N(6)] = fates[r.IntN(len(fates))]
	}
	p.store = &store{}
	return p
}

// play runs the agent until it has an answer, through crashes and pauses.
func (p *play) play() result {
	const lives = 8
	for life := range lives {
		left := -1
		if life < 2 && p.rand.IntN(3) > 0 {
			left = p.rand.IntN(120)
		}
		pred, err := p.live(left)
		var paused *agent.PausedError
		switch {
		case p.process.dead:
			p.result.crashes++
			p.tell("crash: %v", err)
			p.store.reboot(p.rand)
			continue
		case errors.As(err, &paused):
			p.tell("paused: %v", err)
			continue
		case err != nil:
			p.result.err = err
			var incomplete *module.IncompleteError
			if errors.As(err, &incomplete) {
				p.observe(incomplete.Trajectory)
			}
		default:
			p.result.answer = pred.Output.Answer
			p.observe(pred.Trajectory)
		}
		p.tell("ended: %q, %v", p.result.answer, err)
		return p.result
	}
	p.result.err = errors.New("the run does not end")
	return p.result
}

// live is the life of a process. It crashes after a number of points.
func (p *play) live(points int) (*module.Prediction[agent.Answer], error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.process = &process{left: points, crash: cancel}
	p.store.process = p.process
	bot, err := agent.New(llmtest.Func(p.reply), &agent.Options{Sandbox: p.box, Tools: p.tools(p.process)})
	if err != nil {
		p.t.Fatal(err)
	}
	runs := agent.NewRuns(p.store)
	at, err := runs.Checkpoint(ctx, "r")
	if errors.Is(err, agent.ErrNoRun) {
		return agent.Start(ctx, runs, "r", bot, agent.Task{Task: "Write to everybody."})
	}
	if err != nil {
		return nil, err
	}
	decisions := map[string]agent.Decision{}
	for _, w := range at.Waiting {
		decisions[w.ID] = agent.Decision{Outcome: p.outcome(w)}
		p.result.unknown++
	}
	return agent.Resume(ctx, runs, bot, at, decisions)
}

// outcome looks up what a call has done.
func (p *play) outcome(w agent.Waiting) *journal.Reconciled {
	for _, r := range p.rows() {
		if r.Effect == w.ID {
			return &journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(fmt.Sprint(r.Number))}
		}
	}
	return &journal.Reconciled{State: journal.StateRejected}
}

// reply is the model.
func (p *play) reply(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
	if p.process.point() {
		return llmtest.Reply{}, errDead
	}
	said := write(p.drafts, p.result.careful, r.Messages)
	p.tell("asked:\n%s\nprogram:\n%s", text(r.Messages[len(r.Messages)-1]), said)
	return llmtest.Reply{Text: said}, nil
}

func (p *play) tell(format string, args ...any) {
	p.result.story = append(p.result.story, fmt.Sprintf(format, args...))
}

type message struct {
	To   string `json:"to"`
	Text string `json:"text,omitempty"`
}

// tools returns the tools of a process.
func (p *play) tools(owner *process) *tools.Set {
	effect := &tools.Hints{Class: tools.Effect}
	act := func(tool string) func(context.Context, message) (int, error) {
		return func(ctx context.Context, m message) (n int, err error) {
			c := call{Scenario: p.number, Tool: tool, To: m.To, Text: m.Text, Effect: tools.EffectID(ctx),
				Named: ctx.Value(named{}) != nil, Fate: p.fates[p.effects.Add(1)-1]}
			if owner.point() {
				return 0, errDead
			}
			err = p.send(c, &n)
			if owner.point() {
				return 0, errDead
			}
			return n, err
		}
	}
	set, err := tools.NewSet(context.Background(),
		of("mail", tools.Func("send", "Send a mail.", act("mail.send"), effect)),
		of("tickets", tools.Func("create", "Create a ticket.", act("tickets.create"), effect)),
		of("mail", tools.Func("list", "List the recipients of the mails that were sent.",
			func(ctx context.Context, _ struct{}) (list []string, err error) {
				return list, p.send(call{Scenario: p.number, Tool: "mail.list"}, &list)
			}, &tools.Hints{Class: tools.Read})))
	if err != nil {
		p.t.Fatal(err)
	}
	return set.With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			if c.Repeat != nil {
				ctx = context.WithValue(ctx, named{}, true)
			}
			return next.Call(ctx, c)
		})
	})
}

// of returns the tool as a tool of a server.
func of(server string, t *tools.Tool) *tools.Tool {
	t.Namespace = server
	return t
}

type named struct{}

// send sends a call to the server.
func (p *play) send(c call, result any) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	r, err := http.Post(p.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	switch r.StatusCode {
	case http.StatusOK:
		return json.NewDecoder(r.Body).Decode(result)
	case http.StatusServiceUnavailable:
		return &tools.ToolError{Kind: tools.KindUnavailable, Message: "nothing was done"}
	case http.StatusGatewayTimeout:
		return context.DeadlineExceeded
	}
	return errors.New(r.Status)
}

// rows returns what the server has done so far in the scenario.
func (p *play) rows() (list []row) {
	if err := p.send(call{Scenario: p.number, Tool: "rows"}, &list); err != nil {
		p.t.Error(err)
	}
	return list
}

// observe counts what the trajectory of the run says.
func (p *play) observe(t module.Trajectory) {
	for _, s := range t.Steps {
		if s.Outcome != nil && s.Outcome.Failure != nil && s.Outcome.Failure.Kind == sandbox.KindHeld {
			p.result.holds++
		}
	}
	p.result.orphans = len(t.Orphans)
}

// judge returns what is wrong with the rows of a scenario.
func judge(r result, rows []row) (problems []string) {
	byEffect, byPerson := map[string]int{}, map[string]int{}
	for _, row := range rows {
		if byEffect[row.Effect]++; byEffect[row.Effect] > 1 {
			problems = append(problems, "dispatched twice: "+row.Effect)
		}
		byPerson[row.Tool+row.To]++
		switch repeated := byPerson[row.Tool+row.To] > 1; {
		case repeated && !row.Named:
			problems = append(problems, "repeated in silence: "+row.Tool+" "+row.To)
		case repeated && r.careful && row.Tool == "mail.send":
			problems = append(problems, "repeated although the program looked: "+row.To)
		}
	}
	if r.err != nil {
		return problems
	}
	for _, name := range people {
		if byPerson["mail.send"+name] == 0 {
			problems = append(problems, "lost: "+name)
		}
	}
	return problems
}

// table counts the results by kind of rewrite.
type table map[string]*counts

type counts struct{ runs, answered, repeats, named, holds, unknown, orphans, crashes int }

func (t table) add(r result, rows []row) {
	c := t[r.kind]
	if c == nil {
		c = &counts{}
		t[r.kind] = c
	}
	c.runs++
	if r.err == nil {
		c.answered++
	}
	c.holds, c.unknown, c.orphans, c.crashes = c.holds+r.holds, c.unknown+r.unknown, c.orphans+r.orphans, c.crashes+r.crashes
	seen := map[string]bool{}
	for _, row := range rows {
		key := row.Tool + row.To
		switch {
		case seen[key] && row.Named:
			c.named++
		case seen[key]:
			c.repeats++
		}
		seen[key] = true
	}
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString("| rewrite | runs | answered | crashes | silent repeats | named repeats | holds | unknown | orphans |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(t)) {
		c := t[kind]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", kind, c.runs, c.answered, c.crashes, c.repeats,
			c.named, c.holds, c.unknown, c.orphans)
	}
	return b.String()
}
