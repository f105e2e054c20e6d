package vm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// stepJob returns the job that runs a step again. number is the number of earlier steps.
func stepJob(s *engine.Step, number int, limits engine.Limits) *engine.Job {
	limits.Output, limits.Argument = cmp.Or(s.Output, limits.Output), cmp.Or(s.Argument, limits.Argument)
	return &engine.Job{
		Source: s.Source, Prelude: s.Prelude, Inputs: s.Inputs, Tools: s.Tools, Submit: s.Submit,
		Limits: limits, Clock: s.Clock,
		Session: &engine.SessionJob{Step: number},
	}
}

// turn records a turn and moves the clock.
func (r *machine) turn(t engine.Turn) {
	t.At = r.clock.turn()
	if r.recording {
		r.turns = append(r.turns, t)
	}
	if len(r.turns) > engine.MaxTurns {
		r.end(&engine.Result{Failure: &engine.Failure{
			Kind: engine.KindComputeLimit, Hint: "sleep longer",
			Message: fmt.Sprintf("more than %d timers and calls in one program of a session", engine.MaxTurns),
		}})
		r.vm.Interrupt(errEnded)
	}
}

// replay is the state of a program that runs again and receives the recorded replies in the recorded order.
type replay struct {
	step    *engine.Step
	at      int // number of repeated turns
	pending map[int]callPromise
}

// rebuild runs a program from the log again, within the current run's limits.
func (r *machine) rebuild(ctx context.Context, e *Engine, s *engine.Step, limits engine.Limits) *engine.Failure {
	p := &replay{step: s, pending: map[int]callPromise{}}
	result := r.runJob(ctx, e, stepJob(s, r.steps, limits), nil, p)
	switch f := result.Failure; {
	case f != nil:
		return f
	case r.stopped:
		return diverged("the program had ended, but its rerun did not end")
	case r.issued < len(s.Replies):
		return diverged("the program made %d calls, but its rerun made %d", len(s.Replies), r.issued)
	case p.at < len(s.Turns):
		return diverged("the program waited %d times, but its rerun waited %d times", len(s.Turns), p.at)
	case result.Submitted != s.Submitted || !bytes.Equal(result.Value, s.Value):
		return diverged("the value was %.80s, but the value of the rerun was %.80s", s.Value, result.Value)
	}
	r.steps++
	return nil
}

func diverged(format string, args ...any) *engine.Failure {
	return &engine.Failure{Kind: engine.KindDiverged, Message: fmt.Sprintf(format, args...)}
}

// expect compares a call with the recorded call, and ends the run if they differ.
func (p *replay) expect(r *machine, c callPromise) {
	tool := r.scope.tools[c.Tool].Path()
	if c.ID > len(p.step.Replies) {
		r.diverge("the program made %d calls, but its rerun also made %s(%.80s)", len(p.step.Replies), tool, c.Args)
		return
	}
	then := p.step.Replies[c.ID-1]
	args := engine.Digest(c.Args)
	if then.Tool != tool || !bytes.Equal(then.Args, args) || !bytes.Equal(then.More, c.More) {
		r.diverge("call %d was %s(%.80s), but in the rerun it was %s(%.80s)", c.ID, then.Tool, then.Args, tool, args)
		return
	}
	p.pending[c.ID] = c
}

func (r *machine) diverge(format string, args ...any) {
	r.end(&engine.Result{Failure: diverged(format, args...)})
	r.vm.Interrupt(errEnded)
}

// replayTurn repeats the next recorded turn.
func (r *machine) replayTurn() {
	p := r.replay
	if p.at == len(p.step.Turns) {
		r.diverge("the program waited %d times, but its rerun waited once more", p.at)
		clear(r.waiting)
		return
	}
	t := p.step.Turns[p.at]
	p.at++
	r.clock.set(t.At)
	if t.Call != 0 {
		c, ok := p.pending[t.Call]
		if !ok {
			r.diverge("at turn %d the reply to call %d arrived, but the rerun did not make the call", p.at, t.Call)
			clear(r.waiting)
			return
		}
		c.reply = p.step.Replies[t.Call-1].Reply
		r.deliver(c)
		return
	}
	if i := r.timers.index(t.Timer); i >= 0 {
		r.timers.fire(i)
		return
	}
	r.diverge("at turn %d timer %d fired, but the rerun has no such timer", p.at, t.Timer)
	clear(r.waiting)
}
