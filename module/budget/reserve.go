package budget

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/module/internal/lm"
)

const (
	assumed  = 16_000 // the longest reply, if it is unknown
	minReply = 16     // some providers refuse a lower limit of tokens
)

// node is a budget, or a model call in progress. A call can have calls within it, if its model calls other models. It
// is charged the greater of what it uses itself and of what is used within it. The fields are guarded by the tree.
type node struct {
	outer  *node
	tree   *tree
	budget *Budget // nil for a call

	own         Spent // what a call has reserved
	spent, held Spent // what was used within the node, and what is reserved there
	underway    int   // the calls in progress within a budget
}

var _ lm.Meter = (*node)(nil)

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
	return n.own.beyond(n.spent).max(n.held)
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
func (n *node) Reserve(ctx context.Context, c lm.Charge) (r lm.Reservation, err error) {
	n.tree.Lock()
	defer n.tree.Unlock()
	price, priced := n.nearest().limits.Prices[c.Model]
	if err := n.usable(c.Model, priced); err != nil {
		return r, invalid(err)
	}
	want := cmp.Or(c.Output, assumed+c.Think) * c.Replies
	f := n.fit(c, price, want)
	for f.wait && f.err == nil {
		changed := n.tree.changed
		n.tree.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		n.tree.Lock()
		if ctx.Err() != nil {
			return r, lm.CancelledBy(ctx)
		}
		f = n.fit(c, price, want)
	}
	if f.err != nil {
		return r, &lm.Error{Kind: lm.KindOverBudget, Err: f.err}
	}
	call := &node{outer: n, tree: n.tree, own: Spent{
		Calls: 1, InputTokens: c.Input, OutputTokens: f.output, Cost: price.most(c.Input, f.output),
	}}
	n.charge(n.step(c), call.own, 1)
	r.Context, r.Settle = lm.WithMeter(lm.WithoutStep(ctx), call), func(reply lm.Reply, err error) error {
		call.settle(c, price, priced, reply, err)
		if f.output < want && reply.Truncated && err == nil {
			n.tree.Lock()
			defer n.tree.Unlock()
			return &lm.Error{Kind: lm.KindOverBudget, MaybeCharged: true, Err: f.tightest.reached(f.limit)}
		}
		return err
	}
	if f.output < want {
		r.MaxTokens = f.output / c.Replies
	}
	return r, nil
}

// usable returns an error if a limit is invalid, or if there is a limit of money and the model has no price.
func (n *node) usable(model string, priced bool) error {
	for _, b := range n.nearest().all() {
		switch {
		case b.bad != nil:
			return b.bad
		case !priced && b.limits.Cost > 0:
			return fmt.Errorf("the budget limits the cost but has no price for the model %q; add it to Limits.Prices", model)
		}
	}
	return nil
}

// step returns what a call costs if it is the first one of a step.
func (n *node) step(c lm.Charge) Spent {
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
	err      *Error
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
		if b == nil {
			within, credit = true, credit.plus(n.own.beyond(n.spent).beyond(n.held))
			continue
		}
		l := b.limits
		switch used := b.calls() + max(1-credit.Calls, 0); {
		case c.Step != nil && !c.Step.Charged && l.Steps > 0 && b.node.spent.Steps >= l.Steps:
			f.err = b.reached(display.Plural(l.Steps, "step"))
		case l.Calls > 0 && used > l.Calls:
			f.err = b.reached(display.Plural(l.Calls, "model call"))
		case l.Concurrency > 0 && b.node.underway >= l.Concurrency && !within:
			f.wait = true
		}
		for _, limit := range b.tokenLimits() {
			now := limit.room(c.Input, b.node.spent.plus(b.node.held), credit, price)
			alone := limit.room(c.Input, b.node.spent, Spent{}, price)
			if within || b.node.underway == 0 {
				alone = now
			}
			if alone < firm {
				firm, f.tightest, f.limit = alone, b, limit.name
			}
			f.output = min(f.output, now)
		}
	}
	if f.err == nil && firm < min(want, (c.Think+minReply)*c.Replies) {
		f.err = f.tightest.reached(f.limit)
	}
	f.wait = f.wait || f.output < firm
	return f
}

// tokenLimit is a limit that says how long a reply may be.
type tokenLimit struct {
	name string

	// room returns how many tokens of output are left for a call, beyond what is used and apart from a credit of what
	// the calls around it have reserved. It is negative if not even the input fits.
	room func(input int, used, credit Spent, p Price) int
}

// tokenLimits returns the limits of tokens and money.
func (b *Budget) tokenLimits() (list []tokenLimit) {
	l := b.limits
	if l.InputTokens > 0 {
		list = append(list, tokenLimit{display.Plural(l.InputTokens, "input token"),
			func(input int, used, credit Spent, _ Price) int {
				if used.InputTokens+max(input-credit.InputTokens, 0) > l.InputTokens {
					return -1
				}
				return math.MaxInt
			}})
	}
	if l.OutputTokens > 0 {
		list = append(list, tokenLimit{display.Plural(l.OutputTokens, "output token"),
			func(_ int, used, credit Spent, _ Price) int {
				return l.OutputTokens - used.OutputTokens + credit.OutputTokens
			}})
	}
	if l.Tokens > 0 {
		list = append(list, tokenLimit{display.Plural(l.Tokens, "token"),
			func(input int, used, credit Spent, _ Price) int {
				return l.Tokens - used.tokens() - max(input-credit.InputTokens, 0) + credit.OutputTokens
			}})
	}
	if l.Cost > 0 {
		list = append(list, tokenLimit{fmt.Sprintf("a cost of %g", l.Cost),
			func(input int, used, credit Spent, p Price) int {
				money := l.Cost - used.Cost + credit.Cost - p.most(input, 0)
				switch {
				case money < 0:
					return -1
				case p.Output == 0:
					return math.MaxInt
				}
				return int(min(money/p.Output*1e6, math.MaxInt32))
			}})
	}
	return list
}

// settle replaces what a call has reserved with what it has used.
func (n *node) settle(c lm.Charge, price Price, priced bool, reply lm.Reply, err error) {
	n.tree.Lock()
	defer n.tree.Unlock()
	before := n.holds()
	used := spentOn(c, price, priced, reply, err)
	n.own = Spent{}
	n.outer.charge(used.beyond(n.spent), n.holds().minus(before), -1)
	n.tree.notify()
}

// notify wakes the calls that wait.
func (t *tree) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
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
func (n *node) Replay(ctx context.Context, all bool, c lm.Charge, recorded json.RawMessage, reply lm.Reply,
	err error) {
	n.tree.Lock()
	defer n.tree.Unlock()
	price, priced := n.nearest().limits.Prices[c.Model]
	s := spentOn(c, price, priced, reply, err)
	if recorded == nil || json.Unmarshal(recorded, &s) != nil {
		s = s.plus(n.step(c))
	}
	if c.Step != nil {
		c.Step.Charged = true
	}
	if all {
		n.charge(s, Spent{}, 0)
		return
	}
	n.replayed(ctx, s)
}

// replayed charges what was recorded to the budgets that began within the recorded run: the durable run of ctx or,
// without one, the run of a module whose path depends on what is left.
func (n *node) replayed(ctx context.Context, s Spent) {
	run := durable.Of(ctx)
	for ; n != nil; n = n.outer {
		if b := n.budget; b == nil || run != nil && b.run == run || run == nil && b.path {
			n.spent = n.spent.plus(s)
		}
	}
}
