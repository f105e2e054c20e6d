package module

import (
	"fmt"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// How many calls the model is shown. A program repeats effects that are not
// shown just as safely; reads and what is done for good are shown in short.
const (
	maxEffects = 40
	maxBrief   = 10
)

// effects are calls by what is known of them. Reads are none, nor is what was
// refused.
type effects struct{ done, failed, unknown []journal.Entry }

func sortEffects(entries []journal.Entry) (s effects) {
	for _, e := range entries {
		switch {
		case e.Class == tools.Read, e.State == journal.Rejected:
		case e.State == journal.OK:
			s.done = append(s.done, e)
		case e.State == journal.Failed:
			s.failed = append(s.failed, e)
		case e.Class == tools.Effect: // an idempotent one may simply be repeated
			s.unknown = append(s.unknown, e)
		}
	}
	return s
}

// writeEffects lists what the open step has done already, in the words that
// make a rewritten program safe, after those that say what to write; "" where none
// will be.
func writeEffects(b *strings.Builder, write string, entries []journal.Entry) {
	s := sortEffects(entries)
	if len(s.done)+len(s.failed)+len(s.unknown) == 0 {
		return
	}
	b.WriteByte('\n')
	if write != "" {
		b.WriteString("\n" + write)
	}
	writeEntries(b, "Done:", s.done)
	if write != "" && len(s.done) > 0 {
		fmt.Fprintf(b, repeats, s.done[0].ID)
	}
	writeEntries(b, "Failed:", s.failed)
	writeUnknown(b, s.unknown)
}

// repeats is what a model must know of a call that is done.
const repeats = `
An exact repeat of a call that is done returns its record and does nothing; with other arguments it is another call, which is made. To make one once more on purpose, pass {again: %q} as its second argument.`

// unknownAgain is what a model must know of a call that may have happened.
const unknownAgain = "To make such a call again ends the task. If there is a tool that shows whether it happened, look; then go on without the call."

func writeUnknown(b *strings.Builder, entries []journal.Entry) {
	if len(entries) > 0 {
		writeEntries(b, "Unknown whether it happened:", entries)
		b.WriteString("\n" + unknownAgain)
	}
}

// writeDone lists what was done in a step that is over: the next program's calls
// are calls of their own.
func writeDone(b *strings.Builder, entries []journal.Entry) {
	s := sortEffects(entries)
	if len(s.done) > 0 {
		b.WriteString("\n\nThis is done, and would be done once more if it was called again:")
		for i, e := range s.done {
			if more(b, i, maxBrief, len(s.done)) {
				break
			}
			writeCall(b, e.Tool, string(e.Args), 100)
			writeEnd(b, e, 100)
		}
	}
	if len(s.unknown) > 0 {
		b.WriteByte('\n')
	}
	writeUnknown(b, s.unknown)
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

// writeReads lists what a program had read when it failed, and what it could not
// read: that may show why.
func writeReads(b *strings.Builder, calls []sandbox.Call, entries []journal.Entry) {
	reads := map[string]bool{}
	for _, e := range entries {
		reads[e.Tool] = e.Class == tools.Read
	}
	var read, failed []sandbox.Call
	for _, c := range calls {
		switch {
		case !reads[c.Tool] || c.Pending:
		case c.Error == nil:
			read = append(read, c)
		default:
			failed = append(failed, c)
		}
	}
	writeCalls(b, "It had read:", read)
	writeCalls(b, "It could not read:", failed)
}

func writeCalls(b *strings.Builder, title string, list []sandbox.Call) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n\n" + title)
	for i, c := range list {
		if more(b, i, maxBrief, len(list)) {
			return
		}
		writeCall(b, c.Tool, string(c.Args), 200)
		if c.Error != nil {
			b.WriteString(" → " + errorLine(c.Error, 300))
		} else {
			writeResult(b, string(c.Result), 300)
		}
	}
}

func writeEntries(b *strings.Builder, title string, entries []journal.Entry) {
	if len(entries) == 0 {
		return
	}
	b.WriteString("\n" + title)
	for i, e := range entries {
		if more(b, i, maxEffects, len(entries)) {
			return
		}
		writeCall(b, e.ID+" "+e.Tool, string(e.Args), 300)
		writeEnd(b, e, 300)
	}
}

// writeEnd shows how a call ended, if that is known.
func writeEnd(b *strings.Builder, e journal.Entry, most int) {
	switch {
	case e.State == journal.Failed:
		b.WriteString(" → " + errorLine(e.Err, most))
	case e.State == journal.OK && e.Err != nil:
		b.WriteString(" → its result is of no use: " + errorLine(e.Err, most))
	case e.State == journal.OK:
		writeResult(b, string(e.Result), most)
	}
}

// more ends a list that is too long.
func more(b *strings.Builder, i, most, all int) bool {
	if i == most {
		fmt.Fprintf(b, "\n- and %d more", all-i)
	}
	return i == most
}

func writeCall(b *strings.Builder, tool, args string, most int) {
	b.WriteString("\n- " + tool + "(" + escapeBreaks(shorten(args, most)) + ")")
}

// writeResult shows how a result begins, and how long it is.
func writeResult(b *strings.Builder, result string, most int) {
	if result == "" {
		return
	}
	b.WriteString(" → " + escapeBreaks(shorten(result, most)))
	writeLength(b, result, most)
}

// writeLength says how long a text is of which only the beginning is shown.
func writeLength(b *strings.Builder, text string, most int) {
	if len(text) > most {
		fmt.Fprintf(b, " (%d bytes)", len(text))
	}
}
