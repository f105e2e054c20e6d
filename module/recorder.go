package module

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
)

// recorder builds the trajectory of a run from its events. A run within another run has its own recorder. The enclosing
// recorder lists it from the beginning, so that nothing is lost even if the inner run panics.
//
// The embedded trajectory is written with the lock held. The goroutine of the run reads it without the lock; other
// goroutines call the method trajectory.
type recorder struct {
	Trajectory
	origin  event.Origin
	tell    func(event.Event) // nil if there is no observer
	scope   scope
	stopped func(error) error             // adds that a budget's time is over, if it is; nil for a group
	journal *journal.Journal              // has the run's calls, or nil if its module calls no tools
	turn    int                           // the run's turn in the journal: see [journal.Entry]
	broken  atomic.Pointer[lm.PanicError] // the first panic of an observer

	mu        sync.Mutex
	usageOnly bool // the enclosing run keeps only the usage
	within    []*recorder
	best      *recorder // the element of within that has the highest score
	highest   float64   // the score of best
}

// begin begins a module's run. It returns the context for everything within the run.
func begin(
	ctx context.Context, module, name string, onEvent func(context.Context, event.Event),
) (context.Context, *recorder) {
	s := scopeOf(ctx)
	name = cmp.Or(s.tool, name)
	r := &recorder{origin: event.Origin{Module: module, Name: name, Run: rand.Uint64(), Parent: s.run.id()}}
	r.ID, r.Module, r.Name, r.Began = r.origin.Run, module, name, time.Now()
	r.Resumed = durable.Resumed(ctx)
	if call := effect.Of(ctx); call.Caller == r.origin.Parent {
		r.CalledBy, r.origin.CalledBy = call.Entry, call.Entry
	}
	s.run.add(r)
	r.scope = s
	r.scope.run, r.scope.tool = r, ""
	ctx = effect.WithRun(r.scope.in(ctx), r.ID)
	r.stopped = func(err error) error { return stopped(ctx, err) }
	if tell := both(s.tell, onEvent); tell != nil {
		r.tell = func(e event.Event) { tell(ctx, e) }
		r.emit(event.RunStart{Origin: r.at(0), Resumed: r.Resumed}) // the trajectory does not record it
	}
	return ctx, r
}

// group returns a recorder that collects the runs that a module makes. A module of this package makes one run; a user's
// module may make several.
func group(ctx context.Context) *recorder {
	s := scopeOf(ctx)
	g := &recorder{origin: event.Origin{Parent: s.run.id()}}
	s.run.add(g)
	return g
}

// settle replaces what the group has recorded with its final trajectory t.
func (r *recorder) settle(t Trajectory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Trajectory, r.within = t, nil
}

// id returns the ID of the run or, for a group, of the enclosing run.
func (r *recorder) id() uint64 {
	if r == nil {
		return 0
	}
	return cmp.Or(r.origin.Run, r.origin.Parent)
}

func (r *recorder) add(within *recorder) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within = append(r.within, within)
}

// count adds a finished run's usage to Spent, and drops the run itself.
func (r *recorder) count(ended *recorder) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within = slices.DeleteFunc(r.within, func(w *recorder) bool { return w == ended })
	t := ended.trajectory()
	r.Spent.Merge(t.UsageByModel())
	r.Samples = append(r.Samples, t) // the same ones, whatever the order in which they end
	slices.SortFunc(r.Samples, func(a, b Trajectory) int { return strings.Compare(a.Inputs.String(), b.Inputs.String()) })
	r.Samples = r.Samples[:min(4, len(r.Samples))]
}

// trajectory returns what the run has done so far, with the runs within it.
func (r *recorder) trajectory() Trajectory {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.Trajectory
	t.Steps, t.Runs, t.Samples = slices.Clone(t.Steps), slices.Clone(t.Runs), slices.Clone(t.Samples)
	t.Spent = maps.Clone(t.Spent)
	if r.journal != nil {
		t.Calls = r.ofTurn(r.journal.Entries())
	}
	for _, w := range r.within {
		part, usageOnly := w.part()
		switch {
		case usageOnly:
			t.Spent.Merge(part.UsageByModel())
		case !part.empty():
			t.Runs = append(t.Runs, part)
			if w == r.best {
				t.Chosen = len(t.Runs)
			}
		}
	}
	return t
}

// part returns what the enclosing run records about a run or a group.
func (r *recorder) part() (t Trajectory, usageOnly bool) {
	t = r.trajectory().collapsed()
	r.mu.Lock()
	defer r.mu.Unlock()
	return t, r.usageOnly
}

// collapsed returns t or, if t is a group with only one run, that run.
func (t Trajectory) collapsed() Trajectory {
	if t.ID != 0 || len(t.Runs) != 1 || t.Chosen > 0 {
		return t
	}
	only := t.Runs[0]
	only.Score = cmp.Or(t.Score, only.Score)
	return only
}

// at returns the origin of an event that happens now, in a step.
func (r *recorder) at(step int) event.Origin {
	o := r.origin
	o.Time, o.Step = time.Now(), step
	return o
}

// emit adds an event to the trajectory and calls the observers. If an observer panics, emit keeps the panic. The run
// ends when it next calls fault, and not in the middle of an action.
func (r *recorder) emit(e event.Event) {
	r.record(e)
	if r.tell == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.broken.CompareAndSwap(nil, lm.NewPanic("the observer of events", p))
		}
	}()
	r.tell(e)
}

// fault returns the panic of an observer, which ends the run, or nil.
func (r *recorder) fault() error {
	if broken := r.broken.Load(); broken != nil {
		return broken
	}
	return nil
}

// record adds an event to the trajectory.
func (r *recorder) record(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case event.ModelRequest:
		calls := 0
		if r.journal != nil {
			calls = len(r.ofTurn(r.journal.Entries()))
		}
		r.recordRequest(e, calls)
	case event.ModelResponse:
		r.recordResponse(e)
	case event.ReplyRejected:
		r.last().Observation = e.Observation
	case event.ProgramStart:
		if e.Compiled {
			r.Steps = append(r.Steps, Step{Began: e.Time, Compiled: true, Reply: replies.Fenced("js", e.Code)})
		}
		s := r.last()
		if s.Code != "" { // one of several calls in a step
			s.Code += "\n"
		}
		s.Code, s.Reasoning = s.Code+e.Code, e.Reasoning
	case event.ProgramEnd:
		s := r.last()
		s.Outcome, s.Observation = e.Outcome, e.Observation
	case event.RunEnd:
		r.Duration, r.Err = e.Time.Sub(r.Began), e.Err
		if len(r.Steps) == 0 {
			r.answer = e.Output
		} else if e.Err == nil {
			s := r.last()
			s.Answer, s.Reasoning = e.Output, cmp.Or(e.Reasoning, s.Reasoning)
		}
	}
}

// recordRequest records a request. It begins a step, unless the model is asked again in the same step.
func (t *Trajectory) recordRequest(e event.ModelRequest, calls int) {
	if len(t.Steps) < e.Step {
		t.Steps = append(t.Steps, Step{Began: e.Time, before: calls})
	}
	s := t.last()
	s.Predictor, s.Prompt, s.Model, s.Extracted = e.Predictor, e.Messages, e.Model, e.Extract
	s.Tools, s.Schema, t.Inputs = e.Options.Tools, e.Schema, e.Inputs
	t.Fallback = cmp.Or(t.Fallback, e.Fallback)
	s.Usage.Calls++ // counts the call until its response reports the usage
}

func (t *Trajectory) recordResponse(e event.ModelResponse) {
	s := t.last()
	s.Reply, s.Thinking, s.Truncated, s.FinishReason = e.Text, e.Thinking, e.Truncated, e.FinishReason
	s.Model, s.Failed = cmp.Or(e.Model, s.Model), cmp.Or(e.Failed, s.Failed)
	s.Usage.Calls--
	s.Usage = s.Usage.Add(e.Usage)
	s.Duration += e.Duration
}

// recordScore records the score of an attempt, remembers the best attempt, and reports the score to observers.
func (r *recorder) recordScore(attempt *recorder, number int, s Score) {
	attempt.score(s)
	r.mu.Lock()
	if r.best == nil || s.Value > r.highest {
		r.best, r.highest = attempt, s.Value
	}
	r.mu.Unlock()
	r.emit(event.Scored{Origin: r.at(number), Value: s.Value, Feedback: s.Feedback})
}

func (r *recorder) score(s Score) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Score = &s
}

// keepCalls makes a turn of j the source of the trajectory's Calls.
func (r *recorder) keepCalls(j *journal.Journal, turn int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal, r.turn = j, turn
}

// ofTurn returns those of the journal's entries that the run made. Other turns of a [Chat], or
// earlier runs of a [Tool], made the rest.
func (r *recorder) ofTurn(entries []journal.Entry) []journal.Entry {
	return slices.DeleteFunc(entries, func(e journal.Entry) bool { return e.Turn != r.turn })
}

// keepUsageOnly makes the enclosing run record nothing of this run but its usage.
func (r *recorder) keepUsageOnly() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usageOnly = true
}

// keepOrphans adds entries to the trajectory's Orphans.
func (r *recorder) keepOrphans(entries []journal.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Orphans = append(r.Orphans, entries...)
}

// keepEvidence sets the trajectory's Evidence.
func (r *recorder) keepEvidence(facts []sandbox.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Evidence = facts
}

// incomplete ends the run without an answer.
func (r *recorder) incomplete(err error) error {
	if r.journal != nil {
		r.journal.End()
	}
	if r.stopped != nil {
		err = r.stopped(err)
	}
	r.emit(event.RunEnd{Origin: r.at(0), Err: err})
	return withTrajectory(err, r.trajectory())
}

// withTrajectory returns err as an IncompleteError with the trajectory t, or err itself if nothing was done.
func withTrajectory(err error, t Trajectory) error {
	if part := incompleteIn(err); part != nil {
		t.merge(part.Trajectory)
	}
	if t.empty() {
		return err
	}
	if part, direct := err.(*IncompleteError); direct && part != nil {
		err = part.Err
	}
	t.Err = err
	return &IncompleteError{Err: err, Trajectory: t}
}

// merge adds the runs in o that t does not have. It reports whether there were any.
func (t *Trajectory) merge(o Trajectory) (added bool) {
	known := map[uint64]bool{}
	t.eachRun(func(run Trajectory) bool { known[run.ID] = true; return true })
	t.Runs = slices.Clone(t.Runs)
	o.eachRun(func(run Trajectory) bool {
		if !known[run.ID] {
			t.Runs, added = append(t.Runs, run), true
		}
		return false
	})
	return added
}

// eachRun calls f for t and the runs within it. For a group, which has no ID, it calls f only for the runs in the
// group. If f returns false for a run, eachRun skips the runs within that run.
func (t Trajectory) eachRun(f func(Trajectory) bool) {
	if t.ID != 0 && !f(t) {
		return
	}
	for _, run := range t.Runs {
		run.eachRun(f)
	}
}
