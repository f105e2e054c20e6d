package module

import (
	"fmt"
	"strings"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// String returns the trajectory for people: each step with what the model said,
// what its program did, and what it was told of that; then the runs of other
// modules, and what all of it cost.
func (t Trajectory) String() string {
	var b strings.Builder
	t.write(&b, "")
	return b.String()
}

func (t *Trajectory) write(b *strings.Builder, margin string) {
	for i := range t.Steps {
		fmt.Fprintf(b, "%sstep %d%s\n", margin, i+1, t.Steps[i].cost())
		t.Steps[i].write(b, margin+"  ")
	}
	if t.Err != nil {
		paragraph(b, margin, "no answer", shorten(bare(t.Err), maxReason))
	}
	for i := range t.Runs {
		mark := ""
		if t.Chosen == i+1 {
			mark = ", chosen"
		}
		fmt.Fprintf(b, "%srun %d: %s%s\n", margin, i+1, t.Runs[i].title(), mark)
		t.Runs[i].write(b, margin+"  ")
	}
	if margin == "" {
		fmt.Fprintf(b, "%s\n", t.Usage())
	}
}

// title is what a run is called: by its name within the whole, if it has one.
func (t *Trajectory) title() string {
	switch {
	case t.Name != "":
		return fmt.Sprintf("%s (%s)", t.Name, t.Module)
	case t.Module == "":
		return "several"
	}
	return t.Module
}

// write has the program instead of the reply where that is all that it says.
func (s *Step) write(b *strings.Builder, margin string) {
	switch {
	case s.Code == "":
		paragraph(b, margin, "reply", s.Reply)
	default:
		paragraph(b, margin, "reasoning", s.Reasoning)
		paragraph(b, margin, "program", s.Code)
	}
	if s.Outcome != nil {
		for _, c := range s.Outcome.Calls {
			fmt.Fprintf(b, "%scall %s\n", margin, account(c))
		}
		paragraph(b, margin, "failed", failureText(s.Outcome))
	}
	paragraph(b, margin, "told", s.Observation)
}

func (s *Step) cost() string {
	text := fmt.Sprintf(", %s", s.Duration.Round(time.Millisecond))
	if s.Model != "" {
		text += ", " + s.Model
	}
	if s.Truncated {
		text += ", cut off"
	}
	if s.Extracted {
		text += ", extracted"
	}
	return text
}

// String is the usage on one line.
func (u Usage) String() string {
	text := fmt.Sprintf("%s of the model, %d tokens in, %d out", plural(u.Calls, "call"), u.InputTokens, u.OutputTokens)
	if u.Hits > 0 {
		text += fmt.Sprintf(", %s answered by a cache", plural(u.Hits, "call"))
	}
	return text
}

func account(c sandbox.Call) string {
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

func failureText(o *sandbox.Outcome) string {
	if o.Failure == nil {
		return ""
	}
	return o.Failure.String()
}

// paragraph writes a text of any length under its name, and nothing if it is empty.
func paragraph(b *strings.Builder, margin, name, text string) {
	if blank(text) {
		return
	}
	fmt.Fprintf(b, "%s%s:\n", margin, name)
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		b.WriteString(strings.TrimRight(margin+"  "+line, " \t\r") + "\n")
	}
}
