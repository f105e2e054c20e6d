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

	"github.com/writ-go/writ/tools/journal"
)

// recorder folds the events of a run into its trajectory. Runs that are made within it
// have recorders of their own, which it lists from their beginning: what they did is part
// of it whatever becomes of them.
//
// The embedded trajectory is written by emit alone, under the lock. The goroutine of the
// run reads it without; others call trajectory.
type recorder struct {
	Trajectory
	origin  Origin
	tell    func(Event) // nil if nobody observes
	scope   scope
	journal *journal.Journal           // of modules that call tools; or nil
	broken  atomic.Pointer[PanicError] // the first panic of an observer
	counted bool                       // the enclosing run keeps its usage alone

	mu      sync.Mutex
	within  []*recorder
	best    *recorder // of those within, the one with the highest score
	highest float64   // its score
}

// begin begins a run of a module. The context is for everything that happens within it.
func begin(ctx context.Context, module, name string, onEvent func(context.Context, Event)) (context.Context, *recorder) {
	s := scopeOf(ctx)
	r := &recorder{origin: Origin{Module: module, Name: name, Run: rand.Uint64(), Parent: s.run.id()}}
	now := time.Now()
	r.ID, r.Module, r.Name, r.Began = r.origin.Run, module, name, now
	s.run.add(r)
	r.scope = s
	r.scope.run = r
	ctx = context.WithValue(ctx, scopeKey{}, &r.scope)
	if tell := both(s.tell, onEvent); tell != nil {
		r.tell = func(e Event) { tell(ctx, e) }
	}
	r.emit(RunStart{r.at(0)})
	return ctx, r
}

// group returns a recorder of the runs that are made by some module, which may be anybody's.
func group(ctx context.Context) *recorder {
	s := scopeOf(ctx)
	g := &recorder{}
	if s.run != nil {
		g.origin.Parent = s.run.id()
		s.run.add(g)
	}
	return g
}

// settle makes t what the group did.
func (r *recorder) settle(t Trajectory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Trajectory, r.within = t, nil
}

// id is the run that things happen in; for a group, the enclosing one.
func (r *recorder) id() uint64 {
	switch {
	case r == nil:
		return 0
	case r.origin.Run == 0:
		return r.origin.Parent
	}
	return r.origin.Run
}

func (r *recorder) add(within *recorder) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within = append(r.within, within)
}

// count takes the usage of a run that has ended into Spent, and forgets the run itself.
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

// trajectory returns what the run did until now, with the runs within it.
func (r *recorder) trajectory() Trajectory {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.Trajectory
	t.Steps, t.Runs, t.Spent = slices.Clone(t.Steps), slices.Clone(t.Runs), maps.Clone(t.Spent)
	if r.journal != nil {
		t.Calls = r.journal.Entries()
	}
	for _, w := range r.within {
		part, counted := w.part()
		switch {
		case counted:
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

// part is what the enclosing run keeps of a run or a group, or counts.
func (r *recorder) part() (t Trajectory, counted bool) {
	t = r.trajectory().collapsed()
	r.mu.Lock()
	defer r.mu.Unlock()
	return t, r.counted
}

// collapsed is the trajectory of a group: if there is only one run, that one.
func (t Trajectory) collapsed() Trajectory {
	if t.ID != 0 || len(t.Runs) != 1 || t.Chosen > 0 {
		return t
	}
	only := t.Runs[0]
	only.Score = cmp.Or(t.Score, only.Score)
	return only
}

// at is the origin of what happens now, in a step.
func (r *recorder) at(step int) Origin {
	o := r.origin
	o.Time, o.Step = time.Now(), step
	return o
}

// emit takes an event into the trajectory, and tells the observers. A panic of theirs ends
// the run, but not in the middle of what it does: see fault.
func (r *recorder) emit(e Event) {
	r.fold(e)
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

// fault is why the run must end if an observer has panicked.
func (r *recorder) fault() error {
	if broken := r.broken.Load(); broken != nil {
		return broken
	}
	return nil
}

// fold takes an event into the trajectory.
func (r *recorder) fold(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case ModelRequest:
		r.requested(e, r.callCount())
	case ModelResponse:
		r.responded(e)
	case ReplyRejected:
		r.last().Observation = e.Observation
	case ProgramStart:
		s := r.last()
		if s.Code != "" { // of several calls in one step
			s.Code += "\n"
		}
		s.Code, s.Reasoning = s.Code+e.Code, e.Reasoning
	case ProgramEnd:
		s := r.last()
		s.Outcome, s.Observation = e.Outcome, e.Observation
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

// callCount is how many calls the journal has.
func (r *recorder) callCount() int {
	if r.journal == nil {
		return 0
	}
	return len(r.journal.Entries())
}

// underway is what a request counts as until it is known what it cost.
var underway = Usage{Calls: 1}

// requested begins a step, unless the model is asked once more in the same one.
func (t *Trajectory) requested(e ModelRequest, before int) {
	if len(t.Steps) < e.Step {
		t.Steps = append(t.Steps, Step{Began: e.Time, before: before})
	}
	s := t.last()
	s.Predictor, s.Prompt, s.Model, s.Extracted = e.Predictor, e.Messages, e.Model, e.extract
	s.Tools, s.Schema = e.Options.Tools, e.Schema
	s.Usage.add(underway)
}

func (t *Trajectory) responded(e ModelResponse) {
	s := t.last()
	s.Reply, s.Thinking, s.Truncated, s.FinishReason = e.Text, e.Thinking, e.Truncated, e.FinishReason
	if e.Model != "" {
		s.Model = e.Model
	}
	s.Usage.sub(underway)
	s.Usage.add(e.Usage)
	s.Duration += e.Duration
}

// scored keeps the score with the attempt, and the best attempt.
func (r *recorder) scored(e Scored) {
	if e.attempt.score(e.Score); r.best == nil || e.Score.Value > r.highest {
		r.best, r.highest = e.attempt, e.Score.Value
	}
}

func (r *recorder) score(s Score) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Score = &s
}

// keepCalls makes the calls of a journal those of the run.
func (r *recorder) keepCalls(j *journal.Journal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.journal = j
}

// keepUsageOnly has the enclosing run keep nothing of the run but its usage.
func (r *recorder) keepUsageOnly() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counted = true
}

// keepOrphans adds to the effects that no accepted program asked for.
func (r *recorder) keepOrphans(entries []journal.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Orphans = append(r.Orphans, entries...)
}

// rescue, when deferred, makes an error of a panic, with what was done until then.
func (r *recorder) rescue(err *error) {
	if p := recover(); p != nil {
		*err = r.incomplete(newPanic("Run of "+r.origin.Module, p))
	}
}

// incomplete ends the run without an answer.
func (r *recorder) incomplete(err error) error {
	if r.journal != nil {
		r.journal.End()
	}
	r.emit(Failed{r.at(0), err})
	return &IncompleteError{Err: err, Trajectory: r.trajectory()}
}

// add takes those runs of o that t does not have.
func (t *Trajectory) add(o Trajectory) (added bool) {
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

// eachRun goes through the runs that have an ID, and through what is within those for
// which f returns true.
func (t Trajectory) eachRun(f func(Trajectory) bool) {
	if t.ID != 0 && !f(t) {
		return
	}
	for _, run := range t.Runs {
		run.eachRun(f)
	}
}

// withAll returns err as that of a module which did everything in t.
func withAll(err error, t Trajectory) error {
	if part := partOf(err); part != nil {
		t.add(part.Trajectory)
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
