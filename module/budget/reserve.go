package budget

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/internal/lm"
)

const (
	assumed  = 16_000 // the tokens of the longest reply, if it is unknown
	minReply = 16     // some providers refuse a lower limit
)

// tree is shared by a budget without an outer one and by all budgets and calls within it. It guards their fields.
type tree struct {
	sync.Mutex
	changed chan struct{} // closed when a call ends
}

// node is a budget, or a model call in progress. A call contains other calls if its model calls models. It is charged
// the greater of what it uses itself and of what these calls use.
type node struct {
	outer  *node
	tree   *tree
	budget *Budget // nil for a call

	own         Spent // what a call has reserved
	spent, held Spent // what was used within the node, and what is reserved there
	underway    int   // the calls in progress within the node
}

func nodeOf(ctx context.Context) *node {
	n, _ := lm.MeterOf(ctx).(*node)
	return n
}

// nearest returns the innermost budget.
func (n *node) nearest() *Budget {
	for n.budget == nil {
		n = n.outer
	}
	return n.budget
}

// holds returns what the node holds of the budgets around it.
func (n *node) holds() Spent {
	if n.budget != nil {
		return n.held
	}
	return n.own.minus(n.spent).max(n.held)
}

// charge adds amounts to the node and to all nodes around it.
func (n *node) charge(spent, held Spent, underway int) {
	for ; n != nil; n = n.outer {
		before := n.holds()
		n.spent, n.held, n.underway = n.spent.plus(spent), n.held.plus(held), n.underway+underway
		if n.underway == 0 {
			n.held.Cost = 0 // remove rounding errors
		}
		held = n.holds().minus(before)
	}
}

// calls returns the calls that count against the limit.
func (b *Budget) calls() int {
	n := b.node.spent.Calls + b.node.held.Calls
	if b.path {
		n += b.node.spent.Cached
	}
	return n
}

// Reserve implements [lm.Meter].
func (n *node) Reserve(ctx context.Context, c lm.Charge) (
	within context.Context, tokens int, settle func(lm.Reply, error) error, err error,
) {
	n.tree.Lock()
	defer n.tree.Unlock()
	price, priced := n.nearest().limits.Prices[c.Model]
	for _, b := range n.nearest().all() {
		if err = b.bad; err == nil && !priced && b.limits.Cost > 0 {
			err = fmt.Errorf("the budget limits the cost but has no price for the model %q; add it to Limits.Prices",
				c.Model)
		}
		if err != nil {
			return nil, 0, nil, &lm.Error{Kind: lm.KindInvalid, Err: err}
		}
	}
	want := cmp.Or(c.Output, assumed+c.Think) * c.Replies
	f := n.fit(c, price, want)
	for ; f.err == nil && f.wait; f = n.fit(c, price, want) {
		changed := n.tree.changed
		n.tree.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			err = lm.CancelledBy(ctx) // formats the error of a budget, which reads what is spent
		}
		if n.tree.Lock(); err != nil {
			return nil, 0, nil, err
		}
	}
	if f.err != nil {
		return nil, 0, nil, &lm.Error{Kind: lm.KindOverBudget, Err: f.err}
	}
	call := &node{outer: n, tree: n.tree, own: Spent{
		Calls: 1, InputTokens: c.Input, OutputTokens: f.output, Cost: price.most(c.Input, f.output),
	}}
	n.charge(step(c), call.own, 1)
	if f.output < want {
		tokens = f.output / c.Replies
	}
	return lm.WithMeter(lm.WithStep(ctx, nil), call), tokens, func(reply lm.Reply, err error) error {
		n.tree.Lock()
		defer n.tree.Unlock()
		call.settle(spentOn(c, price, priced, reply, err))
		if err == nil && tokens > 0 && reply.Truncated {
			err = &lm.Error{Kind: lm.KindOverBudget, MaybeCharged: true, Err: &Error{f.limit, f.tightest}}
		}
		return err
	}, nil
}

// step returns what a call costs if it is the first one of a step.
func step(c lm.Charge) Spent {
	if c.Step == nil || c.Step.Charged {
		return Spent{}
	}
	c.Step.Charged = true
	return Spent{Steps: 1}
}

// fitting says whether and how a call fits into the budgets.
type fitting struct {
	output   int  // the tokens that are left for the reply, at most those that it wants
	wait     bool // calls in progress hold what the call wants
	err      error
	tightest *Budget // the budget that leaves the fewest tokens
	limit    string  // and its limit
}

// fit compares a call, whose reply may have up to want tokens, with the limits. A call within another call never waits,
// since the calls in progress may wait for it.
func (n *node) fit(c lm.Charge, price Price, want int) (f fitting) {
	f.output = want
	firm, within, credit := want, false, Spent{} // firm is what the budgets leave if nothing else is in progress
	for ; n != nil; n = n.outer {
		b := n.budget
		if b == nil { // what the call around it has reserved is not used yet
			within, credit = true, credit.plus(n.own.minus(n.spent).minus(n.held).max(Spent{}))
			credit.InputTokens = min(credit.InputTokens, c.Input)
			continue
		}
		l := b.limits
		switch used := b.calls() + max(1-credit.Calls, 0); {
		case l.Steps > 0 && c.Step != nil && !c.Step.Charged && n.spent.Steps >= l.Steps:
			f.err = &Error{display.Plural(l.Steps, "step"), b}
		case l.Calls > 0 && used > l.Calls:
			f.err = &Error{display.Plural(l.Calls, "model call"), b}
		case l.Concurrency > 0 && n.underway >= l.Concurrency && !within:
			f.wait = true
		}
		for _, t := range l.ofTokens(c.Input, price) {
			now := t.room(n.spent.plus(n.held).minus(credit))
			f.output = min(f.output, now)
			if !within && n.underway > 0 {
				now = t.room(n.spent)
			}
			if now < firm {
				firm, f.tightest, f.limit = now, b, t.name
			}
		}
	}
	if f.err == nil && firm < min(want, (c.Think+minReply)*c.Replies) {
		f.err = &Error{f.limit, f.tightest}
	}
	f.wait = f.wait || f.output < firm
	return f
}

// tokenLimit is a limit of tokens or money.
type tokenLimit struct {
	name       string
	limit      float64
	of         func(Spent) float64
	input, per float64 // what the input of a call uses, and each token of its reply
}

// room returns how many tokens a reply may have. It is negative if not even the input fits.
func (t tokenLimit) room(used Spent) int {
	left := t.limit - t.of(used) - t.input
	if left >= 0 && t.per == 0 {
		return math.MaxInt
	}
	return int(max(-1, min(left/t.per, math.MaxInt32)))
}

// ofTokens returns the limits of tokens and money for a call.
func (l Limits) ofTokens(input int, p Price) (list []tokenLimit) {
	in := float64(input)
	for _, t := range []tokenLimit{
		{display.Plural(l.InputTokens, "input token"), float64(l.InputTokens),
			func(s Spent) float64 { return float64(s.InputTokens) }, in, 0},
		{display.Plural(l.OutputTokens, "output token"), float64(l.OutputTokens),
			func(s Spent) float64 { return float64(s.OutputTokens) }, 0, 1},
		{display.Plural(l.Tokens, "token"), float64(l.Tokens),
			func(s Spent) float64 { return float64(s.tokens()) }, in, 1},
		{fmt.Sprintf("a cost of %g", l.Cost), l.Cost,
			func(s Spent) float64 { return s.Cost }, p.most(input, 0), p.Output / 1e6},
	} {
		if t.limit > 0 {
			list = append(list, t)
		}
	}
	return list
}

// settle replaces what a call has reserved with what it has used, and wakes the calls that wait.
func (n *node) settle(used Spent) {
	before := n.holds()
	n.own = Spent{}
	n.outer.charge(used.max(n.spent).minus(n.spent), n.holds().minus(before), -1)
	close(n.tree.changed)
	n.tree.changed = make(chan struct{})
}

// spentOn returns what a call has used.
func spentOn(c lm.Charge, price Price, priced bool, reply lm.Reply, err error) Spent {
	if reply.Cached {
		return Spent{Cached: 1}
	}
	u, estimated := lm.Used(reply, err, c.Input)
	s := Spent{Calls: 1, InputTokens: u.Input, OutputTokens: u.Output, ReasoningTokens: u.Reasoning, Cost: price.of(u)}
	if estimated {
		s.Estimated = 1
	}
	if !priced {
		s.Unpriced = 1
	}
	return s
}

// Cached implements [lm.Meter].
func (n *node) Cached() {
	n.tree.Lock()
	defer n.tree.Unlock()
	n.charge(Spent{Cached: 1}, Spent{}, 0)
}

// Record implements [lm.Meter].
func (n *node) Record(ctx context.Context) (context.Context, func() json.RawMessage) {
	call := &node{outer: n, tree: n.tree}
	return lm.WithMeter(ctx, call), func() json.RawMessage {
		n.tree.Lock()
		defer n.tree.Unlock()
		raw, _ := json.Marshal(call.spent) // numbers always encode
		return raw
	}
}

// Replay implements [lm.Meter].
func (n *node) Replay(ctx context.Context, all bool, c lm.Charge, recorded json.RawMessage, reply lm.Reply, err error) {
	n.tree.Lock()
	defer n.tree.Unlock()
	var s Spent
	began := step(c)
	if recorded == nil || json.Unmarshal(recorded, &s) != nil {
		price, priced := n.nearest().limits.Prices[c.Model]
		s = spentOn(c, price, priced, reply, err).plus(began)
	}
	if all {
		n.charge(s, Spent{}, 0)
	} else {
		n.replay(ctx, s)
	}
}

// replay charges what was recorded to the budgets that began within the recorded run: the durable run of ctx or,
// without one, the run of a module whose path depends on what is left.
func (n *node) replay(ctx context.Context, s Spent) {
	run := durable.Of(ctx)
	for ; n != nil; n = n.outer {
		if b := n.budget; b == nil || run != nil && b.run == run || run == nil && b.path {
			n.spent = n.spent.plus(s)
		}
	}
}
