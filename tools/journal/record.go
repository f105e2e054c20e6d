package journal

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Record returns what [Restore] needs to continue a conversation: the calls that Unresolved returns, and which effects
// followed them. If no call is uncertain, it returns nil. Call Record between two turns.
func (j *Journal) Record() ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var open []*entry
	list := []operation{{Op: opAttempt}}
	for _, e := range j.entries {
		follows := func(o *entry) bool { return o.id.server == e.id.server && o.before(e) }
		switch {
		case j.unresolved(e):
			open = append(open, e)
		case !e.ordered() || !e.called || !e.counts() || !slices.ContainsFunc(open, follows):
			continue
		}
		id := fmt.Sprintf("E%d", 1+len(list)/3)
		issue := operation{Op: opIssue, ID: id, Tool: e.Tool, Server: e.id.server, Name: e.id.name, Class: e.Class,
			Args: e.Args, Key: []byte(e.key), Destructive: e.destructive}
		dispatch := operation{Op: opDispatch, ID: id}
		if e.Requested != nil {
			issue.Args, dispatch.Args, dispatch.Key = e.Requested, e.Args, []byte(e.performed)
		}
		settle := operation{Op: opSettle, ID: id, State: e.State}
		settle.setError(e.Err)
		list = append(list, issue, dispatch, settle)
	}
	if open == nil {
		return nil, nil
	}
	return json.Marshal(list)
}

// Restore returns a journal for the turns that follow those of another journal, given its [Journal.Record]: what was
// uncertain stays open. The IDs of calls change. An empty record has no calls. Nil options are the defaults.
func Restore(record []byte, o *Options) (*Journal, error) {
	var list []operation
	j := New(o)
	if len(record) == 0 {
		return j, nil
	}
	err := jsonvalue.Strictly(record, &list)
	for i := 0; i < len(list) && err == nil; i++ {
		op := &list[i]
		err = j.apply(op)
		if err == nil && op.Op == opSettle && !slices.Contains([]State{StateOK, StateFailed, StateUnknown}, op.State) {
			err = fmt.Errorf("%s ended in the state %.50q, which Record does not write", op.ID, op.State)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("journal: the record is damaged: %w", err)
	}
	return j, nil
}
