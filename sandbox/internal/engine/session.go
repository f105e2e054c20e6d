package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// SessionJob says what a program follows on.
type SessionJob struct {
	Key  string `json:"key"`
	Step int    `json:"step"`           // how many programs have run before
	Kept bool   `json:"kept"`           // only for an engine that has a VM of the session: nothing else is told
	List bool   `json:"list,omitempty"` // of a program that is refused, list the session's variables

	// Log is what they were, for an engine that has no VM of the session.
	Log []Step `json:"log,omitempty"`

	// Inputs are constants of every program of the session, for such an engine.
	Inputs []Input `json:"inputs,omitempty"`
}

// Step is a program of a session that has ended well, and what is needed to run
// it again exactly.
type Step struct {
	Source string `json:"source"`
	// Prelude is what ran before it. Its text is only with the first program that
	// had it.
	Prelude *Prelude  `json:"prelude,omitempty"`
	Inputs  []Input   `json:"inputs,omitempty"`
	Tools   []Binding `json:"tools,omitempty"` // those that it has seen
	Submit  bool      `json:"submit,omitempty"`

	// Limits whose errors the program may have caught.
	Output   int `json:"output,omitempty"`
	Argument int `json:"argument,omitempty"`

	Clock *Clock `json:"clock,omitempty"`

	Calls     []Answered      `json:"calls,omitempty"`
	Turns     []Turn          `json:"turns,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
	Submitted bool            `json:"submitted,omitempty"`
}

// job is the step's program, which so many went before.
func (s *Step) job(number int, limits Limits) *Job {
	limits.Output, limits.Argument = cmp.Or(s.Output, limits.Output), cmp.Or(s.Argument, limits.Argument)
	return &Job{
		Source: s.Source, Prelude: s.Prelude, Inputs: s.Inputs, Tools: s.Tools, Submit: s.Submit, Limits: limits, Clock: s.Clock,
		Session: &SessionJob{Step: number},
	}
}

// Answered is a call that was made, and its reply.
type Answered struct {
	Tool  string          `json:"tool"` // as the program writes it
	Args  json.RawMessage `json:"args"` // their [Digest]
	More  json.RawMessage `json:"more,omitempty"`
	Reply Reply           `json:"reply"`
}

// longArgs is how many bytes of arguments are recorded as they are.
const longArgs = 512

// Digest is what is recorded of a call's arguments: all that is needed to tell
// them from others.
func Digest(args json.RawMessage) json.RawMessage {
	if len(args) <= longArgs {
		return args
	}
	return fmt.Appendf(nil, `"%d bytes, SHA-256 %x"`, len(args), sha256.Sum256(args))
}

// Turn is one thing for which the loop woke the program.
type Turn struct {
	Call  int   `json:"call,omitempty"`  // the reply to this call came
	Timer int64 `json:"timer,omitempty"` // this timer fired
	At    int64 `json:"at"`              // what the clock showed from then on, in ms since 1970
}

// MaxTurns bounds the record of one program; one more ends it.
const MaxTurns = 100_000

// turn notes a turn, and moves the clock.
func (r *run) turn(t Turn) {
	t.At = r.clock.turn(r.timers.dueOf(t.Timer))
	if r.recording {
		r.turns = append(r.turns, t)
	}
	if len(r.turns) > MaxTurns {
		r.end(&Result{Failure: &Failure{
			Kind: WaitLimit, Message: fmt.Sprintf("more than %d timers and calls in one program of a session", MaxTurns),
			Hint: "sleep longer",
		}})
		r.vm.Interrupt(errEnded)
	}
}

// replay is a program that runs again: it gets what it got, in that order.
type replay struct {
	step    *Step
	at      int // turns that have been
	pending map[int]letter
}

// rebuild runs a program of the log again, within limits that are not those which
// it had.
func (r *run) rebuild(ctx context.Context, e *Engine, s *Step, limits Limits) *Failure {
	p := &replay{step: s, pending: map[int]letter{}}
	result := r.play(ctx, e, s.job(r.steps, limits), p)
	switch f := result.Failure; {
	case f != nil:
		return f
	case r.stopped:
		return diverged("it had ended, and now goes on and on")
	case r.calls < len(s.Calls):
		return diverged("it made %d calls, and now makes %d", len(s.Calls), r.calls)
	case p.at < len(s.Turns):
		return diverged("it waited %d times, and now waits %d times", len(s.Turns), p.at)
	case result.Submitted != s.Submitted || !bytes.Equal(result.Value, s.Value):
		return diverged("its value was %.80s, and is now %.80s", s.Value, result.Value)
	}
	r.steps++
	return nil
}

func diverged(format string, args ...any) *Failure {
	return &Failure{Kind: Diverged, Message: fmt.Sprintf(format, args...)}
}

// Report implements [Host]: the program has been judged before.
func (p *replay) Report(Report) func() bool { return func() bool { return true } }

// Call implements [Host]. It is not called: see issue.
func (p *replay) Call(Call, func(Reply)) func() { return nil }

// expect compares a call with the one that was made.
func (p *replay) expect(r *run, l letter) {
	tool := r.scope.tools[l.call.Tool].Path()
	if l.call.ID > len(p.step.Calls) {
		r.diverge("it made %d calls, and now also %s(%.80s)", len(p.step.Calls), tool, l.call.Args)
		return
	}
	then := p.step.Calls[l.call.ID-1]
	if args := Digest(l.call.Args); then.Tool != tool || !bytes.Equal(then.Args, args) || !bytes.Equal(then.More, l.call.More) {
		r.diverge("call %d was %s(%.80s), and is now %s(%.80s)", l.call.ID, then.Tool, then.Args, tool, args)
		return
	}
	p.pending[l.call.ID] = l
}

func (r *run) diverge(format string, args ...any) {
	r.end(&Result{Failure: diverged(format, args...)})
	r.vm.Interrupt(errEnded)
}

// again makes the next turn as it was.
func (r *run) again() {
	p := r.replay
	if p.at == len(p.step.Turns) {
		r.diverge("it waited %d times, and now once more", p.at)
		clear(r.waiting)
		return
	}
	t := p.step.Turns[p.at]
	p.at++
	r.clock.set(t.At)
	if t.Call != 0 {
		l, ok := p.pending[t.Call]
		if !ok {
			r.diverge("at turn %d it got the reply to call %d, and now has not made it", p.at, t.Call)
			clear(r.waiting)
			return
		}
		l.reply = p.step.Calls[t.Call-1].Reply
		r.deliver(l)
		return
	}
	if i := r.timers.index(t.Timer); i >= 0 {
		r.timers.fire(i)
		return
	}
	r.diverge("at turn %d its timer %d fired, and now there is none", p.at, t.Timer)
	clear(r.waiting)
}
