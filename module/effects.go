package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// How many calls the model is shown.
const (
	maxEffects = 200 // a program that repeats an effect that is not shown is just as safe
	maxLong    = 40  // of these, how many are shown at length
	maxBrief   = 10
)

// effects are calls by what is known of them, without reads and what was refused.
type effects struct{ done, failed, unknown []journal.Entry }

func sortEffects(entries []journal.Entry) (s effects) {
	for _, e := range entries {
		switch {
		case e.Class == tools.Read, e.State == journal.Rejected:
		case e.State == journal.OK:
			s.done = append(s.done, e)
		case e.State == journal.Failed:
			s.failed = append(s.failed, e)
		case e.Class != tools.Idempotent && !e.Repeatable: // which may simply be repeated
			s.unknown = append(s.unknown, e)
		}
	}
	return s
}

func (s effects) none() bool { return len(s.done)+len(s.failed)+len(s.unknown) == 0 }

// writeEffects lists what the open step has done already, uncertain calls first, and
// what a program may say of each.
func writeEffects(b *strings.Builder, entries []journal.Entry) {
	s := sortEffects(entries)
	if s.none() {
		return
	}
	b.WriteByte('\n')
	writeEntries(b, "Reported an error; it may have taken effect, look first:", s.failed)
	writeUnknown(b, s.unknown)
	writeEntries(b, "Done:", s.done)
	if len(s.done) > 0 {
		b.WriteString("\n" + carriedOver)
	}
	if name := lastOpen(s.failed, entries); name != "" {
		fmt.Fprintf(b, "\n"+namedAgain, name)
	}
}

// lastOpen names the last of the failed calls that no other has made once more.
func lastOpen(failed, entries []journal.Entry) string {
	for i := len(failed) - 1; i >= 0; i-- {
		repeated := slices.ContainsFunc(entries, func(e journal.Entry) bool {
			return e.State != journal.Rejected && slices.Contains(e.Repeats, failed[i].ID)
		})
		if !repeated {
			return failed[i].ID
		}
	}
	return ""
}

const (
	// carriedOver is what a model must know of calls that are done.
	carriedOver = "A call that is done and made again with the same arguments returns its recorded result and does " +
		"nothing, unless the program is stopped there and asked what it means."

	// namedAgain is what a model must know of calls that reported an error.
	namedAgain = "If the effect of a call that reported an error is there, leave the call out. To make it once more, " +
		"name it in the second argument of the call, as in {again: %q}."

	// unknownAgain is what a model must know of a call that may have happened.
	unknownAgain = "To make such a call again ends the task. If a tool shows whether it happened, look; then go on " +
		"without the call."
)

func writeUnknown(b *strings.Builder, entries []journal.Entry) {
	if len(entries) > 0 {
		writeEntries(b, "Unknown whether it happened:", entries)
		b.WriteString("\n" + unknownAgain)
	}
}

// writeDone lists what was done in a step that is over.
func writeDone(b *strings.Builder, entries []journal.Entry) {
	s := sortEffects(entries)
	if s.none() {
		return
	}
	b.WriteByte('\n')
	writeEntries(b, "Reported an error; it may have taken effect:", s.failed)
	writeUnknown(b, s.unknown)
	writeEntries(b, "Done; do not call it again:", s.done)
}

// writeOrphans lists what was done for programs that were then rewritten without
// it.
func writeOrphans(b *strings.Builder, entries []journal.Entry) {
	if len(entries) > 0 {
		b.WriteByte('\n')
		writeEntries(b, "Done by earlier programs, though this one did not call it:", entries)
		b.WriteString("\nUndo it if it was wrong, or say so in the answer.")
	}
}

// writeReads lists what a program had read when it failed, and what it could not
// read: that may show why. Several calls of one tool are only counted.
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
	writeCalls(b, "It could not read:", failed)
	writeCalls(b, "It had read:", read)
}

// writeCalls lists calls, those of one tool that came to the same end in one line.
func writeCalls(b *strings.Builder, title string, list []sandbox.Call) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n\n" + title)
	ended := func(c sandbox.Call) string {
		if c.Error != nil {
			return " → " + errorLine(c.Error, 300)
		}
		return ""
	}
	groups, order := map[string][]sandbox.Call{}, []string{}
	for _, c := range list {
		group := c.Tool + ended(c)
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], c)
	}
	for i, group := range order {
		if more(b, i, maxBrief, len(order)) {
			return
		}
		c := groups[group][0]
		if n := len(groups[group]); n > 1 {
			fmt.Fprintf(b, "\n- %s ×%d%s", c.Tool, n, ended(c))
			continue
		}
		writeCall(b, c.Tool, string(c.Args), 200)
		if c.Error == nil {
			writeResult(b, string(c.Result), 300)
		}
		b.WriteString(ended(c))
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
		most := 300
		if i >= maxLong {
			most = 80
		}
		writeCall(b, e.ID+" "+e.Tool, string(e.Args), most)
		if e.Requested != nil {
			b.WriteString(", changed from " + escapeBreaks(shorten(string(e.Requested), most)) + " before it was made")
		}
		if len(e.Repeats) > 0 {
			b.WriteString(", " + strings.Join(e.Repeats, ", ") + " once more")
		}
		writeEnd(b, e, most)
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
