package journal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
)

// question is the entry of a call about which Options.OnRepeat has asked a person, and of all calls that the program
// makes after it. They wait until the run pauses, and are not recorded: when the run is repeated, the program makes
// them again, and OnRepeat has the answer. It implements [dispatch.Entry].
type question struct{}

// Effect returns the zero ID.
func (question) Effect() (id effect.ID) { return id }

// Recorded reports that there is no result.
func (question) Recorded() (json.RawMessage, error, bool) { return nil, nil, false }

// Dispatched refuses the call.
func (question) Dispatched(json.RawMessage) error { return place.ErrPaused }

// Settled records nothing.
func (question) Settled(json.RawMessage, error, string, json.RawMessage, bool) string { return "" }

// ask asks Options.OnRepeat about a held call. It returns nil if the model decides, also if nothing can be answered
// yet: the outcome of the same call is being looked up, or the program has named a call that does not exist.
func (q *query) ask(hold *tools.HoldError) (*tools.Repeat, error) {
	like := q.journal.findAll(hold.Entries)
	for _, e := range q.journal.entries { // for which the call would be held next
		if !q.harmless() && q.inStep(e) && e.id == q.id && !e.is(q.key) && q.conflicts(e) && !slices.Contains(like, e) {
			like = append(like, e)
		}
	}
	for i := 0; i < len(like); i++ {
		r := q.journal.repetition(like[i])
		if r != nil && r.is(q.key) && r.State != StateUnknown && !slices.Contains(like, r) {
			like = append(like, r)
		}
	}
	var list []Entry
	var own []*entry // without those that others in the list have repeated: to repeat these means the repetition
	for _, e := range like {
		if e.is(q.key) && e.State == StateUnknown {
			return nil, nil
		}
		list = append(list, e.Entry)
		if q.entryOf(e.ID) != nil && !slices.Contains(like, q.journal.repetition(e)) {
			own = append(own, e)
		}
	}
	if own == nil {
		return nil, nil
	}
	answer, err := q.journal.options.OnRepeat(fmt.Sprintf("H%d.%d", q.number, q.calls+1), q.call, list)
	if err != nil || answer == nil || !slices.Contains(answer.Distinct, "all") {
		return answer, err
	}
	all := *answer
	all.Again = slices.Concat(all.Again, ids(own))
	return &all, nil
}
