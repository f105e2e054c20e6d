package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// run is a run with the runs within it.
type run struct {
	ID, Title       string
	Chosen, Outside bool // Outside: it is not within another run
	Marks           []mark
	Error           *value
	Answer          []field
	Steps           []*step
	Evidence        []finding
	Effects         []entry
	Orphans         []entry
	MoreEffects     int
	Runs            []*run
	MoreRuns        int

	trajectory module.Trajectory
}

// step is a step of a run.
type step struct {
	ID, Title, Model, Usage string
	Marks                   []mark
	Duration                time.Duration
	Prompt                  []message
	Reply, Thinking         *value
	Reasoning               []span
	Lines                   []line
	Findings                []finding // without a line
	Stack                   string
	Console                 []field
	Value                   *value
	Groups                  []group
	Told                    *value

	of *module.Step
}

// message is a message of a prompt.
type message struct {
	ID, Role string
	Value    value
	Same     string // the ID of the same message in an earlier step, or ""

	text string
}

// group is a part of a program's calls.
type group struct {
	Title string // empty if there is only one group
	Open  bool
	Marks []mark
	Calls []call
}

// call is a tool call.
type call struct {
	ID, Tool, Where string
	Number          int
	Class           string
	Marks           []mark
	Args            value
	Result          *value
	Error           []span
	X, W            string // where its bar begins, and its width, as percentages
	Duration        time.Duration
}

// entry is an entry of the journal.
type entry struct {
	ID, Tool, Class string
	State           mark
	Args            value
	Error           string
}

const (
	groupSize  = 100
	maxRuns    = 100  // runs shown within a run
	maxSteps   = 300  // steps shown of a run
	maxCalls   = 5000 // calls shown in a page
	maxEntries = 200
)

// outcome returns a mark that says how a run ended.
func outcome(t module.Trajectory) mark {
	switch {
	case t.Err != nil:
		return mark{"bad", "no answer"}
	case t.Answer() != nil:
		return mark{"good", "answered"}
	}
	return mark{"note", "ended"}
}

func (b *builder) runFacts(t module.Trajectory) []fact {
	list := []fact{{"Duration", duration(t.Duration)}}
	if !t.Began.IsZero() {
		list = append([]fact{{"Began", t.Began.Format("2006-01-02 15:04:05 MST")}}, list...)
	}
	calls := 0
	for range t.AllCalls() {
		calls++
	}
	list = append(list, fact{"Steps", fmt.Sprint(len(t.Steps))})
	if calls > 0 {
		list = append(list, fact{"Tool calls", fmt.Sprint(calls)})
	}
	return append(list, b.totals(t.UsageByModel())...)
}

// asked returns the question as the first model call's last message.
func (b *builder) asked(t module.Trajectory) []field {
	for _, s := range t.Steps {
		if n := len(s.Prompt); n > 0 {
			return []field{{Value: b.value(messageText(s.Prompt[n-1]), maxValue), Prose: true}}
		}
	}
	for _, r := range t.Runs {
		if f := b.asked(r); f != nil {
			return f
		}
	}
	return nil
}

// run returns a run, and the runs within it.
func (b *builder) run(t module.Trajectory, outer *module.Trajectory) *run {
	b.runs++
	r := &run{ID: fmt.Sprintf("r%d", b.runs), Title: cmp.Or(t.Module, "several runs"), Outside: outer == nil, trajectory: t}
	if t.Name != "" {
		r.Title = t.Name + " (" + t.Module + ")"
	}
	r.Title = b.line(r.Title, 100)
	r.Marks = b.runMarks(t)
	r.Error = b.optional(errorText(t.Err))
	r.Answer = b.fields(t.Answer())
	var before []message
	for i := range t.Steps[:min(len(t.Steps), maxSteps)] {
		s := b.step(&t.Steps[i], fmt.Sprintf("%s-s%d", r.ID, i+1), i+1, before)
		before, r.Steps = s.Prompt, append(r.Steps, s)
	}
	if n := len(t.Steps); n > maxSteps {
		r.Marks = append(r.Marks, mark{"note", fmt.Sprintf("only the first %d of %d steps are shown", maxSteps, n)})
	}
	for _, f := range t.Evidence {
		r.Evidence = append(r.Evidence, finding{Class: "warn", Kind: b.line(string(f.Kind), 40),
			Message: b.value(f.Message, maxValue).Text, Hint: b.value(f.Hint, maxValue).Text})
	}
	r.Effects, r.MoreEffects = b.entries(t.Calls)
	r.Orphans, _ = b.entries(t.Orphans)
	for i, within := range t.Runs[:min(len(t.Runs), maxRuns)] {
		one := b.run(within, &t)
		one.Chosen = t.Chosen == i+1
		r.Runs = append(r.Runs, one)
	}
	r.MoreRuns = len(t.Runs) - len(r.Runs)
	return r
}

func (b *builder) runMarks(t module.Trajectory) (marks []mark) {
	marks = append(marks, outcome(t))
	if t.Fallback != "" {
		marks = append(marks, mark{"warn", "fallback to the model: " + b.line(t.Fallback, 200)})
	}
	if t.Score != nil {
		marks = append(marks, mark{"note", fmt.Sprintf("score %.3g", t.Score.Value)})
		if t.Score.Feedback != "" {
			marks = append(marks, mark{"note", b.line(t.Score.Feedback, 200)})
		}
	}
	return marks
}

// entries returns the calls that may have had an effect.
func (b *builder) entries(all []journal.Entry) (list []entry, more int) {
	for _, e := range all {
		if e.Class == tools.Read {
			continue
		}
		if len(list) == maxEntries {
			more++
			continue
		}
		class := map[journal.State]string{journal.StateOK: "good", journal.StateRejected: "note"}[e.State]
		list = append(list, entry{
			ID: b.line(e.ID, 20), Tool: b.line(e.Tool, 100), Class: e.Class.String(), Args: b.json(e.Args),
			State: mark{cmp.Or(class, "bad"), b.line(string(e.State), 20)}, Error: b.line(errorText(e.Err), 300),
		})
	}
	return list, more
}

func (b *builder) step(s *module.Step, id string, number int, before []message) *step {
	r := &step{ID: id, Title: fmt.Sprintf("Step %d", number), Model: b.line(s.Model, 100), Duration: s.Duration, of: s}
	if s.Predictor != "" && s.Predictor != "Predictor" {
		r.Title += " · " + b.line(s.Predictor, 60)
	}
	if u := s.Usage; u.InputTokens+u.OutputTokens > 0 {
		r.Usage = fmt.Sprintf("%s → %s tokens", count(u.InputTokens), count(u.OutputTokens))
	}
	r.Marks = b.stepMarks(s)
	r.Prompt = b.prompt(s, id, before)
	r.Thinking, r.Told = b.optional(s.Thinking), b.optional(s.Observation)
	r.Reply = b.optional(s.Reply)
	r.Reasoning = b.value(s.Reasoning, maxValue).Text
	o := s.Outcome
	if o == nil {
		o = &sandbox.Outcome{}
	}
	if s.Code != "" {
		findings, at := b.findings(o)
		r.Lines, r.Findings = b.code(s.Code, findings, at)
	}
	if o.Failure != nil {
		r.Stack = b.line(strings.Join(o.Failure.Stack, " ← "), 500)
	}
	for _, c := range []struct {
		name string
		out  sandbox.Output
	}{{"Console", o.Stdout}, {"Console, errors", o.Stderr}} {
		if text := c.out.Text + c.out.Tail; text != "" {
			v := b.value(text, maxValue)
			v.Size = max(v.Size, c.out.Bytes)
			r.Console = append(r.Console, field{Name: c.name, Value: v})
		}
	}
	if o.Value != nil {
		v := b.json(o.Value)
		r.Value = &v
	}
	r.Groups = b.groups(o, id)
	return r
}

// optional returns a value, or nil for an empty text.
func (b *builder) optional(text string) *value {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	v := b.value(text, maxPrompt)
	return &v
}

func (b *builder) stepMarks(s *module.Step) (marks []mark) {
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
		add(o.Abandoned > 0, "bad", display.Plural(o.Abandoned, "call")+" abandoned")
	}
	add(s.Answer != nil, "good", "answer")
	add(s.Compiled, "note", "compiled program")
	add(s.Extracted, "warn", "asked for an answer without further steps")
	add(s.Truncated, "bad", "reply cut off")
	add(s.Usage.Hits > 0, "note", "reply from the cache")
	add(s.Failed != "", "warn", "fallback: "+b.line(s.Failed, 200))
	return marks
}

// prompt returns the messages of a step. A message that the previous step has at the same place is not repeated.
func (b *builder) prompt(s *module.Step, id string, before []message) (list []message) {
	add := func(role, text string) {
		m := message{ID: fmt.Sprintf("%s-m%d", id, len(list)+1), Role: b.line(role, 40), text: text}
		if i := len(list); i < len(before) && before[i].text == text && before[i].Role == m.Role {
			m.Same = cmp.Or(before[i].Same, before[i].ID)
			m.Value.Size = len(text)
		} else {
			m.Value = b.value(text, maxPrompt)
		}
		list = append(list, m)
	}
	for _, m := range s.Prompt {
		role := string(m.Role)
		switch m.Role {
		case llms.ChatMessageTypeHuman:
			role = "user"
		case llms.ChatMessageTypeAI:
			role = "model"
		}
		add(role, messageText(m))
	}
	if len(s.Tools) > 0 {
		add("tools", module.Step{Tools: s.Tools}.Sent())
	}
	if s.Schema != nil {
		add("schema of the reply", string(s.Schema))
	}
	return list
}

// messageText returns a message's text, and the type and size of its attachments.
func messageText(m llms.MessageContent) string {
	text := module.Step{Prompt: []llms.MessageContent{m}}.Sent()
	_, text, _ = strings.Cut(text, "\n") // the role
	return strings.TrimSuffix(text, "\n")
}

// groups returns a program's calls.
func (b *builder) groups(o *sandbox.Outcome, id string) (groups []group) {
	calls := sequential(o.Calls)
	total := o.Duration
	for _, c := range calls {
		total = max(total, c.Started+c.Duration)
	}
	shown := min(len(calls), max(maxCalls-b.calls, groupSize))
	b.calls += shown
	for part := range slices.Chunk(calls[:shown], groupSize) {
		g := group{}
		failed := 0
		for _, c := range part {
			g.Calls = append(g.Calls, b.call(c, id, total))
			if c.Error != nil {
				failed++
			}
		}
		if len(calls) > groupSize {
			g.Title = fmt.Sprintf("Calls %d to %d", part[0].ID, part[len(part)-1].ID)
		}
		if failed > 0 {
			g.Marks = append(g.Marks, mark{"bad", fmt.Sprintf("%d failed", failed)})
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
	if len(calls) < 2 || slices.ContainsFunc(calls, func(c sandbox.Call) bool { return c.Started != 0 }) {
		return calls
	}
	calls = slices.Clone(calls)
	for i := 1; i < len(calls); i++ {
		calls[i].Started = calls[i-1].Started + calls[i-1].Duration
	}
	return calls
}

func (b *builder) call(c sandbox.Call, id string, total time.Duration) call {
	r := call{
		ID: fmt.Sprintf("%s-c%d", id, c.ID), Number: c.ID, Tool: b.line(c.Tool, 100), Args: b.json(c.Args),
		Duration: c.Duration, Class: callClass(c),
	}
	r.X, r.W = bounds(c.Started, c.Duration, total)
	if c.Line > 0 {
		r.Where = fmt.Sprintf("line %d", c.Line)
	}
	if c.Decision != "" {
		class := "good"
		if strings.HasPrefix(c.Decision, "refused") {
			class = "warn"
		}
		r.Marks = append(r.Marks, mark{class, b.line(c.Decision, 60)})
	}
	if c.Recorded {
		r.Marks = append(r.Marks, mark{"note", "from the record"})
	}
	if c.Pending {
		r.Marks = append(r.Marks, mark{"warn", "not ended"})
	}
	if c.Error != nil {
		r.Marks = append(r.Marks, mark{"bad", b.line(c.Error.Kind, 40)})
		r.Error = b.value(c.Error.Message, maxValue).Text
	} else if c.Result != nil {
		v := b.json(c.Result)
		r.Result = &v
	}
	return r
}

// callClass returns the class of a call's bar.
func callClass(c sandbox.Call) string {
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

// errorText returns an error's text, or "" for nil, even if its Error method panics.
func errorText(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("an error of type %T", err)
		}
	}()
	return err.Error()
}
