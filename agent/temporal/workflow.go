package temporal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/agent"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Names of the parts of a workflow, and the limits of what it does at once.
const (
	activityAdvance = "Advance"
	activityCall    = "Call"
	activityAsk     = "Ask"
	decideName      = "decide"   // of the Update and of the Signal
	waitingName     = "waiting"  // of the Query
	noAnswer        = "NoAnswer" // the type of the error of a run without an answer

	maxJobs         = 24              // in progress at the same time: an activity takes 2 MB
	maxLate         = 4               // results that are kept although the journal calls the outcomes unknown
	maxAnswers      = 8               // about other calls than unknown ones, for which the run goes on at once
	maxAnswer       = 16 << 10        // bytes
	maxFinished     = 1000            // in one execution of the workflow
	ownQueueTimeout = 5 * time.Second // until the worker that has a run in memory counts as lost
	firstPoll       = time.Second     // doubles until something happens
)

// flow is an execution of a workflow. It computes nothing that takes time, and reads no objects.
type flow struct {
	state
	name     string
	beat     time.Duration // Options.Heartbeat
	run      string        // its ID in the journal
	finished int           // jobs that have ended in this execution
	advanced int           // how often the run went on in this execution
	running  []job
	waiting  []waitingCall
	answered map[string]bool
}

// workflow is the workflow of an agent.
func (a *Agent) workflow(ctx workflow.Context, s state) (ending, error) {
	f := &flow{state: s, name: a.name, beat: a.options.Heartbeat, run: runOf(workflow.GetInfo(ctx)),
		answered: map[string]bool{}}
	if err := f.handle(ctx); err != nil {
		return ending{}, err
	}
	for poll := firstPoll; ; {
		p, err := f.advance(ctx)
		switch {
		case err != nil:
			return ending{}, err
		case p.State == agent.Done:
			return p.ending, nil
		case p.State == agent.Failed:
			return ending{}, temporal.NewNonRetryableApplicationError(p.Error, p.Kind, nil, p.Trajectory)
		case f.full(ctx) && len(f.running) == 0 && len(f.waiting) == 0 && f.Finished == f.Delivered:
			return ending{}, workflow.NewContinueAsNewError(ctx, a.name, f.state)
		}
		for _, j := range p.Jobs {
			f.start(ctx, j)
		}
		news := func() bool { return f.Finished > f.Delivered || f.decided() > 0 }
		if !p.Busy {
			err = workflow.Await(ctx, news)
		} else {
			if poll *= 2; len(p.Jobs) > 0 || len(p.Recorded) > 0 {
				poll = firstPoll
			}
			if p.Poll > 0 {
				poll = min(poll, p.Poll)
			}
			timed, cancel := workflow.WithCancel(ctx)
			_, err = workflow.AwaitWithTimeout(timed, poll, news)
			cancel()
		}
		if err != nil {
			return ending{}, err
		}
	}
}

// runOf returns the ID of the run in the journal. It differs if a workflow's ID is used again.
func runOf(info *workflow.Info) string {
	id := strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, info.WorkflowExecution.ID)
	first := strings.ReplaceAll(cmp.Or(info.FirstRunID, info.WorkflowExecution.RunID), "-", "")
	return fmt.Sprintf("w%.80s.%.32s", id, first)
}

// handle registers what a workflow answers.
func (f *flow) handle(ctx workflow.Context) error {
	accept := func(a Answer) {
		a.Decision.Round = f.waiting[f.find(a)].Round
		f.Answers, f.answered[a.Call] = append(f.Answers, a), true
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, decideName,
		func(_ workflow.Context, a Answer) error { accept(a); return nil },
		workflow.UpdateHandlerOptions{Validator: func(_ workflow.Context, a Answer) error { return f.check(a) }})
	if err != nil {
		return err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		signals := workflow.GetSignalChannel(ctx, decideName)
		for a := (Answer{}); signals.Receive(ctx, &a); a = (Answer{}) {
			if err := f.check(a); err != nil {
				workflow.GetLogger(ctx).Warn("temporal: a signal was ignored", "error", err)
			} else {
				accept(a)
			}
		}
	})
	return workflow.SetQueryHandler(ctx, waitingName, func() ([]waitingCall, error) {
		return slices.DeleteFunc(slices.Clone(f.waiting), func(w waitingCall) bool { return f.answered[w.ID] }), nil
	})
}

// find returns the index of the waiting call that an answer is for, or -1.
func (f *flow) find(a Answer) int {
	return slices.IndexFunc(f.waiting, func(w waitingCall) bool { return w.ID == a.Call })
}

// check says why an answer is not accepted.
func (f *flow) check(a Answer) error {
	i := f.find(a)
	switch {
	case i < 0:
		return fmt.Errorf("temporal: no call %.200s waits for a decision", a.Call)
	case f.answered[a.Call]:
		return fmt.Errorf("temporal: the call %s has a decision", a.Call)
	}
	if text, err := json.Marshal(a); err != nil || len(text) > maxAnswer {
		return fmt.Errorf("temporal: the decision on %s has more than %d bytes; use Agent.Decide", a.Call, maxAnswer)
	}
	if err := a.Decision.Check(f.waiting[i].Waiting); err != nil {
		return fmt.Errorf("temporal: the decision on %s: %w", a.Call, err)
	}
	return nil
}

// decided returns for how many answers the run goes on: for none while it does not wait, since it would not look at
// them, or while a call whose outcome is unknown has no answer, since it would stop at that call.
func (f *flow) decided() int {
	unknown := 0
	for _, w := range f.waiting {
		if w.Unknown && !f.answered[w.ID] {
			return 0
		} else if w.Unknown {
			unknown++
		}
	}
	if len(f.waiting) == 0 {
		return 0
	}
	return min(len(f.Answers), unknown+maxAnswers)
}

// full reports whether the execution is to start no further jobs, because its history is long.
func (f *flow) full(ctx workflow.Context) bool {
	return f.finished >= maxFinished || f.advanced > 1 && workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// advance makes the run go on, with the results and decisions that have come.
func (f *flow) advance(ctx workflow.Context) (p progress, err error) {
	known := func(a Answer) int { // first those about unknown calls, which the run needs together
		if i := f.find(a); i >= 0 && f.waiting[i].Unknown {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(f.Answers, func(a, b Answer) int { return known(a) - known(b) })
	in := advance{Run: f.run, Module: f.Module, Results: slices.Clone(f.Results),
		Answers: slices.Clone(f.Answers[:f.decided()]), Room: maxJobs - len(f.running)}
	f.Delivered = f.Finished
	for _, j := range f.running {
		in.Running = append(in.Running, j.ID)
	}
	if !f.Began {
		in.Input = &f.Input
	}
	if f.full(ctx) {
		in.Room = 0
	}
	options := workflow.ActivityOptions{ // a run may compute for long
		StartToCloseTimeout: 24 * time.Hour, HeartbeatTimeout: f.beat,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: 10 * time.Second},
	}
	activity := f.name + activityAdvance
	err = errors.New("no worker has the run in memory")
	if f.Queue != "" {
		own := options
		own.TaskQueue, own.ScheduleToStartTimeout = f.Queue, ownQueueTimeout
		own.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: 1}
		err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, own), activity, in).Get(ctx, &p)
	}
	if err != nil && ctx.Err() == nil {
		err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), activity, in).Get(ctx, &p)
	}
	if err != nil {
		return p, err
	}
	f.advanced++
	f.Began, f.Queue = true, p.Queue
	used := func(a Answer) bool { return !slices.Contains(p.Unused, a.Call) }
	f.Answers = slices.Concat(slices.DeleteFunc(in.Answers, used), f.Answers[len(in.Answers):])
	f.Results = slices.DeleteFunc(f.Results, func(r result) bool { return slices.Contains(p.Recorded, r.Number) })
	f.waiting = p.Waiting
	if len(f.waiting) > 0 {
		f.Answers = slices.DeleteFunc(f.Answers, func(a Answer) bool {
			i := f.find(a)
			return i < 0 || f.waiting[i].Round != a.Decision.Round // it is about an earlier question
		})
	}
	clear(f.answered)
	for _, a := range f.Answers {
		f.answered[a.Call] = true
	}
	return p, nil
}

// start starts a job. The run itself gets the reply of a model.
func (f *flow) start(ctx workflow.Context, j job) {
	f.running = append(f.running, j)
	options := workflow.ActivityOptions{
		TaskQueue: j.Queue, StartToCloseTimeout: j.Timeout, HeartbeatTimeout: f.beat,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: j.Attempts, MaximumInterval: time.Minute},
	}
	activity, in := f.name+activityCall, any(j)
	if j.Ask {
		activity, in = f.name+activityAsk, askInput{f.run, j.ID, f.Module}
		options.ScheduleToStartTimeout = ownQueueTimeout
	}
	future := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), activity, in)
	workflow.Go(ctx, func(ctx workflow.Context) {
		r := result{ID: j.ID, Digest: j.Digest}
		if err := future.Get(ctx, &r.Outcome); err != nil {
			r.Lost = fmt.Sprintf("%.1000v", err)
		}
		f.finished++
		f.Finished++
		r.Number = f.Finished
		f.running = slices.DeleteFunc(f.running, func(o job) bool { return o.ID == j.ID })
		if !j.Ask {
			f.Results = append(f.Results, r)
		}
	})
}
