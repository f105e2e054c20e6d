package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
)

// run is a run with the runs within it.
type run struct {
	module.Trajectory
	ID, Title string
	Marks     []mark
	Evidence  []finding
	Steps     []step
	Runs      []run
	Chosen    bool
	More      int // steps, calls and runs that are not shown
}

// step is a step of a run. Its ID is an anchor.
type step struct {
	module.Step
	ID      string
	Number  int
	Marks   []mark
	Prompt  []message
	Lines   []line
	Other   []finding // findings without a line
	Outcome sandbox.Outcome
	Calls   []call
	More    int // calls that are not shown
}

// message is a message of a prompt. Same is the ID of the same message in an earlier step, or "".
type message struct{ ID, Role, Text, Same string }

// call is a tool call. X and W are the place and the width of its bar.
type call struct {
	sandbox.Call
	ID, Class, X, W string
	Marks           []mark
}

const (
	maxRuns     = 500    // runs shown in a page
	maxSteps    = 1000   // steps shown in a page
	maxCalls    = 5000   // calls shown in a page
	maxMessages = 20_000 // messages in a page; of later steps, only new ones are shown
	maxEntries  = 1000   // entries shown of a run's journal
)

func title(t module.Trajectory) string {
	if t.Name != "" {
		return t.Name + " (" + t.Module + ")"
	}
	return cmp.Or(t.Module, "several modules")
}

// asked returns the last message of the first model call.
func (b *builder) asked(t module.Trajectory) []field {
	for len(t.Steps) == 0 && len(t.Runs) > 0 {
		t = t.Runs[0]
	}
	if len(t.Steps) == 0 || len(t.Steps[0].Prompt) == 0 {
		return nil
	}
	p := t.Steps[0].Prompt
	return []field{{Value: b.value(messageText(p[len(p)-1]), maxValue), Prose: true}}
}

// messageText returns a message's text, and the type and size of its attachments.
func messageText(m llms.MessageContent) string {
	_, text, _ := strings.Cut(module.Step{Prompt: []llms.MessageContent{m}}.Sent(), "\n") // before: the role
	return strings.TrimSuffix(text, "\n")
}

// run returns a run, and the runs within it.
func (b *builder) run(t module.Trajectory) run {
	b.runs++
	r := run{Trajectory: t, ID: fmt.Sprintf("r%d", b.runs), Title: title(t), Marks: marksOfRun(t)}
	r.Evidence = findings("warn", t.Evidence...)
	steps, moreSteps := first(t.Steps, max(maxSteps-b.steps, 1))
	b.steps += len(steps)
	var before []message
	for i, s := range steps {
		one := b.step(s, fmt.Sprintf("%s-s%d", r.ID, i+1), before)
		one.Number, before = i+1, one.Prompt
		if b.messages += len(before); b.messages > maxMessages {
			one.Prompt = slices.DeleteFunc(slices.Clone(before), func(m message) bool { return m.Same != "" })
		}
		r.Steps = append(r.Steps, one)
	}
	r.Calls, r.More = first(t.Calls, maxEntries)
	orphans, moreOrphans := first(t.Orphans, maxEntries)
	r.Orphans = orphans
	for i := 0; i < len(t.Runs) && b.runs < maxRuns; i++ {
		r.Runs = append(r.Runs, b.run(t.Runs[i]))
		r.Runs[i].Chosen = t.Chosen == i+1
	}
	r.More += moreSteps + moreOrphans + len(t.Runs) - len(r.Runs)
	return r
}

func marksOfRun(t module.Trajectory) (marks []mark) {
	switch {
	case strings.Contains(fmt.Sprint(t.Err), place.ErrPaused.Error()): // t.Err may have been read from JSON
		marks = []mark{{"warn", "paused"}}
	case t.Err != nil:
		marks = []mark{{"bad", "no answer"}}
	case t.Answer() != nil:
		marks = []mark{{"good", "answered"}}
	}
	if t.Resumed > 0 {
		marks = append(marks, mark{"note", "resumed " + display.Plural(t.Resumed, "time")})
	}
	if t.Fallback != "" {
		marks = append(marks, mark{"warn", "fallback to the model: " + t.Fallback})
	}
	if t.Score != nil {
		marks = append(marks, mark{"note", fmt.Sprintf("score %.3g %s", t.Score.Value, t.Score.Feedback)})
	}
	return marks
}

func (b *builder) step(s module.Step, id string, before []message) step {
	r := step{Step: s, ID: id, Marks: marksOfStep(s), Prompt: promptOf(s, id, before)}
	if s.Outcome != nil {
		r.Outcome = *s.Outcome
	}
	if s.Code != "" {
		r.Lines, r.Other = b.code(s.Code, findingsOf(&r.Outcome))
	}
	r.Calls, r.More = b.callsOf(&r.Outcome, id)
	return r
}

func marksOfStep(s module.Step) (marks []mark) {
	add := func(when bool, class, text string) {
		if when {
			marks = append(marks, mark{class, text})
		}
	}
	if o := s.Outcome; o != nil {
		f := o.Failure
		held := f != nil && f.Kind == sandbox.KindHeld
		add(held, "warn", "held")
		add(f != nil && !held && !f.Ran(), "bad", "rejected by the check")
		stopped := f != nil && f.Kind == sandbox.KindStopped // also by a pause
		add(stopped, "warn", "not finished")
		add(f != nil && !held && !stopped && f.Ran(), "bad", "failed")
		add(o.Submitted, "note", "submitted")
	}
	add(s.Answer != nil, "good", "answer")
	add(s.Compiled, "note", "compiled program")
	add(s.Extracted, "warn", "asked for an answer without further steps")
	add(s.Truncated, "bad", "reply cut off")
	add(s.Usage.Hits > 0, "note", "reply from the cache")
	add(s.Failed != "", "warn", "failed before: "+s.Failed)
	return marks
}

// promptOf returns the messages of a step.
func promptOf(s module.Step, id string, before []message) (list []message) {
	add := func(role, text string) {
		m := message{ID: fmt.Sprintf("%s-m%d", id, len(list)+1), Role: role, Text: text}
		if i := len(list); i < len(before) && before[i].Role == role && before[i].Text == text {
			m.Same = cmp.Or(before[i].Same, before[i].ID)
		}
		list = append(list, m)
	}
	for _, m := range s.Prompt {
		add(string(m.Role), messageText(m))
	}
	if len(s.Tools) > 0 {
		add("tools", module.Step{Tools: s.Tools}.Sent())
	}
	if s.Schema != nil {
		add("schema of the reply", string(s.Schema))
	}
	return list
}

// callsOf returns a program's calls, and how many of them are not shown.
func (b *builder) callsOf(o *sandbox.Outcome, id string) (list []call, more int) {
	total := o.Duration
	for _, c := range o.Calls {
		total = max(total, c.Started+c.Duration)
	}
	calls, more := first(o.Calls, max(maxCalls-b.calls, 100))
	b.calls += len(calls)
	for _, c := range calls {
		one := call{Call: c, ID: fmt.Sprintf("%s-c%d", id, c.ID)}
		one.Class, one.Marks = describe(c)
		one.X, one.W = bounds(c.Started, c.Duration, total)
		list = append(list, one)
	}
	return list, more
}

// describe returns the class of a call's bar, and what is special about the call.
func describe(c sandbox.Call) (class string, marks []mark) {
	class = "call"
	if c.Decision != "" {
		marks = append(marks, mark{"note", c.Decision})
	}
	if c.Recorded {
		class, marks = "note", append(marks, mark{"note", "from the record"})
	}
	if c.Pending {
		class, marks = "warn", append(marks, mark{"warn", "not ended"})
	}
	if c.Error != nil {
		class, marks = "bad", append(marks, mark{"bad", c.Error.Kind})
	}
	return class, marks
}
