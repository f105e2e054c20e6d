package module

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
)

// String returns the trajectory for people to read. It shows each step: the reply, the program with its time and calls,
// and the observation. The runs of other modules follow, then the answer and the evidence against it, or the reason why
// there is no answer, and finally the usage of each model. Characters that control a terminal are escaped.
func (t Trajectory) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s\n", t.title(), t.Duration.Round(time.Millisecond))
	t.write(&b, "")
	answer := "answer"
	if t.Err != nil {
		answer = "answer that was not accepted"
	}
	writeParagraph(&b, "", answer, string(t.Answer()))
	writeEvidence(&b, "", t.evidence())
	t.writeUsage(&b)
	return display.Text(b.String())
}

func writeEvidence(b *strings.Builder, margin string, facts []sandbox.Finding) {
	for _, f := range facts {
		writeParagraph(b, margin, "evidence", f.String())
	}
}

// writeUsage writes each model's usage, and the total if there are several models.
func (t Trajectory) writeUsage(b *strings.Builder) {
	all := t.UsageByModel()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(all) > 1 || name != "" {
			fmt.Fprintf(b, "%s: %s\n", cmp.Or(name, "other models"), all[name])
		}
	}
	if _, unnamed := all[""]; len(all) != 1 || unnamed {
		fmt.Fprintf(b, "%s\n", all.Total())
	}
}

func (t *Trajectory) write(b *strings.Builder, margin string) {
	for i := range t.Steps {
		fmt.Fprintf(b, "%sstep %d%s\n", margin, i+1, t.Steps[i].summary())
		t.Steps[i].write(b, margin+"  ")
	}
	writeParagraph(b, margin, "asked the model because", t.Fallback)
	if t.Err != nil {
		writeParagraph(b, margin, "no answer", shorten(bare(t.Err), maxReason))
	}
	for i := range t.Runs {
		mark := ""
		if t.Chosen == i+1 {
			mark = ", chosen"
		}
		took := t.Runs[i].Duration.Round(time.Millisecond)
		fmt.Fprintf(b, "%srun %d: %s, %s%s%s\n", margin, i+1, t.Runs[i].title(), t.caller(&t.Runs[i]), took, mark)
		t.Runs[i].write(b, margin+"  ")
	}
}

// caller names the call that made a run, if one did.
func (t *Trajectory) caller(run *Trajectory) string {
	for _, e := range t.Calls {
		if e.ID == run.CalledBy {
			return fmt.Sprintf("called by %s %s(%s), ", e.ID, e.Tool, shorten(string(e.Args), 100))
		}
	}
	return ""
}

// title returns the name and the module's kind.
func (t *Trajectory) title() string {
	switch {
	case t.Name != "":
		return fmt.Sprintf("%s (%s)", t.Name, t.Module)
	case t.Module == "":
		return "several"
	}
	return t.Module
}

// write writes the reply, or the reasoning and the program if there is one.
func (s *Step) write(b *strings.Builder, margin string) {
	writeParagraph(b, margin, "failed before", s.Failed)
	if s.Code == "" {
		writeParagraph(b, margin, "reply", s.Reply)
	} else {
		writeParagraph(b, margin, "reasoning", s.Reasoning)
		program := "program"
		if s.Outcome != nil {
			program += ", " + s.Outcome.Duration.Round(time.Millisecond).String()
		}
		writeParagraph(b, margin, program, s.Code)
	}
	if s.Outcome != nil {
		for _, c := range s.Outcome.Calls {
			fmt.Fprintf(b, "%scall %s\n", margin, callText(c))
		}
		if s.Outcome.Failure != nil {
			writeParagraph(b, margin, "failed", s.Outcome.Failure.String())
		}
	}
	writeParagraph(b, margin, "told", s.Observation)
}

func (s *Step) summary() string {
	text := fmt.Sprintf(", %s", s.Duration.Round(time.Millisecond))
	if s.Model != "" {
		text += ", " + s.Model
	}
	if s.Compiled {
		text += ", compiled"
	}
	if s.Usage.Calls > 1 {
		text += fmt.Sprintf(", %d requests", s.Usage.Calls)
	}
	if s.Truncated {
		text += ", cut off"
	}
	if s.Extracted {
		text += ", extracted"
	}
	return text
}

func callText(c sandbox.Call) string {
	text := fmt.Sprintf("%s(%s)", c.Tool, shorten(string(c.Args), 200))
	switch {
	case c.Pending:
		return text + " had not ended"
	case c.Error != nil:
		return text + " failed: " + shorten(c.Error.Message, 200)
	case c.Recorded:
		text += " from the record"
	}
	return text + " → " + shorten(string(c.Result), 200)
}

// writeParagraph writes text under its name, unless it is empty.
func writeParagraph(b *strings.Builder, margin, name, text string) {
	if blank(text) {
		return
	}
	fmt.Fprintf(b, "%s%s:\n", margin, name)
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		b.WriteString(strings.TrimRight(margin+"  "+line, " \t\r") + "\n")
	}
}

// LogValue implements [slog.LogValuer] with a summary: the ID and the module of the run, its steps and calls, its usage
// and duration, and why there is no answer. For the whole record, which may be long, log the JSON of the Trajectory.
func (t Trajectory) LogValue() slog.Value {
	states := map[journal.State]int{}
	for e := range t.AllCalls() {
		states[e.State]++
	}
	var calls []any
	for _, state := range []journal.State{
		journal.StateOK, journal.StateFailed, journal.StateRejected, journal.StateUnknown,
	} {
		if n := states[state]; n > 0 {
			calls = append(calls, slog.Int(string(state), n))
		}
	}
	u := t.Usage()
	all := []slog.Attr{
		slog.String("id", strconv.FormatUint(t.ID, 10)), slog.String("module", t.title()),
		slog.Int("steps", len(t.Steps)), slog.Int("runs", len(t.Runs)), slog.Group("calls", calls...),
		slog.Group("usage", slog.Int("calls", u.Calls), slog.Int("hits", u.Hits),
			slog.Int("input_tokens", u.InputTokens), slog.Int("output_tokens", u.OutputTokens)),
		slog.Duration("duration", t.Duration.Round(time.Microsecond)),
	}
	if t.Fallback != "" {
		all = append(all, slog.String("fallback", display.Text(t.Fallback)))
	}
	if t.Err != nil {
		all = append(all, slog.String("error", display.Text(shorten(errorText(t.Err), maxReason))))
	}
	return slog.GroupValue(all...)
}
