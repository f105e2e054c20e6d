package module

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// effects are calls by what is known of them, without reads and what was refused.
type effects struct{ done, failed, unknown []journal.Entry }

func sortEffects(entries []journal.Entry) (s effects) {
	for i, e := range entries {
		switch {
		case e.State == journal.Failed && madeUp(e, entries[i+1:]):
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

// madeUp reports whether a call that failed was made again later and is done.
func madeUp(failed journal.Entry, later []journal.Entry) bool {
	return slices.ContainsFunc(later, func(e journal.Entry) bool {
		same := e.Tool == failed.Tool && string(e.Args) == string(failed.Args)
		return e.State == journal.OK && (same || slices.Contains(e.Repeats, failed.ID))
	})
}

func (s effects) none() bool { return len(s.done)+len(s.failed)+len(s.unknown) == 0 }

// openEffects lists what the open step has done, uncertain calls first, with advice on what a
// program may say of each.
func openEffects(entries []journal.Entry, advise bool, most int) string {
	s := sortEffects(entries)
	var notes string
	if len(s.done) > 0 && advise {
		notes += "\n" + carriedOver
	}
	if name := lastOpen(s.failed, entries); name != "" && advise {
		notes += fmt.Sprintf("\n"+namedAgain, name)
	}
	return s.list("Reported an error, but may have taken effect. Look first:", "Done so far:", most-len(notes)) + notes
}

// listEffects lists what was done, under a title for what certainly was.
func listEffects(entries []journal.Entry, done string, most int) string {
	return sortEffects(entries).list("Reported an error, but may have taken effect:", done, most)
}

// list lists calls in at most so many bytes: done calls are shown in less detail first.
func (s effects) list(failed, done string, most int) string {
	var text string
	for _, detail := range []struct{ uncertain, done int }{{300, 300}, {300, 100}, {300, 0}, {100, 0}, {0, 0}} {
		var b strings.Builder
		writeEntries(&b, failed, s.failed, detail.uncertain)
		if len(s.unknown) > 0 {
			writeEntries(&b, unknownTitle, s.unknown, detail.uncertain)
			b.WriteString("\n" + unknownAgain)
		}
		writeEntries(&b, done, s.done, detail.done)
		if text = b.String(); len(text) <= most {
			return text
		}
	}
	return cut(text, most)
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
	carriedOver = "A done call that is made again with the same arguments does nothing and returns the recorded result. " +
		"In doubt the program is stopped there, and you are asked what it means."

	// namedAgain is what a model must know of calls that reported an error.
	namedAgain = "If a call that reported an error did take effect, leave it out. " +
		"To make it again, name it in the call's second argument: {again: %q}."

	// unknownAgain is what a model must know of a call that may have happened.
	unknownAgain = "Making such a call again ends the task. If a tool can show whether it happened, look; then go on " +
		"without the call."

	unknownTitle = "Unknown whether it happened:"
)

// showOrphans lists what was done for programs that were then rewritten without it.
func showOrphans(o *observation, entries []journal.Entry) {
	if len(entries) == 0 {
		return
	}
	const title, undo = "\n\nDone by earlier programs, but not called by this one:",
		"\nIf that was wrong, undo it, or say so in the answer."
	o.show(section{title: title, first: true, body: func(most int) string {
		return effects{done: entries}.list("", "", most-len(undo)) + undo
	}})
}

// showReads lists what a program had read when it failed, and what it could not
// read: that may show why. Several calls of one tool are only counted.
func showReads(o *observation, calls []sandbox.Call, entries []journal.Entry) {
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
	o.showText("\n\nIt could not read:", callLines(failed))
	o.showText("\n\nIt had read:", callLines(read))
}

// callLines lists calls, those of one tool that came to the same end in one line.
func callLines(list []sandbox.Call) string {
	const most = 10
	var b strings.Builder
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
		if i == most {
			fmt.Fprintf(&b, "\n- and %s of others", plural(len(order)-i, "kind"))
			break
		}
		c := groups[group][0]
		if n := len(groups[group]); n > 1 {
			fmt.Fprintf(&b, "\n- %s ×%d%s", c.Tool, n, ended(c))
			continue
		}
		writeCall(&b, c.Tool, c.Args, 200)
		if c.Error == nil {
			writeResult(&b, c.Result, 300)
		}
		b.WriteString(ended(c))
	}
	return b.String()
}

// writeEntries lists calls, with so many bytes of arguments and results, or, without any, the
// calls of each tool together.
func writeEntries(b *strings.Builder, title string, entries []journal.Entry, most int) {
	if len(entries) == 0 {
		return
	}
	if title != "" {
		b.WriteString("\n" + title)
	}
	if most == 0 {
		writeGroups(b, entries)
		return
	}
	for _, e := range entries {
		writeCall(b, e.ID+" "+e.Tool, e.Args, most)
		if e.Requested != nil {
			b.WriteString(", changed from " + oneLine(e.Requested, most) + " before it was made")
		}
		if len(e.Repeats) > 0 {
			b.WriteString(", which repeats " + strings.Join(e.Repeats, ", "))
		}
		writeEnd(b, e, most)
	}
}

// writeGroups lists the calls of each tool in one line: their names, and the first and the last
// arguments.
func writeGroups(b *strings.Builder, entries []journal.Entry) {
	const most = 80
	groups, order := map[string][]journal.Entry{}, []string{}
	for _, e := range entries {
		if groups[e.Tool] == nil {
			order = append(order, e.Tool)
		}
		groups[e.Tool] = append(groups[e.Tool], e)
	}
	for _, tool := range order {
		list := groups[tool]
		first, last := list[0], list[len(list)-1]
		if len(list) == 1 {
			writeCall(b, first.ID+" "+tool, first.Args, most)
			continue
		}
		fmt.Fprintf(b, "\n- %s ×%d (%s), from %s to %s", tool, len(list), entryNames(list),
			oneLine(first.Args, most), oneLine(last.Args, most))
	}
}

// entryNames are the names of entries, with those between the ends of a row left out.
func entryNames(list []journal.Entry) string {
	number := func(i int) int { n, _ := strconv.Atoi(strings.TrimPrefix(list[i].ID, "E")); return n }
	var names []string
	for i := 0; i < len(list); i++ {
		start := i
		for i+1 < len(list) && number(i+1) == number(i)+1 {
			i++
		}
		switch {
		case i == start:
			names = append(names, list[i].ID)
		default:
			names = append(names, list[start].ID+"–"+list[i].ID)
		}
	}
	return strings.Join(names, ", ")
}

// writeEnd shows how a call ended, if that is known.
func writeEnd(b *strings.Builder, e journal.Entry, most int) {
	switch {
	case e.State == journal.Failed:
		b.WriteString(" → " + errorLine(e.Err, most))
	case e.State == journal.OK && e.Err != nil:
		b.WriteString(" → its result cannot be used: " + errorLine(e.Err, most))
	case e.State == journal.OK:
		writeResult(b, e.Result, most)
	}
}

func writeCall(b *strings.Builder, tool string, args json.RawMessage, most int) {
	b.WriteString("\n- " + tool + "(" + oneLine(args, most) + ")")
}

func writeResult(b *strings.Builder, result json.RawMessage, most int) {
	if len(result) > 0 {
		b.WriteString(" → " + oneLine(result, most))
	}
}
