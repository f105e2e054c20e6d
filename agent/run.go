package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// run is a durable run that this process owns. It records the run of the module, and is the desk at which its calls
// wait for decisions.
type run struct {
	id      string
	log     *runLog
	replies *models.Store
	close   func()
	asks    bool                                  // see [Runs].AskHolds
	prepare func(context.Context) context.Context // see [RunnerOptions].Context; may be nil

	pausing atomic.Bool // the run must not do anything visible any more
	paused  atomic.Bool // a part of the run has paused, so an answer does not count
	managed bool        // a Runner runs it

	mu         sync.Mutex
	milestones []milestone          // of earlier processes, and of this one
	going      bool                 // the run is in progress
	over       bool                 // it was in progress, and the milestone of its end is recorded
	again      bool                 // it must go on after it has paused, because decisions were recorded meanwhile
	stopping   bool                 // its Runner pauses it, so it must go on later
	given      map[string][]decided // all decisions, by call
	answered   map[string]decided   // those since the run last began or went on

	opened   map[string]int              // how many journals with a name were opened
	within   map[string]bool             // the calls that run modules, whose calls have journals of their own
	calls    effect.Within               // the journals of these runs
	agents   map[string][]string         // whose calls a journal has, by the journal's key
	journals map[string]*journal.Journal // by the run that their effects' IDs name
	grants   policy.Grants
	decided  map[string]Decision // by decisionKey
	waiting  []Waiting
	still    map[string]Waiting // the calls that go on waiting, because nobody has decided on them
}

var _ durable.Run = (*run)(nil)

func newRun(id string, log journal.Log) (*run, error) {
	parts, err := divide(log)
	if err != nil {
		return nil, err
	}
	r := &run{id: id, log: parts, opened: map[string]int{}, within: map[string]bool{},
		journals: map[string]*journal.Journal{}, agents: map[string][]string{},
		decided: map[string]Decision{}, answered: map[string]decided{}, given: map[string][]decided{}}
	for i, record := range parts.parts["run"] {
		var m milestone
		if err := json.Unmarshal(record, &m); err != nil {
			return nil, badRecord("run", i, err)
		}
		r.milestones = append(r.milestones, m)
	}
	if first := slices.Concat(r.milestones, []milestone{{}})[0]; parts.count > 0 && first.Format != logFormat {
		return nil, fmt.Errorf("its log has the format %q, but this version of Writ reads %q", first.Format, logFormat)
	}
	for i, record := range parts.parts["decision"] {
		var d decided
		if err := json.Unmarshal(record, &d); err != nil {
			return nil, badRecord("decision", i, err)
		}
		if err := r.apply(d); err != nil {
			return nil, badRecord("decision", i, err)
		}
		if i < len(parts.parts["decision"])-parts.since {
			clear(r.answered)
		}
	}
	for i, record := range parts.parts["within"] {
		var o effect.Opening
		if err := json.Unmarshal(record, &o); err != nil {
			return nil, badRecord("within", i, err)
		}
		r.calls.Restore(o)
	}
	r.replies, err = models.OpenStore(&models.StoreOptions{Mode: models.Resume, Log: parts.part("model")})
	return r, err
}

func badRecord(part string, i int, err error) error {
	return fmt.Errorf("record %d of the part %q is invalid: %w; restore the store from a backup, or remove the run",
		i+1, part, err)
}

func (r *run) info() (RunInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.describe()
}

// describe returns the RunInfo. The caller holds the lock.
func (r *run) describe() (RunInfo, error) {
	if len(r.milestones) == 0 {
		return RunInfo{}, fmt.Errorf("%w: %s", ErrNoRun, r.id)
	}
	first, last := r.milestones[0], r.milestones[len(r.milestones)-1]
	info := RunInfo{ID: r.id, State: last.State, Principal: first.Principal, Began: first.At, Input: first.Input,
		Output: last.Output, Error: last.Error, attempts: r.attempts()}
	switch {
	case r.going && !r.over:
		info.State = Running
	case slices.Contains([]RunState{Done, Failed, Cancelled, RolledBack}, last.State):
		info.Ended = last.At
	}
	for _, w := range last.Waiting {
		if d, ok := r.answered[w.ID]; !ok || !canonical.Equal(d.Args, w.Args) {
			info.Waiting = append(info.Waiting, w)
		}
	}
	return info, nil
}

// reach records a milestone.
func (r *run) reach(m milestone) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record(m)
}

// finish records how the run in progress has ended, unless it was cancelled.
func (r *run) finish(m milestone) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return errCancelled
	}
	r.over = true
	return r.record(m)
}

// left describes a run that is no longer in progress, even if its end could not be recorded.
func (r *run) left() (RunInfo, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.describe()
}

// record records a milestone. The caller holds the lock.
func (r *run) record(m milestone) error {
	m.At = time.Now()
	if err := r.keep("run", m); err != nil {
		return err
	}
	r.milestones = append(r.milestones, m)
	return nil
}

// keep appends a record to a part of the log, durably.
func (r *run) keep(part string, v any) error {
	record, err := json.Marshal(v)
	p := r.log.part(part)
	if err == nil {
		err = p.Append(record)
	}
	if err == nil {
		err = p.Sync()
	}
	if err != nil {
		return fmt.Errorf("agent: run %s cannot be recorded: %w", r.id, err)
	}
	return nil
}

// Model implements [durable.Run].
func (r *run) Model(ctx context.Context, m llms.Model, predictor string) (llms.Model, error) {
	if r.pausing.Load() {
		r.paused.Store(true)
		return nil, place.ErrPaused
	}
	if err := r.sync(ctx); err != nil { // a request shows the results of calls to the model
		return nil, err
	}
	call := effect.Of(ctx)
	return r.replies.Model(m, call.Run+":"+call.Entry+durable.BranchOf(ctx)+" "+predictor), nil
}

// Resumed implements [durable.Run].
func (r *run) Resumed() (times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.attempts()-1)
}

// attempts returns how often the run has begun or gone on. It is interrupted, as far as the record says, when it does.
// The caller holds the lock.
func (r *run) attempts() (times int) {
	for _, m := range r.milestones {
		if m.State == Interrupted {
			times++
		}
	}
	return times
}

// sync makes the journals durable. The error may also be that the run is not repeated as it was recorded.
func (r *run) sync(ctx context.Context) error {
	r.mu.Lock()
	journals := slices.Collect(maps.Values(r.journals))
	r.mu.Unlock()
	for _, j := range journals {
		if err := j.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Journal implements [durable.Run]. The name of a journal is the same when the module runs again.
func (r *run) Journal(
	ctx context.Context, predictor string, inputs any, o *journal.Options,
) (j *journal.Journal, turn int, err error) {
	call := effect.Of(ctx)
	name, err := json.Marshal([]any{call.Root(), durable.BranchOf(ctx), predictor, inputs})
	if err != nil {
		return nil, 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within[call.Run+":"+call.Entry] = true
	opened := &effect.Opening{}
	if call.Within != nil {
		opened = durable.Find(ctx, &r.calls, call.Root()+" "+predictor, inputs)
	}
	if opened.Key == "" {
		sum := sha256.Sum256(fmt.Append(name, r.opened[string(name)]))
		r.opened[string(name)]++
		opened.Key = fmt.Sprintf("%s/%x", r.id, sum[:6])
	}
	r.agents[opened.Key] = effect.Agents(ctx)
	if call.Within != nil && !opened.Known {
		if err := r.keep("within", opened); err != nil {
			return nil, 0, err
		}
	}
	if j = r.journals[opened.Key]; j == nil {
		if j, err = r.open(opened.Key, elsewhere(ctx, opened.Key, o)); err != nil {
			return nil, 0, err
		}
	}
	if opened.Again {
		turn = j.Continue(call.Call())
	}
	return j, turn, nil
}

// open opens the journal with a key.
func (r *run) open(key string, o *journal.Options) (*journal.Journal, error) {
	options := journal.Options{}
	if o != nil {
		options = *o
	}
	if options.Run = key; options.OnRepeat == nil {
		options.OnRepeat = func(id string, c tools.Call, like []journal.Entry) (*tools.Repeat, error) {
			return r.onRepeat(key+":"+id, c, like)
		}
	}
	j, err := journal.Open(r.log.part(callsOf+key), &options)
	if err != nil {
		return nil, err
	}
	r.journals[key] = j
	return j, nil
}

// maxLike and maxResult are the number of calls in Waiting.Resembles, and the bytes of their results.
const maxLike, maxResult = 20, 4 << 10

// onRepeat returns a person's answer to a question about a held call, if there is one. If the person is to be asked, it
// pauses the run.
func (r *run) onRepeat(id string, c tools.Call, like []journal.Entry) (*tools.Repeat, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.decided[decisionKey(id, c.Args)]; ok || !r.asks {
		if d.Repeat == nil || reflect.ValueOf(*d.Repeat).IsZero() {
			return nil, nil
		}
		return d.Repeat, nil
	}
	like = slices.Clone(like[:min(len(like), maxLike)])
	for i := range like {
		if len(like[i].Result) > maxResult {
			like[i].Result = nil
		}
	}
	key, _, _ := strings.Cut(id, ":")
	w := Waiting{ID: id, Tool: c.Tool.Path(), Args: c.Args, Destructive: c.Tool.Hints.Destructive, Resembles: like,
		Agents: r.agents[key]}
	if lines := strings.Split(c.Program, "\n"); c.Line > 0 && c.Line <= len(lines) {
		w.Line, w.Source = c.Line, display.Text(strings.TrimSpace(lines[c.Line-1]))
	}
	r.waiting = append(r.waiting, w)
	r.pausing.Store(true)
	r.paused.Store(true)
	return nil, place.ErrPaused
}

// callsOf begins the names of the parts with journals. The ID of the journal's run follows.
const callsOf = "calls "

// gate is the outermost policy. It stops calls if the run is to pause.
func (r *run) gate(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if r.pausing.Load() || r.waits(ctx, c) {
			r.paused.Store(true)
			if _, ok := place.Park(ctx); ok {
				<-ctx.Done()
			}
			return nil, tools.Fatal(place.ErrPaused)
		}
		return next.Call(ctx, c)
	})
}

// waits reports whether a call goes on waiting, even if no policy asks about it any more.
func (r *run) waits(ctx context.Context, c tools.Call) bool {
	id := tools.EffectID(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.still[id]
	if !ok {
		return false
	}
	_, covered := r.grants.Covers(policy.Request{ID: id, Tool: c.Tool.Path(), Call: c}, time.Now())
	if !covered {
		r.waiting = append(r.waiting, w)
	}
	return !covered
}

// observe makes the whole run pause if a module within it has paused.
func (r *run) observe(_ context.Context, e event.Event) {
	if end, ok := e.(event.RunEnd); ok && errors.Is(end.Err, place.ErrPaused) {
		r.pausing.Store(true)
		r.paused.Store(true)
	}
}

// Decide implements [policy.Desk].
func (r *run) Decide(_ context.Context, q policy.Request) (policy.Decision, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.decided[decisionKey(q.ID, q.Call.Args)]; ok {
		return d.Decision, true
	}
	now := time.Now()
	if d, ok := r.grants.Covers(q, now); ok {
		// If the record fails, the call is not made, because its journal has the same log.
		_ = r.keep("decision", decided{Call: q.ID, Tool: q.Tool, Args: q.Call.Args, At: now})
		return d, true
	}
	r.waiting = append(r.waiting, Waiting{ID: q.ID, Tool: q.Tool, Args: q.Call.Args, Destructive: q.Destructive,
		Agents: q.Agents, Line: q.Line, Source: q.Source})
	return policy.Decision{}, false
}

// ended records how a run ended that has no answer.
func (r *run) ended(ctx context.Context, err error) error {
	waiting := r.unknown(err)
	stopped := r.managed && errors.Is(context.Cause(ctx), queue.ErrStopped)
	if !errors.Is(err, place.ErrPaused) && !r.pausing.Load() && !stopped && len(waiting) == 0 {
		if failed := r.finish(milestone{State: Failed, Error: err.Error()}); failed != nil {
			return failed
		}
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return errCancelled
	}
	r.over = true
	waiting = append(waiting, r.waiting...)
	for i := range waiting {
		waiting[i].Round = len(r.given[waiting[i].ID])
	}
	slices.SortFunc(waiting, func(a, b Waiting) int { // E2 before E10
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	state := Paused
	if r.again || (stopped || r.stopping) && len(waiting) == 0 {
		state = Queued
	}
	if err := r.record(milestone{State: state, Waiting: waiting}); err != nil {
		return err
	}
	r.log.end()
	return &PausedError{Checkpoint: r.checkpoint(waiting), Err: err}
}
