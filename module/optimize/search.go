package optimize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/writ-go/writ/internal/display"
)

// search evaluates the original module and runs the optimizer.
func (t *task) search(ctx context.Context, by Optimizer) (err error) {
	defer func() {
		err = t.close(ctx, err)
		t.events.Lock()
		defer t.events.Unlock()
		t.ended = true
	}()
	if n := len(t.val); n < 20 {
		t.warn("Val has only %s, so scores may differ by chance; use at least 20", display.Plural(n, "example"))
	}
	t.warnOfRepeats()
	for _, p := range t.unfrozen() {
		if p.given.System != "" {
			t.warn("%s has a System prompt of its own, so its instructions have no effect", p.Path)
		}
	}
	if err := t.acceptStart(ctx); err != nil {
		return err
	}
	t.applyEffort()
	t.estimate(by)
	err = by.optimize(ctx, t)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("optimize: stopped: %w", context.Cause(ctx))
	case errors.Is(err, errBudget):
		t.warn("the budget was spent before the search was over; the result is the best of %s so far; raise "+
			"Options.Budget or Options.Effort to continue", display.Plural(len(t.accepted), "candidate"))
	case err != nil:
		return err
	}
	switch {
	case len(t.accepted) == 1 && err == nil:
		t.warn("no candidate was good enough to be compared with the original module, which is the result")
	case len(t.accepted) > 1 && t.best() == t.start:
		t.warn("no other candidate is better than the original module, which is the result")
	case t.best().Failed > t.start.Failed:
		t.warn("the result fails on %d of %d examples of Val, more than the original module, which fails on %d; "+
			"evaluate both to see the errors before you use the result", t.best().Failed, len(t.val), t.start.Failed)
	}
	return t.saveBest()
}

// acceptStart evaluates the original module.
func (t *task) acceptStart(ctx context.Context) error {
	err := t.accept(ctx, t.start)
	if errors.Is(err, errBudget) {
		return fmt.Errorf("optimize: %w before the original module was evaluated on all %d examples of Val, after %v; "+
			"raise the budget or use fewer examples", err, len(t.val), t.ledger.spent())
	}
	if err != nil {
		return err
	}
	if highest := slices.Max(t.start.Scores); highest > 1 {
		t.warn("the metric returned the score %g, but optimizers treat a score of 1 as right; divide the scores by "+
			"the highest one", highest)
	}
	if t.start.Failed == 0 {
		return nil
	}
	outcomes, err := t.evaluate(ctx, t.start, valSplit, nil) // not run again
	if err != nil {
		return err
	}
	i := slices.IndexFunc(outcomes, func(o outcome) bool { return o.Err != nil })
	first := fmt.Sprintf("the first error, of example %q: ", t.val[i].ID)
	if t.start.Failed == len(t.val) {
		return fmt.Errorf("optimize: the original module fails on all examples of Val; %s%w", first, outcomes[i].Err)
	}
	t.warn("the original module fails on %d of %d examples of Val, which count as 0; %s%v",
		t.start.Failed, len(t.val), first, outcomes[i].Err)
	return nil
}

// close closes the log. After an error, a search that continues repeats the requests that failed.
func (t *task) close(ctx context.Context, err error) error {
	log := t.ledger.log
	if log == nil {
		return err
	}
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, log.RetryFailures())
	}
	return errors.Join(err, log.Close())
}

// callsPerRun returns the number of calls of the student in a run of the original module, at least 1, since a cache may
// have answered calls.
func (t *task) callsPerRun() float64 { return max(1, t.ledger.dearest[0]) }

// applyEffort sets the budget by the effort, unless there is one.
func (t *task) applyEffort() {
	if t.options.Budget.amounts() == (amounts{}) {
		effort := cmp.Or(max(t.options.Effort, 0), Medium)
		t.ledger.limits.StudentCalls = int(math.Ceil(float64(int(effort)*len(t.val)) * t.callsPerRun()))
	}
}

// estimate reports the maximum that the rest of the search can use.
func (t *task) estimate(by Optimizer) {
	s, base, perRun := by.estimate(t), t.ledger.spent(), t.callsPerRun()
	s.StudentCalls = min(int(math.Ceil(float64(s.StudentCalls)*perRun)), t.ledger.left(student))
	s.TeacherCalls = min(int(math.Ceil(float64(s.TeacherCalls)*perRun)), t.ledger.left(teacher))
	s.ReflectionCalls = min(s.ReflectionCalls, t.ledger.left(reflection))
	cost := ""
	if base.Cost > 0 && base.StudentCalls > 0 {
		cost = fmt.Sprintf("; they cost about %.3g, and more if prompts become longer",
			base.Cost/float64(base.StudentCalls)*float64(s.StudentCalls))
	}
	t.say("estimate: the rest of the search takes at most %v%s (one evaluation on Val: %v)", s, cost, base)
}

// accept evaluates a candidate on all of Val and adds it to the result. A candidate with the same content as
// an accepted one gets its ID and its scores, and is not added again.
func (t *task) accept(ctx context.Context, c *Candidate) error {
	outcomes, err := t.evaluate(ctx, c, valSplit, nil)
	if err != nil {
		return err
	}
	c.score(outcomes, t.val)
	content := c.content()
	c.ID = slices.IndexFunc(t.accepted, func(a *Candidate) bool { return a.content() == content })
	if c.ID >= 0 {
		return nil
	}
	c.ID, c.Spent = len(t.accepted), t.ledger.spent()
	t.accepted = append(t.accepted, c)
	t.emit(Event{Candidate: c, Text: fmt.Sprintf("candidate %d (%s): %.4g on Val, best %.4g, start %.4g; spent %v",
		c.ID, c.By, c.Score, t.best().Score, t.start.Score, c.Spent)})
	if t.replaying.Load() {
		return nil // best.json may have a better candidate
	}
	return t.saveBest()
}

// reject reports a candidate that is not evaluated on all of Val.
func (t *task) reject(c *Candidate, reason string) {
	t.emit(Event{Candidate: c, Rejected: true, Text: fmt.Sprintf("rejected (%s): %s", c.By, reason)})
}

// bestAnswers returns the best answer of the accepted candidates to each example of Val.
func (t *task) bestAnswers() (list []Answer) {
	for i, item := range t.val {
		best := Answer{Example: item.ID}
		for _, c := range t.accepted {
			o, _ := t.known(batch{runs: c.runs(), split: valSplit, items: t.val}.scope(i))
			if o.Got != nil && (best.Output == nil || o.Score.Value > best.Score) {
				best.Candidate, best.Score, best.Output = c.ID, o.Score.Value, o.Got
			}
		}
		if best.Output != nil {
			list = append(list, best)
		}
	}
	return list
}

// best returns the first of the accepted candidates with the highest score.
func (t *task) best() *Candidate { return t.ranked()[0] }

// ranked returns the accepted candidates, the best first.
func (t *task) ranked() []*Candidate {
	list := slices.Clone(t.accepted)
	slices.SortStableFunc(list, func(a, b *Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return list
}

// source describes where the states of a candidate come from.
func (t *task) source(c *Candidate) string {
	return fmt.Sprintf("optimize.%s, seed %d, candidate %d: scored %.4g on %d validation examples, %.4g before",
		t.by, t.options.Seed, c.ID, c.Score, len(t.val), t.start.Score)
}

// saveBest saves the best candidate so far in Options.Dir, if it is better than the original module.
func (t *task) saveBest() error {
	c := t.best()
	if t.options.Dir == "" || c == t.start {
		return nil
	}
	var b bytes.Buffer
	if err := t.runner.save(&b, c, t.source(c)); err != nil {
		return fmt.Errorf("optimize: candidate %d: %w", c.ID, err)
	}
	path := filepath.Join(t.options.Dir, "best.json")
	if err := os.WriteFile(path+".new", b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("optimize: Options.Dir: %w", err)
	}
	return os.Rename(path+".new", path)
}

// warn adds a warning to the result.
func (t *task) warn(format string, args ...any) {
	warning := fmt.Sprintf(format, args...)
	t.events.Lock()
	repeated := slices.Contains(t.warnings, warning)
	if !repeated {
		t.warnings = append(t.warnings, warning)
	}
	t.events.Unlock()
	if !repeated {
		t.say("warning: %s", warning)
	}
}

// say reports a line of progress.
func (t *task) say(format string, args ...any) { t.emit(Event{Text: fmt.Sprintf(format, args...)}) }

// emit reports an event. It is safe for concurrent use.
func (t *task) emit(e Event) {
	t.events.Lock()
	defer t.events.Unlock()
	if t.ended {
		return // a run that ignored its context
	}
	if t.options.Progress != nil && e.Text != "" {
		fmt.Fprintln(t.options.Progress, display.Text("optimize: "+e.Text))
	}
	if t.options.OnEvent != nil {
		e.Spent = t.ledger.spent()
		if e.Candidate != nil {
			e.Candidate = new(*e.Candidate)
		}
		t.options.OnEvent(e)
	}
}
