package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
)

// checkRepeat holds a call whose second argument does not apply to its tool.
func (q *query) checkRepeat() error {
	r, path := q.call.Repeat, q.call.Tool.Path()
	if r == nil {
		return nil
	}
	if r.Same != "" && q.entryOf(r.Same) == nil {
		q.missing = append(q.missing, r.Same)
	}
	switch {
	case len(q.missing) > 0:
		return q.hold(nil, "%q is not a call of %s; name one of its calls, or leave the name out",
			cut(q.missing[0], 100), path)
	case r.Fresh:
		return q.hold(nil, "{fresh: true} is for unclassified tools, and %s is known to change something; "+
			"leave it out", path)
	}
	return nil
}

func (q *query) holdUnreconciled(e *entry) error {
	return q.hold([]*entry{e}, "%s made exactly this call, and whether it took effect is unknown. "+
		"The outcome is being looked up; write the whole step again", e.ID)
}

func (q *query) holdSkipped(e, other *entry) error {
	return q.hold([]*entry{e, other}, "%s made exactly this call, but after %s %s, "+
		"which this program has not called. Call that first. Otherwise, %s",
		e.ID, other.ID, describe(other.Tool, other.Args), q.sameOrAgain(e))
}

func (q *query) holdUndone(e, other *entry) error {
	return q.hold([]*entry{e, other}, "%s made exactly this call, but %s %s was made after it. %s%s%s",
		e.ID, other.ID, describe(other.Tool, other.Args), q.mayOnlyRead(), capital(q.sameOrAgain(e)), q.alsoOutdated(e))
}

// alsoOutdated names the other tools whose calls would be held next for the same reason, each with its first such call.
func (q *query) alsoOutdated(e *entry) string {
	known, list := map[toolID]bool{e.id: true}, []string(nil)
	for _, o := range q.journal.entries {
		if !known[o.id] && o.server == e.server && q.recorded(o) && q.journal.outdated(o) != nil {
			known[o.id] = true
			list = append(list, fmt.Sprintf("%s (%s)", o.Tool, o.ID))
		}
	}
	if list == nil || q.journal.outdated(e) == nil {
		return ""
	}
	return ". Answer in the same way for the calls of " + strings.Join(list, ", ")
}

func (q *query) holdEarlier(e *entry) error {
	return q.hold([]*entry{e}, "%s made exactly this call in an earlier step, and it is done. %s%s",
		e.ID, q.mayOnlyRead(), capital(q.sameOrAgain(e)))
}

func (q *query) sameOrAgain(e *entry) string {
	return fmt.Sprintf("to take the result of %s, pass {same: %q} as the second argument; "+
		"to do it once more, pass {again: %q}", e.ID, e.ID, e.ID)
}

// mayOnlyRead returns the advice to pass {fresh: true} if the tool is unclassified.
func (q *query) mayOnlyRead() string {
	if q.class != tools.Unclassified || q.call.Tool.Hints.Destructive {
		return ""
	}
	return fmt.Sprintf("If %s only reads, pass {fresh: true} as the second argument. ", q.call.Tool.Path())
}

func (q *query) holdFailed(open []*entry) error {
	if !allFailed(open) {
		return q.hold(open, "%s made exactly this call, and it is done, although its result cannot be used. "+
			"To do it once more, pass %s as the second argument", names(open), q.repeating(open))
	}
	return q.hold(open, "%s made exactly this call and reported an error, so it may have taken effect. "+
		"%sFirst check whether it did, if a tool can show that. If it did, leave this call out. "+
		"If it did not, pass %s as the second argument%s",
		names(open), q.mayOnlyRead(), q.repeating(open), q.loop(open))
}

// loop returns the advice for a call in a loop, if its next calls would be held for other
// entries: an answer that fits all of them.
func (q *query) loop(failed []*entry) string {
	var open []*entry
	for _, e := range q.journal.entries {
		done := e.State == OK && !e.is(q.key)
		conflict := q.inStep(e) && e.id == q.id && e.attempt != q.Attempt && (done || e.uncertain() && !q.resolved(e))
		if conflict || slices.Contains(failed, e) {
			open = append(open, e)
		}
	}
	if all := q.repeating(open); all != q.repeating(failed) {
		return "; in a loop, pass " + all + " with every call"
	}
	return ""
}

func (q *query) holdOthers(open []*entry) error {
	path := q.call.Tool.Path()
	slices.SortStableFunc(open, func(a, b *entry) int { return rank(a) - rank(b) })
	var list []string
	for _, e := range open[:min(len(open), maxListed)] {
		list = append(list, fmt.Sprintf("%s %s %s", e.ID, describe(e.Tool, e.Args), stateOfEffect(e)))
	}
	if more := len(open) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	text := fmt.Sprintf("earlier programs of this step called %s with other arguments: %s. %s",
		path, strings.Join(list, "; "), q.mayOnlyRead())
	uncertain := slices.DeleteFunc(slices.Clone(open), (*entry).isDone)
	if q.idempotent() {
		text += fmt.Sprintf("%s now gives another value than before, perhaps because of that. ",
			describe(q.changed.Tool, q.changed.Args))
	}
	if len(uncertain) > 0 {
		text += fmt.Sprintf("First check whether %s took effect, if a tool can show that, and leave out what is done. ",
			names(uncertain))
	}
	if i := slices.IndexFunc(open, (*entry).isDone); i >= 0 {
		text += fmt.Sprintf("If this call repeats one that is done, pass {same: %q} as the second argument "+
			"to take its result. ", open[i].ID)
	}
	text += fmt.Sprintf("If it is another effect, pass {distinct: %s} as the second argument of every call of %s",
		q.noneOf(open), path)
	if slices.ContainsFunc(open, func(e *entry) bool { return e.State == Failed }) {
		text += ". In a loop that also repeats what did not take effect, pass " + q.repeating(open) + " instead"
	}
	return q.hold(open, "%s", text)
}

// capital returns text with a capital first letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// maxListed is the number of entries that a hold lists. The next prompt lists all of them.
const maxListed = 10

func (e *entry) isDone() bool { return e.State == OK }

func rank(e *entry) int {
	if e.State == OK {
		return 1
	}
	return 0
}

func stateOfEffect(e *entry) string {
	switch e.State {
	case OK:
		return "(done)"
	case Failed:
		return "(reported an error; it may have taken effect)"
	default:
		return "(whether it took effect is unknown)"
	}
}

// repeating returns the second argument that repeats the failed calls and says that the call
// differs from the others. It includes what the call has named already.
func (q *query) repeating(open []*entry) string {
	var again, others []*entry
	for _, e := range q.journal.entries {
		conflict := slices.Contains(open, e)
		switch {
		case conflict && e.State == OK && !e.is(q.key), conflict && e.State == Unknown:
			others = append(others, e)
		case conflict, q.named[e] && e.State == Failed && !q.journal.repeated(e):
			again = append(again, e)
		}
	}
	list := ""
	if len(others) > 0 || q.all {
		list = "distinct: " + q.noneOf(others) + ", "
	}
	return "{" + list + "again: " + oneOrList(quoted(again)) + "}"
}

// noneOf returns the value of "distinct" for the entries: "all" for those that are done, and
// the IDs of those that are uncertain.
func (q *query) noneOf(open []*entry) string {
	uncertain := slices.DeleteFunc(slices.Clone(open), (*entry).isDone)
	list := quoted(uncertain)
	if q.all || len(uncertain) < len(open) {
		list = append([]string{`"all"`}, list...)
	}
	return oneOrList(list)
}

func oneOrList(quoted []string) string {
	if len(quoted) == 1 {
		return quoted[0]
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func quoted(list []*entry) []string {
	var texts []string
	for _, id := range ids(list) {
		texts = append(texts, fmt.Sprintf("%q", id))
	}
	return texts
}

func ids(list []*entry) []string {
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

func names(list []*entry) string {
	ids := ids(list)
	if last := len(ids) - 1; last > 0 {
		return strings.Join(ids[:last], ", ") + " and " + ids[last]
	}
	return ids[0]
}

func (q *query) hold(about []*entry, format string, args ...any) error {
	return &tools.HoldError{
		Call: describe(q.call.Tool.Path(), q.call.Args), Message: fmt.Sprintf(format, args...), Entries: ids(about),
	}
}

func describe(tool string, args json.RawMessage) string {
	return fmt.Sprintf("%s(%s)", tool, cut(string(args), 200))
}

// cut shortens text to at most most bytes, and returns it as [display.Text].
func cut(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return display.Text(text)
}

// UnknownError ends a run in which a program repeats a call whose outcome is unknown.
// [Attempt.Issue] returns it as a [tools.Fatal] error.
type UnknownError struct {
	Entry Entry // the earlier call
}

// Unwrap returns the error with which the earlier call ended.
func (e *UnknownError) Unwrap() error { return e.Entry.Err }

// Error describes the call and what the host can do.
func (e *UnknownError) Error() string {
	call := e.Entry.ID + " " + describe(e.Entry.Tool, e.Entry.Args)
	if e.Entry.Class == tools.Idempotent {
		return fmt.Sprintf("journal: whether %s took effect is unknown, and another effect on its server followed, "+
			"so the call was not made again; find out what happened, or set Options.Reconcile", call)
	}
	return fmt.Sprintf("journal: whether %s took effect is unknown, so the call was not made again; "+
		"find out what happened, set Options.Reconcile, or, if repeating it does no harm, "+
		"set the tool's class to Idempotent or Read", call)
}
