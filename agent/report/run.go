package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// run is a run with the runs within it.
type run struct {
	module.Trajectory
	ID, Title   string
	Marks       []mark
	Evidence    []finding
	Steps       []step
	Effects     []journal.Entry
	Runs        []run
	Chosen      bool
	MoreSteps   int
	MoreEffects int
	MoreRuns    int
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
	Groups  []group
}

// message is a message of a prompt. Same is the ID of the same message in an earlier step, or "".
type message struct {
	ID, Role, Text, Same string
}

// group is a part of a program's calls. Its title is empty if there is only one group.
type group struct {
	Title  string
	Failed int
	Calls  []call
}

// call is a tool call. X and W are the place and the width of its bar.
type call struct {
	sandbox.Call
	ID, Class, X, W string
	Marks           []mark
}

const (
	groupSize  = 100
	maxRuns    = 100  // runs shown within a run
	maxSteps   = 300  // steps shown of a run
	maxCalls   = 5000 // calls shown in a page
	maxEntries = 200  // entries shown of a run's journal
)

func title(t module.Trajectory) string {
	if t.Name != "" {
		return t.Name + " (" + t.Module + ")"
	}
	return cmp.Or(t.Module, "several modules")
}

func factsOf(t module.Trajectory) []fact {
	calls := 0
	for range t.AllCalls() {
		calls++
	}
	list := []fact{{"Duration", duration(t.Duration)}, {"Steps", count(len(t.Steps))}, {"Tool calls", count(calls)}}
	if !t.Began.IsZero() {
		list = append([]fact{{"Began", t.Began.Format("2006-01-02 15:04:05 MST")}}, list...)
	}
	return append(list, totals(t.Usage())...)
}

// asked returns the last message of the first model call.
func (b *builder) asked(t module.Trajectory) (question []field) {
	if len(t.Steps) > 0 && len(t.Steps[0].Prompt) > 0 {
		return []field{{Value: b.value(messageText(t.Steps[0].Prompt[len(t.Steps[0].Prompt)-1]), maxValue), Prose: true}}
	}
	for i := 0; i < len(t.Runs) && question == nil; i++ {
		question = b.asked(t.Runs[i])
	}
	return question
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
	r.Evidence = findings("warn", t.Evidence)
	var before []message
	for i, s := range t.Steps[:min(len(t.Steps), maxSteps)] {
		one := b.step(s, fmt.Sprintf("%s-s%d", r.ID, i+1), before)
		one.Number, before = i+1, one.Prompt
		r.Steps = append(r.Steps, one)
	}
	r.Effects = slices.DeleteFunc(slices.Clone(t.Calls), func(e journal.Entry) bool { return e.Class == tools.Read })
	r.MoreEffects = max(0, len(r.Effects)-maxEntries)
	r.Effects = r.Effects[:len(r.Effects)-r.MoreEffects]
	for i, within := range t.Runs[:min(len(t.Runs), maxRuns)] {
		one := b.run(within)
		one.Chosen = t.Chosen == i+1
		r.Runs = append(r.Runs, one)
	}
	r.MoreRuns, r.MoreSteps = len(t.Runs)-len(r.Runs), len(t.Steps)-len(r.Steps)
	return r
}

func marksOfRun(t module.Trajectory) (marks []mark) {
	switch {
	case t.Err != nil:
		marks = []mark{{"bad", "no answer"}}
	case t.Answer() != nil:
		marks = []mark{{"good", "answered"}}
	}
	if t.Fallback != "" {
		marks = append(marks, mark{"warn", "fallback to the model: " + t.Fallback})
	}
	if t.Score != nil {
		marks = append(marks, mark{"note", strings.TrimSpace(fmt.Sprintf("score %.3g %s", t.Score.Value, t.Score.Feedback))})
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
	r.Groups = b.groups(&r.Outcome, id)
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
		add(f != nil && !held && f.Ran(), "bad", "failed")
		add(o.Submitted, "note", "submitted")
	}
	add(s.Answer != nil, "good", "answer")
	add(s.Compiled, "note", "compiled program")
	add(s.Extracted, "warn", "asked for an answer without further steps")
	add(s.Truncated, "bad", "reply cut off")
	add(s.Usage.Hits > 0, "note", "reply from the cache")
	add(s.Failed != "", "warn", "fallback from another model: "+s.Failed)
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
	names := map[llms.ChatMessageType]string{llms.ChatMessageTypeHuman: "user", llms.ChatMessageTypeAI: "model"}
	for _, m := range s.Prompt {
		add(cmp.Or(names[m.Role], string(m.Role)), messageText(m))
	}
	if len(s.Tools) > 0 {
		add("tools", module.Step{Tools: s.Tools}.Sent())
	}
	if s.Schema != nil {
		add("schema of the reply", string(s.Schema))
	}
	return list
}

// groups returns a program's calls.
func (b *builder) groups(o *sandbox.Outcome, id string) (groups []group) {
	calls, total := sequential(o.Calls), o.Duration
	for _, c := range calls {
		total = max(total, c.Started+c.Duration)
	}
	shown := min(len(calls), max(maxCalls-b.calls, groupSize))
	b.calls += shown
	for part := range slices.Chunk(calls[:shown], groupSize) {
		g := group{}
		for _, c := range part {
			one := call{Call: c, ID: fmt.Sprintf("%s-c%d", id, c.ID), Class: classOf(c), Marks: marksOfCall(c)}
			one.X, one.W = bounds(c.Started, c.Duration, total)
			g.Calls = append(g.Calls, one)
			if c.Error != nil {
				g.Failed++
			}
		}
		if len(calls) > groupSize {
			g.Title = fmt.Sprintf("Calls %d to %d", part[0].ID, part[len(part)-1].ID)
		}
		groups = append(groups, g)
	}
	if more := len(calls) - shown; more > 0 {
		groups = append(groups, group{Title: display.Plural(more, "more call") + " not shown"})
	}
	return groups
}

// sequential returns the calls of a program. The calls of a ReAct have no start: each begins when the one before ends.
func sequential(calls []sandbox.Call) []sandbox.Call {
	if slices.ContainsFunc(calls, func(c sandbox.Call) bool { return c.Started != 0 }) {
		return calls
	}
	calls = slices.Clone(calls)
	for i := 1; i < len(calls); i++ {
		calls[i].Started = calls[i-1].Started + calls[i-1].Duration
	}
	return calls
}

func marksOfCall(c sandbox.Call) (marks []mark) {
	if c.Decision != "" {
		class := map[bool]string{true: "good", false: "warn"}[strings.HasPrefix(c.Decision, "approved")]
		marks = append(marks, mark{class, c.Decision})
	}
	if c.Recorded {
		marks = append(marks, mark{"note", "from the record"})
	}
	if c.Pending {
		marks = append(marks, mark{"warn", "not ended"})
	}
	if c.Error != nil {
		marks = append(marks, mark{"bad", c.Error.Kind})
	}
	return marks
}

// classOf returns the class of a call's bar.
func classOf(c sandbox.Call) string {
	switch {
	case c.Error != nil:
		return "bad"
	case c.Pending:
		return "warn"
	case c.Recorded:
		return "note"
	}
	return "call"
}
