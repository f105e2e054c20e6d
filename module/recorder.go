package module

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
)

// recorder builds the trajectory of a run from its events. A run within it has a recorder of its own, which
// the enclosing recorder lists from the beginning, so that nothing is lost, even if the run panics.
//
// Only emit writes the embedded trajectory, with the lock held. The goroutine of the run reads it without the
// lock; others call trajectory.
type recorder struct {
	Trajectory
	origin  Origin
	tell    func(Event) // nil if there is no observer
	scope   scope
	journal *journal.Journal           // of a module that calls tools; or nil
	broken  atomic.Pointer[PanicError] // the first panic of an observer

	mu        sync.Mutex
	usageOnly bool // the enclosing run keeps only the usage
	within    []*recorder
	best      *recorder // the one within that has the highest score
	highest   float64   // its score
}

// begin begins a run of a module. It returns the context for everything within the run.
func begin(
	ctx context.Context, module, name string, onEvent func(context.Context, Event),
) (context.Context, *recorder) {
	s := scopeOf(ctx)
	r := &recorder{origin: Origin{Module: module, Name: name, Run: rand.Uint64(), Parent: s.run.id()}}
	r.ID, r.Module, r.Name, r.Began = r.origin.Run, module, name, time.Now()
	s.run.add(r)
	r.scope = s
	r.scope.run = r
	ctx = r.scope.in(ctx)
	if tell := both(s.tell, onEvent); tell != nil {
		r.tell = func(e Event) { tell(ctx, e) }
	}
	r.emit(RunStart{r.at(0)})
	return ctx, r
}

// group returns a recorder for a run of any module, which may be one of the user's and make several runs.
func group(ctx context.Context) *recorder {
	s := scopeOf(ctx)
	g := &recorder{origin: Origin{Parent: s.run.id()}}
	s.run.add(g)
	return g
}

// settle makes t the trajectory of the group.
func (r *recorder) settle(t Trajectory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Trajectory, r.within = t, nil
}

// id returns the ID of the run; for a group, that of the enclosing run.
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

// count adds the usage of a run that has ended to Spent, and forgets the run itself.
func (r *recorder) count(ended *recorder) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within = slices.DeleteFunc(r.within, func(w *recorder) bool { return w == ended })
	t := ended.trajectory()
	r.Spent.merge(t.UsageByModel())
}

// trajectory returns what the run has done so far, with the runs within it.
func (r *recorder) trajectory() Trajectory {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.Trajectory
	t.Steps, t.Runs, t.Spent = slices.Clone(t.Steps), slices.Clone(t.Runs), maps.Clone(t.Spent)
	if r.journal != nil {
		t.Calls = r.journal.Entries()
	}
	for _, w := range r.within {
		part, usageOnly := w.part()
		switch {
		case usageOnly:
			t.Spent.merge(part.UsageByModel())
		case !part.empty():
			t.Runs = append(t.Runs, part)
			if w == r.best {
				t.Chosen = len(t.Runs)
			}
		}
	}
	return t
}

// part returns what the enclosing run records of a run or a group.
func (r *recorder) part() (t Trajectory, usageOnly bool) {
	t = r.trajectory().collapsed()
	r.mu.Lock()
	defer r.mu.Unlock()
	return t, r.usageOnly
}

// collapsed returns the only run of a group that has just one, or t.
func (t Trajectory) collapsed() Trajectory {
	if t.ID != 0 || len(t.Runs) != 1 || t.Chosen > 0 {
		return t
	}
	only := t.Runs[0]
	only.Score = cmp.Or(t.Score, only.Score)
	return only
}

// at returns the origin of an event that happens now, in a step.
func (r *recorder) at(step int) Origin {
	o := r.origin
	o.Time, o.Step = time.Now(), step
	return o
}

// emit adds an event to the trajectory and calls the observers. If an observer panics, the run ends, but not
// in the middle of an action: see fault.
func (r *recorder) emit(e Event) {
	r.record(e)
	if r.tell == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.broken.CompareAndSwap(nil, newPanic("the observer of events", p))
		}
	}()
	r.tell(e)
}

// fault returns the panic of an observer, which ends the run.
func (r *recorder) fault() error {
	if broken := r.broken.Load(); broken != nil {
		return broken
	}
	return nil
}

// record adds an event to the trajectory.
func (r *recorder) record(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case ModelRequest:
		calls := 0
		if r.journal != nil {
			calls = len(r.journal.Entries())
		}
		r.requested(e, calls)
	case ModelResponse:
		r.responded(e)
	case ReplyRejected:
		r.last().Observation = e.Observation
	case ProgramStart:
		if e.Compiled {
			r.Steps = append(r.Steps, Step{Began: e.Time, Compiled: true, Reply: replies.Fenced("js", e.Code)})
		}
		s := r.last()
		if s.Code != "" { // one of several calls in a step
			s.Code += "\n"
		}
		s.Code, s.Reasoning = s.Code+e.Code, e.Reasoning
	case ProgramEnd:
		s := r.last()
		s.Outcome, s.Observation = e.Outcome, e.Observation
	case FellBack:
		r.Fallback = e.Reason
	case Scored:
		r.scored(e)
	case Answered:
		r.Duration = e.Time.Sub(r.Began)
		if len(r.Steps) == 0 {
			r.answer = e.Output
			return
		}
		s := r.last()
		s.Answer, s.Reasoning = e.Output, cmp.Or(e.Reasoning, s.Reasoning)
	case Failed:
		r.Duration, r.Err = e.Time.Sub(r.Began), e.Err
	}
}

// inProgress is the usage of a request until its response.
var inProgress = Usage{Calls: 1}

// requested begins a step, unless the model is asked again in the same step.
func (t *Trajectory) requested(e ModelRequest, calls int) {
	if len(t.Steps) < e.Step {
		t.Steps = append(t.Steps, Step{Began: e.Time, before: calls})
	}
	s := t.last()
	s.Predictor, s.Prompt, s.Model, s.Extracted = e.Predictor, e.Messages, e.Model, e.extract
	s.Tools, s.Schema = e.Options.Tools, e.Schema
	s.Usage.add(inProgress)
}

func (t *Trajectory) responded(e ModelResponse) {
	s := t.last()
	s.Reply, s.Thinking, s.Truncated, s.FinishReason = e.Text, e.Thinking, e.Truncated, e.FinishReason
	s.Model = cmp.Or(e.Model, s.Model)
	s.Usage.sub(inProgress)
	s.Usage.add(e.Usage)
	s.Duration += e.Duration
}

// scored records the score of an attempt, and which attempt is the best.
func (r *recorder) scored(e Scored) {
	e.attempt.score(e.Score)
	if r.best == nil || e.Score.Value > r.highest {
		r.best, r.highest = e.attempt, e.Score.Value
	}
}

func (r *recorder) score(s Score) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Score = &s
}

// keepCalls makes j the source of the trajectory's Calls.
func (r *recorder) keepCalls(j *journal.Journal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal = j
}

// keepUsageOnly makes the enclosing run record nothing of this run but its usage.
func (r *recorder) keepUsageOnly() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usageOnly = true
}

// keepOrphans adds to the effects that no accepted program asked for.
func (r *recorder) keepOrphans(entries []journal.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Orphans = append(r.Orphans, entries...)
}

// keepEvidence sets the facts that contradict the answer.
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
	r.emit(Failed{r.at(0), err})
	return withTrajectory(err, r.trajectory())
}

// withTrajectory returns the error of a module that did everything in t. It is err itself if nothing was done.
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

// merge adds the runs of o that t does not have. It reports whether there were any.
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

// eachRun calls f for the runs that have an ID, and for the runs within those for which f returns true.
func (t Trajectory) eachRun(f func(Trajectory) bool) {
	if t.ID != 0 && !f(t) {
		return
	}
	for _, run := range t.Runs {
		run.eachRun(f)
	}
}
