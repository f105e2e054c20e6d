package journal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/lists"
	"github.com/writ-go/writ/tools"
)

// holdUnseen holds a call that repeats failed calls, unless the program can know that they did not take effect: since
// the failures, a list of their server was read to its end, or anything of the server was read while none of its lists
// is known to be read in part. A call is held for this reason only once, and only if the server has tools that read.
func (q *query) holdUnseen() error {
	var unseen, partial []*entry
	for _, e := range q.again {
		if q.answered || e.State != StateFailed || e.unseen || e.told == q.Attempt {
			continue
		}
		if seen, part := q.seen(e); !seen {
			unseen, partial = append(unseen, e), part
		}
	}
	if unseen == nil || len(q.readers()) == 0 {
		return nil
	}
	q.unseen = true
	return q.hold(unseen, "%s reported an error and may have taken effect, and nothing that was read since can "+
		"show that. %s%s", names(unseen), q.lookFirst(partial), capital(q.answer()))
}

// readers returns the tools on the call's server that only read.
func (q *query) readers() (list []*tools.Binding) {
	for _, b := range q.tools {
		if q.call.Tool.Namespace == b.Namespace && b.ReplayClass() == tools.Read && b.Object != globals.Tools {
			list = append(list, b)
		}
	}
	return list
}

// seen reports whether reads that were issued after e failed can show whether e took effect. It also returns the last
// read of each list that is known to be read in part. Reads before the failure count only for a list that was not read
// since.
func (q *query) seen(e *entry) (seen bool, partial []*entry) {
	last, states, since := map[string]*entry{}, map[string][]lists.State{}, map[string]bool{}
	var order []string
	var keys lists.Keys
	for _, r := range q.journal.entries {
		if r.id.server != e.id.server || r.Class != tools.Read || r.State != StateOK {
			continue
		}
		key := keys.Of(r.Tool, r.Args, q.listState(r))
		if last[key] == nil {
			order = append(order, key)
		}
		if e.before(r) && !since[key] {
			states[key], since[key], seen = nil, true, true
		}
		last[key], states[key] = r, append(states[key], q.listState(r))
	}
	for _, key := range order {
		known := slices.ContainsFunc(states[key], func(s lists.State) bool { return s.Pagination != 0 })
		switch finished := lists.Finished(states[key]); {
		case finished && since[key]:
			return true, nil
		case known && !finished:
			partial = append(partial, last[key])
		}
	}
	return seen && partial == nil, partial
}

// listState returns what a read's result says about its list.
func (q *query) listState(e *entry) lists.State {
	if e.list == nil {
		s, _ := lists.Read(e.Args, e.Result)
		if i := indexOf(q.tools, e.id); s.Pagination == lists.Total && (i < 0 || !lists.Paged(q.tools[i].InputSchema)) {
			s = lists.State{}
		}
		e.list = &s
	}
	return *e.list
}

// lookFirst returns the advice to check what took effect. It names the lists that were read in part or, if partial is
// empty, tools that may show the effects.
func (q *query) lookFirst(partial []*entry) string {
	readers := q.readers()
	if len(readers) == 0 {
		return "First check what took effect, if a tool can show that, and leave that out. "
	}
	const maxNamed = 3
	var list []string
	for _, e := range partial[:min(len(partial), maxNamed)] {
		list = append(list, describe(e.Tool, e.Args))
	}
	if list != nil {
		return fmt.Sprintf("First read %s to the end, which was read in part, and leave out what took effect. ",
			strings.Join(list, " and "))
	}
	score := func(b *tools.Binding) (n int) {
		for word := range strings.FieldsFuncSeq(b.Name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
			if stem := strings.TrimSuffix(word, "s"); len(stem) > 2 && strings.Contains(q.call.Tool.Name, stem) {
				n -= 2
			} else if word == "list" || word == "search" {
				n--
			}
		}
		return n
	}
	slices.SortStableFunc(readers, func(a, b *tools.Binding) int { return score(a) - score(b) })
	for _, b := range readers[:min(len(readers), maxNamed)] {
		list = append(list, b.Path())
	}
	return fmt.Sprintf("First check what took effect, with %s, and leave that out. ", strings.Join(list, " or "))
}
