package module

import (
	"fmt"
	"strings"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// maxEffects is how many effects the model is shown. A program repeats the
// others just as safely.
const maxEffects = 40

// writeEffects lists what the open step has done already, in the words that
// make a rewritten program safe.
func writeEffects(b *strings.Builder, entries []journal.Entry) {
	done, failed, unknown := effects(entries)
	if len(done)+len(failed)+len(unknown) == 0 {
		return
	}
	b.WriteString("\n\nWrite the whole step again.")
	if len(done) > 0 {
		writeEntries(b, "Done:", done)
		b.WriteString("\nAn exact repeat of a call that is done returns its record and does nothing.")
	}
	writeEntries(b, "Failed:", failed)
	if len(unknown) > 0 {
		writeEntries(b, "Unknown whether it happened:", unknown)
		b.WriteString("\n" + unknownAgain)
	}
}

// unknownAgain is what a model must know of a call that may have happened.
const unknownAgain = "To make such a call again ends the task. If there is a tool that shows whether it happened, look; then go on without the call."

// effects sorts the calls that may have changed something.
func effects(entries []journal.Entry) (done, failed, unknown []journal.Entry) {
	for _, e := range entries {
		switch {
		case e.Class == tools.Read, e.State == journal.Rejected:
		case e.State == journal.OK:
			done = append(done, e)
		case e.State == journal.Failed:
			failed = append(failed, e)
		case e.Class == tools.Effect: // an idempotent one may simply be repeated
			unknown = append(unknown, e)
		}
	}
	return done, failed, unknown
}

// writeOrphans lists what was done for programs that were then rewritten without
// it.
func writeOrphans(b *strings.Builder, entries []journal.Entry) {
	if len(entries) > 0 {
		b.WriteByte('\n')
		writeEntries(b, "Done by earlier programs, though this one did not ask for it:", entries)
		b.WriteString("\nUndo it if it was wrong, or say so in the answer.")
	}
}

func writeEntries(b *strings.Builder, title string, entries []journal.Entry) {
	if len(entries) == 0 {
		return
	}
	b.WriteString("\n" + title)
	for i, e := range entries {
		if i == maxEffects {
			fmt.Fprintf(b, "\n- and %d more", len(entries)-i)
			return
		}
		fmt.Fprintf(b, "\n- %s %s%s", e.ID, shorten(e.Tool+"("+string(e.Args)+")", 300), resultOf(e))
	}
}

func resultOf(e journal.Entry) string {
	switch {
	case e.State == journal.Failed:
		return " → " + shorten(fmt.Sprint(e.Err), 300)
	case e.State == journal.OK && e.Result != nil:
		return " → " + shorten(string(e.Result), 300)
	}
	return ""
}
