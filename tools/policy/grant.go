package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/canonical"
)

// Grant approves a number of calls to one tool in advance.
type Grant struct {
	Tool  string    `json:"tool"`         // the tool's path, as in Request.Tool
	Calls int       `json:"calls"`        // maximum number of calls, at least 1
	Until time.Time `json:"until"`        // when the grant expires; required
	By    string    `json:"by,omitempty"` // who gave the grant; if "", Grants.Approver sets it to Decision.By

	// Args are the values that arguments must have. A name is an argument's name, or a JSON Pointer as in [Argument].
	// Null means that the argument must be missing or null. Other arguments may have any value.
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

// Grants counts the calls that grants approve, in all runs that use it. The zero Grants is empty and ready to use. It
// is safe for concurrent use and must not be copied.
type Grants struct {
	mu    sync.Mutex
	list  []grant
	turns sync.Map // by tool: a chan struct{}, held while ask decides about a call of the tool
}

// grant is a Grant and the calls that it has approved.
type grant struct {
	Grant
	calls map[string]bool // by ID, or by number if there is no ID
}

// Add adds a grant. It returns an error if the grant is invalid.
func (g *Grants) Add(n Grant) error {
	if n.Tool == "" || n.Calls < 1 || n.Until.IsZero() {
		return fmt.Errorf("policy: a Grant needs a Tool, a positive number of Calls and a time Until; "+
			"got %q, %d and %v", n.Tool, n.Calls, n.Until)
	}
	for name, value := range n.Args {
		if !json.Valid(value) {
			return fmt.Errorf("policy: the Grant for %s: the value of %s is not JSON: %s", n.Tool, name, value)
		}
	}
	n.Args = maps.Clone(n.Args)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = append(g.list, grant{n, map[string]bool{}})
	return nil
}

// Covers returns the approval of a call that a grant covers at the time now, and counts the call. A call with an ID is
// counted once. No grant covers a call that repeats an effect on purpose ({again: "E2"}).
//
// The same calls of Add and Covers always have the same results, so a [Desk] can restore its Grants from a log.
func (g *Grants) Covers(r Request, now time.Time) (d Decision, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = slices.DeleteFunc(g.list, func(n grant) bool { return !now.Before(n.Until) })
	for _, n := range g.list {
		id := cmp.Or(r.ID, strconv.Itoa(len(n.calls)))
		if n.matches(r) && (n.calls[id] || len(n.calls) < n.Calls) {
			n.calls[id] = true
			return Decision{Approved: true, By: n.By, Granted: true}, true
		}
	}
	return Decision{}, false
}

func (n grant) matches(r Request) bool {
	for name, want := range n.Args {
		if value, err := argument(r.Call.Args, name); err != nil || !canonical.Equal(value, want) {
			return false
		}
	}
	return n.Tool == r.Tool && (r.Call.Repeat == nil || len(r.Call.Repeat.Again) == 0)
}

// Approver returns an Approver that asks only about calls that no grant covers, and adds the grants in the decisions.
// It asks about one call of a tool at a time, so that a grant also covers the calls that wait.
func (g *Grants) Approver(ask Approver) Approver {
	return func(ctx context.Context, r Request) (Decision, error) {
		if d, ok := g.Covers(r, time.Now()); ok {
			return d, nil
		}
		turn, _ := g.turns.LoadOrStore(r.Tool, make(chan struct{}, 1))
		select {
		case turn.(chan struct{}) <- struct{}{}:
			defer func() { <-turn.(chan struct{}) }()
		case <-ctx.Done():
			return Decision{}, ctx.Err()
		}
		if d, ok := g.Covers(r, time.Now()); ok {
			return d, nil
		}
		d, err := ask(ctx, r)
		if err != nil || d.Grant == nil || !d.Approved {
			return d, err
		}
		n := *d.Grant
		n.By, d.Grant = cmp.Or(n.By, d.By), nil
		return d, g.Add(n)
	}
}
