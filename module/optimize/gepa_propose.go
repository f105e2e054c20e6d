package optimize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// proposal is an iteration of the search: a rewrite of a candidate, up to the decision whether it is evaluated on all
// of Val.
type proposal struct {
	scope   string // of its requests and of the candidate that it makes; see withScope
	rand    *rand.Rand
	workers int // its share of the workers
	parent  *gepaCandidate
	batch   []int       // the examples of Train that were run
	before  []outcome   // their outcomes
	blamed  []component // what is rewritten; none if there is nothing to learn
	seen    []outcome   // what the reflection model sees
	turn    int         // parent.next after the choice of blamed

	// The results of write. The candidate is nil if the reflection model gave no text.
	child    *Candidate
	after    []outcome
	rejected string // why the candidate is rejected, or ""
	problem  error  // with a reply of the reflection model
	err      error

	undo   func() // undoes the changes of begin to the search
	cancel context.CancelFunc
	done   chan struct{} // closed when write has returned
}

// reflect takes the n-th step of the search, and accepts its proposal if it is good. While the reflection model writes
// it, reflect already begins the next proposals, as if the first ones were rejected, which most are. If one is
// accepted, those that follow are discarded, so that the result is the same as without them.
func (s *gepaSearch) reflect(ctx context.Context, n int) error {
	depth := min(s.depth(), s.Iterations-n)
	for len(s.ahead) == 0 || len(s.ahead) < depth && !s.ahead[0].isDone() {
		p := s.begin(ctx, n+len(s.ahead), depth)
		s.ahead = append(s.ahead, p)
	}
	p := s.ahead[0]
	s.ahead = s.ahead[1:]
	<-p.done
	if p.err != nil {
		return p.err
	}
	if !s.decide(p) {
		s.rejected++
		return nil
	}
	s.rejected = 0
	s.discard()
	return s.accept(ctx, &gepaCandidate{Candidate: p.child, next: p.turn, failed: s.failed(nil, p.after)})
}

// depth returns how many proposals may be in progress. There is only one if the log answers the requests, so that no
// time can be saved, or if the search is about to spend its budget.
func (s *gepaSearch) depth() int {
	n, l := max(1, min(1+s.rejected, s.task.workers/s.batches.size)), s.task.ledger
	if s.task.replaying.Load() || !l.affords(n*2*s.batches.size+len(s.task.val)) || l.left(reflection)/3 < n {
		return 1
	}
	return n
}

func (p *proposal) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// discard cancels the proposals that have been begun, and undoes their changes to the search.
func (s *gepaSearch) discard() {
	for _, p := range slices.Backward(s.ahead) {
		p.cancel()
		<-p.done
		p.undo()
	}
	s.ahead = nil
}

// begin runs a candidate on a minibatch, decides what to rewrite, and starts to write the proposal. The n-th proposal
// has its own random numbers, and its own scope for as long as no further candidate is accepted. So neither the random
// numbers nor the replies in the log depend on which proposals were discarded.
func (s *gepaSearch) begin(ctx context.Context, n, depth int) *proposal {
	p := &proposal{
		scope:   fmt.Sprintf("proposal %d from %d candidates", n, len(s.pool)),
		workers: max(s.task.workers/depth, 1),
		rand:    rand.New(rand.NewPCG(s.task.options.Seed, uint64(n))), done: make(chan struct{}),
	}
	p.parent = s.choose(p.rand)
	left, idle, next, failed := s.batches.left, s.idle, p.parent.next, p.parent.failed
	p.undo = func() { s.batches.left, s.idle, p.parent.next, p.parent.failed = left, idle, next, failed }
	ctx, p.cancel = context.WithCancel(withScope(ctx, p.scope))
	if p.err = s.examine(ctx, p); p.err != nil || len(p.blamed) == 0 {
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		p.err = s.write(ctx, p)
	}()
	return p
}

// choose returns the candidate to continue from.
func (s *gepaSearch) choose(r *rand.Rand) *gepaCandidate {
	if !s.FromBest {
		return s.pool[pickFromFront(r, paretoFront(s.pool, s.task.val))]
	}
	return slices.MaxFunc(s.pool, func(a, b *gepaCandidate) int { return cmp.Compare(a.Score, b.Score) })
}

// examine runs the parent on minibatches until it makes a mistake, or has been run on all of Train. Then it finds what
// is at fault.
func (s *gepaSearch) examine(ctx context.Context, p *proposal) (err error) {
	var failed []outcome
	for n := 0; n < s.batches.n && len(failed) == 0; n += s.batches.size {
		p.batch = s.batches.next(p.rand)
		if p.before, err = s.run(ctx, p, p.parent.Candidate, trainSplit, p.batch); err != nil {
			return err
		}
		failed = s.failed(nil, p.before)
	}
	if s.idle++; len(failed) == 0 {
		return nil
	}
	s.idle = 0
	if p.blamed, err = s.atFault(ctx, p.parent, failed); err != nil || len(p.blamed) == 0 {
		return err
	}
	p.turn, p.seen = p.parent.next, slices.Concat(p.before, s.recall(p.parent, p.batch))
	p.parent.failed = s.failed(slices.Clip(p.parent.failed), p.before)
	return nil
}

// write has the reflection model rewrite what is at fault, based on what the parent did on the minibatch. A rewrite is
// rejected if it is not better on the minibatch, or worse on a part of Val. It runs concurrently with other proposals,
// and so changes nothing in the search.
func (s *gepaSearch) write(ctx context.Context, p *proposal) error {
	child := newCandidate(p.parent.Candidate, "GEPA: reflection on "+p.about())
	child.scope = p.scope
	for _, c := range p.blamed {
		text, err := s.rewrite(ctx, p, c)
		switch {
		case errors.As(err, new(unusableError)):
			p.problem = err
		case err != nil:
			return err
		default:
			c.set(child, text)
			p.child = child
		}
	}
	isChild := func(c *gepaCandidate) bool { return c.content() == child.content() }
	if p.child == nil || slices.ContainsFunc(s.pool, isChild) { // decide rejects it
		return nil
	}
	var err error
	if p.after, err = s.run(ctx, p, child, trainSplit, p.batch); err != nil {
		return err
	}
	if total(p.after) <= total(p.before) {
		p.rejected = fmt.Sprintf("its scores on %d examples of Train add up to %.3g, and those of its parent to %.3g",
			len(p.batch), total(p.after), total(p.before))
		return nil
	}
	// If it is worse on a part of Val, it was probably better on the minibatch only by chance, and running it on the
	// rest of Val would be a waste.
	n := len(p.parent.Scores)
	sample := p.rand.Perm(n)[:min(n, max(n/4, mergeSample))]
	outcomes, err := s.run(ctx, p, child, valSplit, sample)
	if total(outcomes) < s.task.totalOnVal(p.parent, sample) {
		p.rejected = "it is worse than its parent on a part of Val"
	}
	return err
}

// run runs a candidate on examples with the proposal's share of the workers.
func (s *gepaSearch) run(
	ctx context.Context, p *proposal, c *Candidate, split split, indices []int,
) ([]outcome, error) {
	return s.task.runBatch(ctx, batch{candidate: c, split: split, indices: indices, workers: p.workers})
}

// about returns the names of what is rewritten.
func (p *proposal) about() string {
	var names []string
	for _, c := range p.blamed {
		names = append(names, c.name())
	}
	return strings.Join(names, " and ")
}

// decide records a proposal, and reports whether to accept it. A rewrite that was rejected on another minibatch gets a
// second chance.
func (s *gepaSearch) decide(p *proposal) bool {
	if len(p.blamed) == 0 {
		return false
	}
	if p.problem != nil {
		s.task.warn("%v", p.problem)
	}
	if s.useless++; p.child == nil {
		return false
	}
	if s.isNew(p.child) {
		s.useless = 0
	} else {
		s.task.warn("GEPA: for %s, the reflection model returned a text that it has returned before; use a higher "+
			"temperature or another model", p.about())
	}
	if s.tried[p.child.content()] {
		return false
	}
	if p.rejected != "" {
		s.task.reject(p.child, p.rejected)
	}
	return p.rejected == ""
}
