package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/tools"
)

// checkRepeat holds a call whose second argument does not apply to its tool.
func (q *query) checkRepeat() error {
	r := q.call.Repeat
	if r == nil {
		return nil
	}
	path := q.call.Tool.Path()
	if r.Same != "" && q.entryOf(r.Same) == nil {
		q.missing = append(q.missing, r.Same)
	}
	switch {
	case len(q.missing) > 0:
		if e := q.journal.find(q.missing[0]); e != nil && e.past {
			return q.hold(nil, "%s was done for an earlier question; leave the name out", e.ID)
		}
		return q.hold(nil, "%q is not a call of %s; name one of its calls, or leave the name out",
			cut(q.missing[0], 100), path)
	case r.Fresh:
		return q.hold(nil, "{fresh: true} is for unclassified tools, and %s is known to change something; "+
			"leave it out", path)
	}
	return nil
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

// alsoOutdated lists the other tools with calls that would be held next for the same reason, each with its first such
// call.
func (q *query) alsoOutdated(e *entry) string {
	known, list := map[toolID]bool{e.id: true}, []string(nil)
	for _, o := range q.journal.entries {
		if !known[o.id] && o.id.server == e.id.server && q.recorded(o) && q.journal.outdated(o) != nil {
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

// mayOnlyRead returns the advice to pass {fresh: true} if the tool is unclassified, and neither its name nor its
// description says that it acts.
func (q *query) mayOnlyRead() string {
	b := q.call.Tool
	if q.class != tools.Unclassified || b.Hints.Destructive || dispatch.Acting(b.Name+" "+b.Description) {
		return ""
	}
	return fmt.Sprintf("If %s only reads, pass {fresh: true} as the second argument. ", b.Path())
}

func (q *query) holdFailed(open []*entry) error {
	if slices.ContainsFunc(open, (*entry).isDone) {
		return q.hold(open, "%s made exactly this call, and it is done, although its result cannot be used. "+
			"To do it once more, pass {again: %s} as the second argument", names(open), oneOrList(quoted(open)))
	}
	q.told = true
	return q.hold(open, "%s made exactly this call and reported an error, so it may have taken effect. %s%s%s",
		names(open), q.mayOnlyRead(), q.lookFirst(nil), capital(q.answer()))
}

func (q *query) holdOthers(open []*entry) error {
	slices.SortStableFunc(open, func(a, b *entry) int { return rank(a) - rank(b) })
	var list []string
	for _, e := range open[:min(len(open), maxListed)] {
		list = append(list, fmt.Sprintf("%s %s %s", e.ID, describe(e.Tool, e.Args), stateOfEffect(e)))
	}
	if more := len(open) - maxListed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	text := fmt.Sprintf("earlier programs of this step called %s with other arguments: %s. %s",
		q.call.Tool.Path(), strings.Join(list, "; "), q.mayOnlyRead())
	if q.idempotent() {
		text += fmt.Sprintf("%s now gives another value than before, perhaps because of that. ",
			describe(q.changed.Tool, q.changed.Args))
	}
	if !open[0].isDone() {
		text += q.lookFirst(nil)
	}
	if i := slices.IndexFunc(open, (*entry).isDone); i >= 0 {
		text += fmt.Sprintf("If this call repeats one that is done, pass {same: %q} as the second argument "+
			"to take its result. ", open[i].ID)
	}
	return q.hold(open, "%sIf it is another effect, %s", text, q.answer())
}

// answer returns the advice to pass a second argument. The argument is right for every call to the tool in the
// rewritten program.
func (q *query) answer() string {
	var again, open []*entry
	all := q.all
	for _, e := range q.journal.entries {
		switch {
		case e.id != q.id:
		case e.State == StateOK:
			all = all || q.inStep(e) && !e.is(q.key)
		case e.uncertain() && !q.journal.repeated(e) && (e.is(q.key) || q.inStep(e) && !q.resolved(e)):
			open = append(open, e)
			if e.State == StateFailed {
				again = append(again, e)
			}
		}
	}
	distinct := quoted(open)
	if all {
		distinct = append([]string{`"all"`}, distinct...)
	}
	path := q.call.Tool.Path()
	if again == nil {
		return fmt.Sprintf("pass {distinct: %s} as the second argument of every call of %s", oneOrList(distinct), path)
	}
	return fmt.Sprintf("pass {distinct: %s, again: %s} as the second argument of every call of %s, "+
		"with only those under again that did not take effect", oneOrList(distinct), oneOrList(quoted(again)), path)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// maxListed is the maximum number of entries in a hold's message. The next prompt lists all entries.
const maxListed = 10

func (e *entry) isDone() bool { return e.State == StateOK }

func rank(e *entry) int {
	if e.State == StateOK {
		return 1
	}
	return 0
}

func stateOfEffect(e *entry) string {
	switch e.State {
	case StateOK:
		return "(done)"
	case StateFailed:
		return "(reported an error; it may have taken effect)"
	default:
		return "(whether it took effect is unknown)"
	}
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

// cut returns at most limit bytes of text, safe to display.
func cut(text string, limit int) string { return display.Text(display.Cut(text, limit)) }

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
