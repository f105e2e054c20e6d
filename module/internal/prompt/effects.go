package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// effects are a run's calls that may have changed something, by their state. Reads and rejected calls are left out, as
// are calls in an unknown state that can safely be repeated.
type effects struct{ done, failed, unknown []journal.Entry }

func effectsOf(entries []journal.Entry) (s effects) {
	for i, e := range entries {
		switch {
		case e.Class == tools.Read, e.State == journal.StateRejected:
		case e.State == journal.StateFailed && repeated(e, entries[i+1:]):
		case e.State == journal.StateOK:
			s.done = append(s.done, e)
		case e.State == journal.StateFailed:
			s.failed = append(s.failed, e)
		case e.Class != tools.Idempotent && !e.Repeatable:
			s.unknown = append(s.unknown, e)
		}
	}
	return s
}

// repeated reports whether a failed call was made again later and succeeded.
func repeated(failed journal.Entry, later []journal.Entry) bool {
	return slices.ContainsFunc(later, func(e journal.Entry) bool {
		same := e.Tool == failed.Tool && string(e.Args) == string(failed.Args)
		return e.State == journal.StateOK && (same || slices.Contains(e.Repeats, failed.ID))
	})
}

func (s effects) empty() bool { return len(s.done)+len(s.failed)+len(s.unknown) == 0 }

// listEffects lists a run's calls that may have changed something, in at most the given number of bytes.
func listEffects(entries []journal.Entry, doneTitle string, limit int) string {
	return effectsOf(entries).list(effectTitles{doneTitle, failedTitle, unknownNote}, limit)
}

// openEffects lists the effects that later programs in the same step may repeat or continue, and says how.
func openEffects(entries []journal.Entry, advise bool, limit int) string {
	s := effectsOf(entries)
	var notes string
	if len(s.done) > 0 && advise {
		notes += "\n" + carriedOver
	}
	if advise {
		notes += repetition(s.failed, entries)
	}
	titles := effectTitles{"Done so far:", "Reported an error, but may have taken effect. Check first:", unknownNote}
	return s.list(titles, limit-len(notes)) + notes
}

// repetition says how to repeat the failed calls to the tool that failed last. It returns "" if every failed call was
// made again.
func repetition(failed, entries []journal.Entry) string {
	var ids []string
	tool := ""
	for _, f := range slices.Backward(failed) {
		isRepeated := slices.ContainsFunc(entries, func(e journal.Entry) bool {
			return e.State != journal.StateRejected && slices.Contains(e.Repeats, f.ID)
		})
		if !isRepeated && (tool == "" || f.Tool == tool) {
			tool, ids = f.Tool, append([]string{strconv.Quote(f.ID)}, ids...)
		}
	}
	if ids == nil {
		return ""
	}
	distinct := ids
	done := func(e journal.Entry) bool { return e.State == journal.StateOK && e.Tool == tool }
	if slices.ContainsFunc(entries, done) {
		distinct = append([]string{`"all"`}, ids...)
	}
	list := func(ids []string) string {
		if len(ids) == 1 {
			return ids[0]
		}
		return "[" + strings.Join(ids, ", ") + "]"
	}
	return fmt.Sprintf("\nLeave out what took effect, and pass {distinct: %s, again: %s} as the second argument of "+
		"every call of %s, with only those under again that did not take effect.", list(distinct), list(ids), tool)
}

const (
	carriedOver = "A done call that is repeated with the same arguments does nothing and returns the recorded " +
		"result. In case of doubt, the program is stopped there and you are asked."

	failedTitle  = "Reported an error, but may have taken effect:"
	unknownTitle = "Unknown whether it happened:"

	// undeclaredTitle is for tools without a class whose names do not suggest that they act.
	undeclaredTitle = "Called; nobody has declared whether it changed data:"

	// unknownNote is about repeating a call within the same run.
	unknownNote = "\nRepeating such a call ends the task. If a tool can show whether it happened, check; then " +
		"continue without the call."
)

// effectTitles holds the text that surrounds lists of effects.
type effectTitles struct{ done, failed, unknownNote string }

// list lists effects in at most the given number of bytes. If they do not fit, done calls lose their arguments
// and results first.
func (s effects) list(titles effectTitles, limit int) string {
	var text string
	for _, detail := range []struct{ uncertain, done int }{{300, 300}, {300, 100}, {300, 0}, {100, 0}, {0, 0}} {
		var b strings.Builder
		writeEntries(&b, titles.failed, s.failed, detail.uncertain)
		if len(s.unknown) > 0 {
			writeEntries(&b, unknownTitle, s.unknown, detail.uncertain)
			b.WriteString(titles.unknownNote)
		}
		undeclared := func(e journal.Entry) bool {
			return e.Class == tools.Unclassified && titles.done != "" && !dispatch.Acting(e.Tool)
		}
		declared := func(e journal.Entry) bool { return !undeclared(e) }
		writeEntries(&b, titles.done, slices.DeleteFunc(slices.Clone(s.done), undeclared), detail.done)
		writeEntries(&b, undeclaredTitle, slices.DeleteFunc(slices.Clone(s.done), declared), detail.done)
		if text = b.String(); len(text) <= limit {
			return text
		}
	}
	return Cut(text, limit)
}

// writeEntries lists calls under a title. Detail limits each call's arguments and result, in bytes. If it is zero,
// calls to the same tool share a line.
func writeEntries(b *strings.Builder, title string, entries []journal.Entry, detail int) {
	if len(entries) > 0 && title != "" {
		b.WriteString("\n" + title)
	}
	if detail == 0 {
		for _, group := range groups(entries, func(e journal.Entry) string { return e.Tool }) {
			writeGroup(b, group)
		}
		return
	}
	for _, e := range entries {
		writeEntry(b, e, detail)
		if e.Requested != nil {
			b.WriteString(", changed from " + oneLine(e.Requested, detail) + " before it was made")
		}
		if len(e.Repeats) > 0 {
			b.WriteString(", which repeats " + strings.Join(e.Repeats, ", "))
		}
		b.WriteString(ending(e, detail))
	}
}

// groups divides calls by a key, in the order of first appearance.
func groups(entries []journal.Entry, key func(journal.Entry) string) (list [][]journal.Entry) {
	at := map[string]int{}
	for _, e := range entries {
		i, seen := at[key(e)]
		if !seen {
			i = len(list)
			at[key(e)], list = i, append(list, nil)
		}
		list[i] = append(list[i], e)
	}
	return list
}

// writeGroup writes the calls to a tool in one line, with the first and the last arguments.
func writeGroup(b *strings.Builder, list []journal.Entry) {
	const limit = 80
	if len(list) == 1 {
		writeEntry(b, list[0], limit)
		return
	}
	fmt.Fprintf(b, "\n- %s ×%d", list[0].Tool, len(list))
	if list[0].ID != "" {
		b.WriteString(" (" + idRanges(list) + ")")
	}
	b.WriteString(", from " + oneLine(list[0].Args, limit) + " to " + oneLine(list[len(list)-1].Args, limit))
}

// idRanges lists the IDs of entries, with consecutive ones as a range: E1–E3, E7.
func idRanges(list []journal.Entry) string {
	number := func(i int) int { n, _ := strconv.Atoi(strings.TrimPrefix(list[i].ID, "E")); return n }
	var ranges []string
	for i := 0; i < len(list); i++ {
		start := i
		for i+1 < len(list) && number(i+1) == number(i)+1 {
			i++
		}
		text := list[start].ID
		if i > start {
			text += "–" + list[i].ID
		}
		ranges = append(ranges, text)
	}
	return strings.Join(ranges, ", ")
}

// writeEntry writes a call and its arguments, after its ID if it has one.
func writeEntry(b *strings.Builder, e journal.Entry, limit int) {
	b.WriteString("\n- ")
	if e.ID != "" {
		b.WriteString(e.ID + " ")
	}
	b.WriteString(e.Tool + "(" + oneLine(e.Args, limit) + ")")
}

// ending returns a call's result or error, if it is known.
func ending(e journal.Entry, limit int) string {
	switch {
	case e.State == journal.StateFailed:
		return " → " + errorLine(e.Err, limit)
	case e.State == journal.StateOK && e.Err != nil:
		return " → its result cannot be used: " + errorLine(e.Err, limit)
	case e.State == journal.StateOK && len(e.Result) > 0:
		return " → " + oneLine(e.Result, limit)
	}
	return ""
}

// readLines lists the reads of a program in at most ten lines. Calls to the same tool share a line if they succeeded or
// failed with the same error. Long results are left out, since the model knows their types.
func readLines(reads []journal.Entry) string {
	const limit, maxRead = 10, 300
	var b strings.Builder
	failure := func(e journal.Entry) string {
		if e.State == journal.StateFailed {
			return ending(e, maxRead)
		}
		return ""
	}
	all := groups(reads, func(e journal.Entry) string { return e.Tool + failure(e) })
	for _, group := range all[:min(len(all), limit)] {
		if n := len(group); n > 1 {
			fmt.Fprintf(&b, "\n- %s ×%d%s", group[0].Tool, n, failure(group[0]))
			continue
		}
		writeEntry(&b, group[0], 200)
		if len(group[0].Result) <= maxRead {
			b.WriteString(ending(group[0], maxRead))
		}
	}
	if more := len(all) - limit; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String()
}
