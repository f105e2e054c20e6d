package vm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// turn begins a turn: it moves the clock and records the turn.
func (r *machine) turn(t engine.Turn) {
	if len(r.schedule) > 0 { // its first turn is t
		t, r.schedule = r.schedule[0], r.schedule[1:]
		r.clock.set(t.At)
	} else {
		t.At, r.repeating = r.clock.turn(), false
	}
	if r.turned++; !r.recording {
		return
	}
	if r.turns = append(r.turns, t); r.turned > engine.MaxTurns {
		r.end(&engine.Result{Failure: &engine.Failure{
			Kind: engine.KindComputeLimit, Hint: "sleep longer",
			Message: fmt.Sprintf("more than %d timers and calls in one program", engine.MaxTurns),
		}})
		r.vm.Interrupt(errEnded)
	}
}

// now returns the time at which new timers begin. While the program is repeated, it is the recorded time, so that the
// program does not sleep again after it has caught up.
func (r *machine) now() time.Time {
	if r.repeating {
		return r.clock.now
	}
	return time.Now()
}

// repeat repeats a recorded turn. If the reply that it delivers has not arrived, repeat only waits for a reply.
func (r *machine) repeat(t engine.Turn) {
	timer := r.timers.index(t.Timer)
	arrived := slices.IndexFunc(r.arrived, func(c callPromise) bool { return c.ID == t.Call })
	switch {
	case t.Call == 0 && timer < 0:
		r.diverge("at turn %d timer %d fired, but the rerun has no such timer", r.turned+1, t.Timer)
	case t.Call == 0:
		r.fire(timer)
	case !r.waiting[t.Call]:
		r.diverge("at turn %d the reply to call %d arrived, but the rerun did not make the call", r.turned+1, t.Call)
	case arrived < 0:
		r.wait(nil)
	default:
		r.reply(arrived)
	}
}

// checkSchedule replaces the result of a program that has not done what was recorded. If the recorded run was stopped,
// the result is the recorded one, even if the program has ended by itself this time.
func (r *machine) checkSchedule() {
	f := r.result.Failure
	switch {
	case !r.started, f != nil && (f.Kind == engine.KindDiverged || f.Kind == engine.KindStopped):
	case len(r.schedule) == 0 && r.stop != nil:
		r.result = r.stop
	case len(r.schedule) > 0 && !r.stopped:
		how := ""
		if f != nil {
			how = " and then failed: " + f.Message
		}
		r.result = &engine.Result{Failure: diverged("the program waited %d times, but its rerun waited %d times%s",
			r.turned+len(r.schedule), r.turned, how)}
	}
}

func diverged(format string, args ...any) *engine.Failure {
	return &engine.Failure{Kind: engine.KindDiverged, Message: fmt.Sprintf(format, args...)}
}

func (r *machine) diverge(format string, args ...any) {
	r.end(&engine.Result{Failure: diverged(format, args...)})
	r.vm.Interrupt(errEnded)
}

// rebuild runs a session's program from the log again, within the current run's limits.
func (r *machine) rebuild(ctx context.Context, e *Engine, s *engine.Step, limits engine.Limits) *engine.Failure {
	limits.Output, limits.Argument = cmp.Or(s.Output, limits.Output), cmp.Or(s.Argument, limits.Argument)
	job := &engine.Job{
		Source: s.Source, Prelude: s.Prelude, Inputs: s.Inputs, Tools: s.Tools, Submit: s.Submit,
		Limits: limits, Clock: s.Clock, Turns: s.Turns,
		Session: &engine.SessionJob{Step: r.steps}, // r.steps is the number of earlier programs
	}
	result := r.runJob(ctx, e, job, recordedHost{step: s, run: r}, true)
	switch f := result.Failure; {
	case f != nil:
		return f
	case r.stopped:
		return diverged("the program had ended, but its rerun did not end")
	case r.issued < len(s.Replies):
		return diverged("the program made %d calls, but its rerun made %d", len(s.Replies), r.issued)
	case result.Submitted != s.Submitted || !bytes.Equal(result.Value, s.Value):
		return diverged("the value was %.80s, but the value of the rerun was %.80s", s.Value, result.Value)
	}
	r.steps++
	return nil
}

// recordedHost answers the calls of a session's program with the recorded replies. It implements [engine.Host].
type recordedHost struct {
	engine.PassiveHost
	step *engine.Step
	run  *machine
}

// Call implements [engine.Host]. It ends the run if the call differs from the recorded one.
func (h recordedHost) Call(c engine.Call, reply func(engine.Reply)) {
	tool, args, replies := h.step.Tools[c.Tool].Path(), engine.Digest(c.Args), h.step.Replies
	if c.ID > len(replies) {
		h.run.diverge("the program made %d calls, but its rerun also made %s(%.80s)", len(replies), tool, c.Args)
		return
	}
	then := replies[c.ID-1]
	if then.Tool != tool || !bytes.Equal(then.Args, args) || !bytes.Equal(then.More, c.More) {
		h.run.diverge("call %d was %s(%.80s), but in the rerun it was %s(%.80s)",
			c.ID, then.Tool, then.Args, tool, args)
		return
	}
	go reply(then.Reply)
}
