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
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

var scenarios = flag.Int("scenarios", 90, "how many scenarios TestFaults plays")

// result is what happened in a scenario.
type result struct {
	kind     string
	careful  bool
	crashes  int
	holds    int
	needless int // holds of a call whose effect had not taken place
	looks    int // holds because the program had not looked before it repeated
	unknown  int // calls about whose outcome a person was asked
	orphans  int
	answer   string
	err      error
	problems []string // that the play itself has noticed
	story    []string
}

// TestFaults plays runs whose process crashes, whose tools fail, and whose model rewrites its programs, and compares
// what the server did with what the run says: an effect is dispatched once, each row of the server has a record, each
// call that is done has the result of its own row, what was not made has no row, the record of a run never shrinks,
// nothing goes on after a hold, and a program that looks first repeats nothing. The order of calls, and which effects
// count as consumed, cannot be seen from outside; model_test.go in tools/journal checks them.
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
				p.compare()
				if p.result.kind != "ReAct" { // whose model writes no programs
					p.playOff()
				}
			}
		})
	}
	running.Wait()
	rows := readRows(t, path)
	report := table{}
	for i, r := range results {
		problems := judge(r, rows[i])
		report.add(r, rows[i], rows[i+off])
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

	retry   bool    // the host has policy.Retry
	approve bool    // a person decides about tickets
	unclear bool    // the tool that creates tickets is not classified
	crashed []int64 // the numbers of calls that had reached a tool at the crashes

	calls map[string]journal.Entry // what the run's record had when the last process started, by effect

	mu    sync.Mutex
	done  map[string]bool // effects whose tool has answered
	told  map[string]bool // those of them that were followed by a model request
	holds map[string]bool // what the model was told in holds
}

func newPlay(t *testing.T, number int, kind, url string, box *sandbox.Sandbox) *play {
	r := rand.New(rand.NewPCG(uint64(number), 31))
	p := &play{t: t, number: number, rand: r, url: url, box: box, drafts: rewrites[kind](r), fates: map[int64]fate{}}
	p.result = result{kind: kind, careful: r.IntN(2) == 0}
	for range r.IntN(3) {
		p.fates[r.Int64N(6)] = fates[r.IntN(len(fates))]
	}
	p.retry, p.approve, p.unclear = r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(4) == 0
	p.done, p.told, p.holds = map[string]bool{}, map[string]bool{}, map[string]bool{}
	if r.IntN(4) == 0 {
		for i := range p.drafts {
			p.drafts[i].setFirst = true
		}
	}
	if r.IntN(4) == 0 {
		for i := range p.drafts {
			p.drafts[i].take = true
		}
	}
	p.store = &store{}
	return p
}

// play runs the agent until it has an answer, through crashes and pauses.
func (p *play) play() result {
	const lives = 12
	for life := range lives {
		left := -1
		if life < 3 && p.rand.IntN(3) > 0 { // few points: the process crashes again while the run is repeated
			left = p.rand.IntN([]int{30, 120}[p.rand.IntN(2)])
		}
		pred, err := p.live(left)
		var paused *agent.PausedError
		switch {
		case p.process.dead:
			p.result.crashes++
			p.crashed = append(p.crashed, p.effects.Load())
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
		if err != nil && testing.Verbose() {
			p.t.Log("ERR", err)
		}
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
	bot := p.bot()
	runs := agent.NewRuns(p.store)
	p.remember(runs)
	at, err := runs.Checkpoint(ctx, "r")
	if errors.Is(err, agent.ErrNoRun) {
		return agent.Start(ctx, runs, "r", bot, agent.Task{Task: "Write to everybody."})
	}
	if err != nil {
		return nil, err
	}
	decisions := map[string]agent.Decision{}
	for _, w := range at.Waiting {
		if !w.Unknown {
			decisions[w.ID] = agent.Decision{Decision: p.decide()}
			continue
		}
		if p.told[w.ID] { // what a tool answers is durable before the model is asked again
			p.result.problems = append(p.result.problems, "a person was asked about an answered call: "+w.ID)
		}
		decisions[w.ID] = agent.Decision{Outcome: p.outcome(w)}
		p.result.unknown++
	}
	return agent.Resume(ctx, runs, bot, at, decisions)
}

// decide is the person who decides about tickets.
func (p *play) decide() policy.Decision {
	switch p.rand.IntN(3) {
	case 0:
		return policy.Decision{Reason: "no tickets today"}
	case 1:
		return policy.Decision{Approved: true, Args: json.RawMessage(`{"to":"audit","text":"edited"}`)}
	}
	return policy.Decision{Approved: true}
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
	p.mu.Lock()
	maps.Copy(p.told, p.done)
	p.mu.Unlock()
	last := text(r.Messages[len(r.Messages)-1])
	p.countHold(last)
	said := write(p.drafts, p.result.careful, r.Messages)
	p.tell("asked:\n%s\nprogram:\n%s", text(r.Messages[len(r.Messages)-1]), said)
	return llmtest.Reply{Text: said}, nil
}

var heldCall = regexp.MustCompile(`was stopped before the call ([a-z.]+)\(\{"to":"([a-z]+)"`)

// countHold counts a hold about which the model is told, and whether it was needless.
func (p *play) countHold(said string) {
	held := heldCall.FindStringSubmatch(said)
	if strings.Contains(said, " was not called: this exact call was made before") && !p.holds[said] { // in a ReAct
		p.holds[said] = true
		p.result.holds++
	}
	if held == nil || p.holds[said] {
		return
	}
	p.holds[said] = true
	p.result.holds++
	if strings.Contains(said, "nothing that was read since") {
		p.result.looks++
	}
	if !slices.ContainsFunc(p.rows(), func(r row) bool { return r.Tool == held[1] && r.To == held[2] }) {
		p.result.needless++
	}
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
				Named: ctx.Value(named{}) != nil}
			if n := p.effects.Add(1) - 1; tool != "stock.set" {
				c.Fate = p.fates[n]
			}
			if owner.point() {
				return 0, errDead
			}
			err = p.send(c, &n)
			if err == nil {
				p.mu.Lock()
				p.done[c.Effect] = true
				p.mu.Unlock()
			}
			if owner.point() {
				return 0, errDead
			}
			return n, err
		}
	}
	ticket := effect
	if p.unclear {
		ticket = nil
	}
	set, err := tools.NewSet(context.Background(),
		of("flags", tools.Func("set", "Set a flag.", act("flags.set"), &tools.Hints{Class: tools.Idempotent})),
		of("stock", tools.Func("set", "Set what is left.", act("stock.set"), &tools.Hints{Class: tools.Idempotent})),
		of("stock", tools.Func("get", "Get what is left.",
			func(ctx context.Context, _ struct{}) (left int, err error) {
				return left, p.send(call{Scenario: p.number, Tool: "stock.get"}, &left)
			}, &tools.Hints{Class: tools.Read})),
		of("mail", tools.Func("send", "Send a mail.", act("mail.send"), effect)),
		of("tickets", tools.Func("create", "Create a ticket.", act("tickets.create"), ticket)),
		of("mail", tools.Func("list", "List the recipients of the mails that were sent.",
			func(ctx context.Context, _ struct{}) (list []string, err error) {
				return list, p.send(call{Scenario: p.number, Tool: "mail.list"}, &list)
			}, &tools.Hints{Class: tools.Read})))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.approve {
		set = set.With(policy.If(policy.Tools("tickets.*"), policy.Approve(nil)))
	}
	if p.retry {
		set = set.With(policy.Retry(&policy.RetryOptions{Delay: time.Millisecond}))
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
func (p *play) observe(t module.Trajectory) { p.result.orphans = len(t.Orphans) }

// judge returns what is wrong with the rows of a scenario. Each check says what is promised.
func judge(r result, rows []row) (problems []string) {
	problems = r.problems
	byEffect, byPerson := map[string]int{}, map[string][]row{}
	for _, row := range rows {
		if row.Tool == "stock.set" || row.Tool == "flags.set" { // idempotent: may be set again
			continue
		}
		// An effect with an ID takes place once: what is dispatched has a durable record, which survives a crash.
		if byEffect[row.Effect]++; byEffect[row.Effect] > 1 {
			problems = append(problems, "dispatched twice: "+row.Effect)
		}
		// Nothing is dispatched by a program that was held.
		if row.To == afterHold {
			problems = append(problems, "a program went on after a hold")
		}
		before := byPerson[row.Tool+row.To]
		byPerson[row.Tool+row.To] = append(before, row)
		repeated := len(before) > 0
		switch {
		// A call that is done, or whose outcome is uncertain, is repeated only by a program that names it.
		case repeated && !row.Named:
			problems = append(problems, "repeated in silence: "+row.Tool+" "+row.To)
		// A program that looks first, and does what is missing, repeats nothing. So reads are live.
		case repeated && r.careful && row.Tool == "mail.send":
			problems = append(problems, "repeated although the program looked: "+row.To)
		// A failed call is not repeated without a look before the program was told to look.
		case repeated && row.Tool == "mail.send" && r.kind != "list-first" && r.kind != "ReAct" && r.looks == 0 &&
			before[0].Fate == failAfter && before[0].Text == row.Text:
			problems = append(problems, "repeated a failed call without a look: "+row.To)
		}
	}
	// A run ends with an answer, or says why it is incomplete.
	var incomplete *module.IncompleteError
	if r.err != nil {
		if !errors.As(r.err, &incomplete) {
			problems = append(problems, "the run failed: "+r.err.Error())
		}
		return problems
	}
	if r.answer == "failed" { // the sub-agent did
		return problems
	}
	if r.kind == "split" || r.kind == "ReAct" { // their models go on with the rest, even if a tool refused a part
		return problems
	}
	// A call that a program was told is done has been made.
	for _, name := range people {
		if len(byPerson["mail.send"+name]) == 0 {
			problems = append(problems, "lost: "+name)
		}
	}
	return problems
}

// table counts the results by kind of rewrite and of model.
type table map[string]*counts

type counts struct{ runs, answered, crashes, off, silent, named, holds, needless, unknown, orphans int }

func (t table) add(r result, rows, without []row) {
	model := "hasty"
	if r.careful {
		model = "careful"
	}
	key := r.kind + " | " + model
	c := t[key]
	if c == nil {
		c = &counts{}
		t[key] = c
	}
	c.runs++
	if r.err == nil {
		c.answered++
	}
	c.crashes, c.holds, c.needless = c.crashes+r.crashes, c.holds+r.holds, c.needless+r.needless
	c.unknown, c.orphans = c.unknown+r.unknown, c.orphans+r.orphans
	silent, named := repeats(rows)
	c.silent, c.named = c.silent+silent, c.named+named
	silent, _ = repeats(without)
	c.off += silent
}

// repeats counts the effects that took place before: those that no program named, and those that one named.
func repeats(rows []row) (silent, named int) {
	seen := map[string]bool{}
	for _, row := range rows {
		key := row.Tool + row.To
		switch {
		case row.Tool == "flags.set", row.Tool == "stock.set":
		case seen[key] && row.Named:
			named++
		case seen[key]:
			silent++
		}
		seen[key] = true
	}
	return silent, named
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString("| rewrite | model | runs | answered | crashes | repeats without a journal | silent repeats " +
		"| named repeats | holds | needless holds | unknown | orphans |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	all := counts{}
	row := func(name string, c counts) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, c.runs, c.answered,
			c.crashes, c.off, c.silent, c.named, c.holds, c.needless, c.unknown, c.orphans)
	}
	for _, kind := range slices.Sorted(maps.Keys(t)) {
		c := *t[kind]
		row(kind, c)
		all = counts{all.runs + c.runs, all.answered + c.answered, all.crashes + c.crashes, all.off + c.off,
			all.silent + c.silent, all.named + c.named, all.holds + c.holds, all.needless + c.needless,
			all.unknown + c.unknown, all.orphans + c.orphans}
	}
	row("all | both", all)
	return b.String()
}
