package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
	"golang.org/x/term"
)

// durable runs the agent so that the run can go on after a pause, Ctrl-C or a crash.
func (c *config) durable(ctx context.Context, bot *agent.Agent) (*module.Prediction[agent.Answer], error) {
	store, err := journal.OpenDir(c.journal)
	if err != nil {
		return nil, err
	}
	runs := agent.NewRuns(store)
	runs.AskHolds = c.holds
	id := c.resume
	if id == "" {
		id = "r-" + strings.ToLower(rand.Text()[:6])
	}
	// Ctrl-C pauses the run: the calls in progress may end. A second Ctrl-C ends the process.
	defer context.AfterFunc(ctx, func() {
		if runs.Pause(id) {
			fmt.Fprintln(c.stderr, "pausing once the calls in progress have ended; "+
				"Ctrl-C again ends the process at once")
		}
	})()
	ctx = context.WithoutCancel(ctx)
	var pred *module.Prediction[agent.Answer]
	if c.resume == "" {
		pred, err = agent.Start(ctx, runs, id, bot, c.in)
	} else {
		var at agent.Checkpoint
		if at, err = c.stored(ctx, runs); err == nil {
			pred, err = c.resumed(ctx, runs, bot, at)
		}
	}
	paused, ok := errors.AsType[*agent.PausedError](err)
	for ok && len(paused.Checkpoint.Waiting) > 0 && c.asks() && !errors.Is(err, errNoAnswer) {
		pred, err = c.resumed(ctx, runs, bot, paused.Checkpoint)
		paused, ok = errors.AsType[*agent.PausedError](err)
	}
	if ok {
		fmt.Fprintf(c.stderr, "to resume it: go run ./examples/agent %s\n", c.again(id))
	}
	return pred, err
}

// stored reads the task and the state of the run to resume.
func (c *config) stored(ctx context.Context, runs *agent.Runs) (agent.Checkpoint, error) {
	all, err := runs.List(ctx)
	if err != nil {
		return agent.Checkpoint{}, err
	}
	for _, r := range all {
		if r.ID == c.resume {
			_ = json.Unmarshal(r.Input, &c.in) // if it is not a task, Resume says so
		}
	}
	return runs.Checkpoint(ctx, c.resume)
}

// again returns the arguments that resume a run.
func (c *config) again(id string) string {
	var words []string
	for _, word := range slices.Concat([]string{"runs", "resume"}, c.flags, []string{id}) {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`*?[](){}<>|&;#~!") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// resumed resumes a run. If there is a terminal, it asks for the decisions that the run waits for.
func (c *config) resumed(ctx context.Context, runs *agent.Runs, bot *agent.Agent, at agent.Checkpoint) (
	*module.Prediction[agent.Answer], error) {
	decisions := map[string]agent.Decision{}
	for _, w := range at.Waiting {
		if !c.asks() {
			break
		}
		d, err := c.decideWaiting(w)
		if errors.Is(err, errNoAnswer) {
			return nil, &agent.PausedError{Checkpoint: at, Err: err}
		} else if err != nil {
			return nil, err
		}
		decisions[w.ID] = d
	}
	return agent.Resume(ctx, runs, bot, at, decisions)
}

// approval returns the policies for the calls that a person at the terminal must approve: destructive calls, and calls
// that repeat an effect on purpose.
func (c *config) approval() []tools.Policy {
	var ask policy.Approver
	switch {
	case c.journal != "": // the run pauses
	case c.asks():
		ask = func(_ context.Context, r policy.Request) (policy.Decision, error) { return c.decide(r.String()) }
	default:
		return nil // the agent's log warns about destructive tools
	}
	which := policy.Or(policy.Destructive(), policy.Repeats())
	if c.every {
		which = policy.Class(tools.Effect, tools.Idempotent)
	}
	return []tools.Policy{policy.If(which, policy.Approve(ask))}
}

// asks reports whether a person can be asked.
func (c *config) asks() bool {
	file, ok := c.stdin.(*os.File)
	return c.stdin != nil && (!ok || term.IsTerminal(int(file.Fd())))
}

// terminal lets one question at a time be asked.
type terminal struct {
	mu    sync.Mutex
	lines *bufio.Scanner
	end   <-chan struct{} // closed by Ctrl-C
}

var errNoAnswer = errors.New("agent: the question has no answer, because the input has ended or was interrupted")

// ask prints a question and reads a line.
func (c *config) ask(question string) (string, error) {
	c.terminal.mu.Lock()
	defer c.terminal.mu.Unlock()
	if c.terminal.lines == nil {
		c.terminal.lines = bufio.NewScanner(c.stdin)
	}
	fmt.Fprint(c.stderr, question)
	defer fmt.Fprint(c.stderr, "") // the person has ended the line
	read := make(chan bool, 1)
	go func() { read <- c.terminal.lines.Scan() }()
	select {
	case ok := <-read:
		if !ok {
			fmt.Fprintln(c.stderr)
			return "", errors.Join(errNoAnswer, c.terminal.lines.Err())
		}
	case <-c.terminal.end:
		fmt.Fprintln(c.stderr)
		return "", errNoAnswer
	}
	return strings.TrimSpace(c.terminal.lines.Text()), nil
}

func (c *config) decide(call string) (policy.Decision, error) {
	answer, err := c.ask(call + "\nallow it? y, or n and why: ")
	word, why, _ := strings.Cut(answer, " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return policy.Decision{Approved: err == nil, By: "terminal"}, err
	case "n", "no":
		answer = why
	}
	return policy.Decision{Reason: strings.TrimSpace(answer), By: "terminal"}, err
}

// decideWaiting asks about a call for which a run waits.
func (c *config) decideWaiting(w agent.Waiting) (agent.Decision, error) {
	if w.Resembles != nil {
		answer, err := c.ask(fmt.Sprintf("%s\nwhich one is it? its ID, n to make this call, too, "+
			"or nothing to let the model decide: ", w))
		repeat := &tools.Repeat{Same: answer}
		if answer == "n" {
			repeat = &tools.Repeat{Distinct: []string{"all"}}
		}
		return agent.Decision{Repeat: repeat}, err
	}
	if !w.Unknown {
		agents := ""
		if w.Agents != nil {
			agents = ", wanted by " + strings.Join(w.Agents, " > ")
		}
		d, err := c.decide(fmt.Sprintf("%s%s\n%s\nline %d: %s", w.Tool, agents, w.Args, w.Line, w.Source))
		return agent.Decision{Decision: d}, err
	}
	answer, err := c.ask(fmt.Sprintf("%s\nwas it done? n, or its result as JSON: ", w))
	outcome := journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(answer)}
	if answer == "n" {
		outcome = journal.Reconciled{State: journal.StateRejected}
	} else if err == nil && !json.Valid(outcome.Result) {
		err = fmt.Errorf("%q is neither n nor JSON", answer)
	}
	return agent.Decision{Outcome: &outcome}, err
}

const minutes = "2006-01-02 15:04"

// describe prints a run, and the calls that wait.
func (c *config) describe(r agent.RunInfo) {
	var in agent.Task
	_ = json.Unmarshal(r.Input, &in) // a run of another program has no task
	began := strings.Repeat(" ", len(minutes))
	if !r.Began.IsZero() { // which is not known of a run in progress
		began = r.Began.Format(minutes)
	}
	fmt.Fprintf(c.stdout, "%s  %s  %-11s  %s\n", r.ID, began, r.State, in.Task)
	for _, w := range r.Waiting {
		fmt.Fprintf(c.stdout, "    waits for a decision: %s\n", w)
	}
}

// undo undoes the effects of a run, and prints what was undone and what was not.
func (c *config) undo(ctx context.Context, set *tools.Set) error {
	store, err := journal.OpenDir(c.journal)
	if err != nil {
		return err
	}
	report, err := agent.NewRuns(store).Rollback(ctx, c.task, set)
	for _, e := range report.Undone {
		fmt.Fprintln(c.stdout, "undone:", e)
	}
	for _, l := range report.Left {
		fmt.Fprintf(c.stdout, "not undone: %s\n    %s\n", l.Entry, l.Reason)
	}
	return err
}
