package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Session runs programs that see each other's top-level declarations, as the
// cells of a notebook do: const, let, var, function, class. A name that is
// declared again is a new one; what was declared with const cannot be assigned
// to. A program that fails leaves no trace in the session; what its tool calls
// did, they did.
//
// A session owns no process and need not be closed. It is the record of its
// programs and of what their calls answered; the VM in which they ran is a cache.
// When that is gone, because others needed the room or the worker died, the
// programs are run again on the record: no tool is called, replies arrive in the
// order in which they arrived, and Date, Math.random and crypto repeat
// themselves. For that, Date stands still while a program of a session computes.
// [Session.AppendRecord] and [Sandbox.RestoreSession] take it to another process.
//
// It is safe for concurrent use; programs run one after the other.
type Session struct {
	box    *Sandbox
	key    string
	pin    *Determinism
	inputs []engine.Input
	err    error         // what is wrong with the inputs
	turn   chan struct{} // held by whoever runs a program

	mu   sync.Mutex
	log  []engine.Step
	size int     // bytes of the log, about
	sums []chain // of the lines of the record, as far as they are known
}

// SessionOptions configures a [Session].
type SessionOptions struct {
	// Pin fixes what the session's programs see of time and chance, one program
	// going on where the last one ended. Nil is the real time, and chance.
	Determinism *Determinism

	// Inputs are constants of every program of the session, beside those that
	// programs have of their own, and are converted as those are. They go to the
	// VM once, so that they may be large. What a program does to the members of an
	// object, later ones see.
	Inputs map[string]any
}

// Pin fixes what a program sees of time and chance: Date starts at Time and moves
// by what the program sleeps, and by nothing else; Math.random and crypto give
// what Seed says. The time zone is UTC in isolated sandboxes, pinned or not, and
// the host's in those of NewInProcess.
type Determinism struct {
	Time time.Time
	Seed uint64
}

// logShare of Limits.Memory may be a session's record: to run it again, a worker
// must hold it beside all that it makes of it.
const logShare = 32

// ErrSessionFull is returned by runs of a session that has recorded all it can.
var ErrSessionFull = errors.New("sandbox: the session has recorded all that it may: a 32nd of Limits.Memory; start another")

// ErrSessionLost is returned by a run of a session whose VM is gone and whose
// programs, run again, did something else than before, or took longer together
// than Limits.Time, or more memory than there is. Start another.
var ErrSessionLost = errors.New("sandbox: the session cannot be rebuilt")

var errNoSession = errors.New("sandbox: this session is nil or empty; make one by NewSession")

// NewSession begins a session. Nil options are the defaults. What is wrong with
// its inputs, runs of the session say.
func (s *Sandbox) NewSession(o *SessionOptions) *Session {
	if o == nil {
		o = &SessionOptions{}
	}
	list, err := inputs(o.Inputs)
	return &Session{box: s, key: rand.Text(), pin: o.Determinism, inputs: list, err: err, turn: make(chan struct{}, 1)}
}

// Len is how many programs the session consists of: those that did not fail.
func (s *Session) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

// Run is as [Sandbox.Run], for the next program of the session. It waits for the
// one before. Besides the errors of that, it returns [ErrSessionFull] and
// [ErrSessionLost].
func (s *Session) Run(ctx context.Context, p Program) (*Outcome, error) {
	return s.run(ctx, p, false)
}

// Check is as [Sandbox.Check], for the next program of the session.
func (s *Session) Check(ctx context.Context, p Program) (CheckResult, error) {
	return checked(s.run(ctx, p, true))
}

// Limits returns the limits of its sandbox.
func (s *Session) Limits() Limits {
	if s == nil || s.box == nil {
		return Limits{}
	}
	return s.box.Limits()
}

// Ready is that of its sandbox: see [Sandbox.Ready].
func (s *Session) Ready() error {
	if s == nil || s.box == nil {
		return errNoSession
	}
	return errors.Join(s.err, s.box.Ready())
}

func (s *Session) run(ctx context.Context, p Program, checkOnly bool) (*Outcome, error) {
	step, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	full := int64(s.size) > s.box.limits.Memory/logShare
	s.mu.Unlock()
	if full {
		return nil, ErrSessionFull
	}
	out, err := s.box.run(ctx, p, checkOnly, step)
	if err == nil && step.ok {
		s.mu.Lock()
		step.shareLibrary()
		s.log = append(slices.Clip(s.log), step.made)
		s.size += step.size()
		s.mu.Unlock()
	}
	return out, err
}

// begin waits for the program before, and takes its turn; the caller gives it back. It
// returns what is to run next.
func (s *Session) begin(ctx context.Context) (*sessionStep, error) {
	if s == nil || s.box == nil {
		return nil, errNoSession
	}
	switch {
	case s.err != nil:
		return nil, s.err
	case !s.pin.valid():
		return nil, fmt.Errorf("sandbox: the pinned time %v is out of range for Date", s.pin.Time)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("sandbox: not started: %w", cancelled(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sessionStep{log: s.log, key: s.key, clock: s.clock(), inputs: s.inputs}, nil
}

// clock is what the next program sees of time and chance.
func (s *Session) clock() *engine.Clock {
	if s.pin == nil {
		var seed [8]byte
		_, _ = rand.Read(seed[:]) // it never fails
		return &engine.Clock{Start: time.Now().UnixMilli(), Seed: int64(binary.LittleEndian.Uint64(seed[:]))}
	}
	clock := s.pin.clock()
	clock.Seed += int64(len(s.log))
	for _, step := range s.log {
		clock.Start = max(clock.Start, step.Clock.Start)
		for _, turn := range step.Turns {
			clock.Start = max(clock.Start, turn.At)
		}
	}
	return clock
}

// valid says whether Date can show the time.
func (p *Determinism) valid() bool {
	const most = 8_640_000_000_000 // seconds, either way
	return p == nil || p.Time.Unix() > -most && p.Time.Unix() < most
}

func (p *Determinism) clock() *engine.Clock {
	if p == nil {
		return nil
	}
	return &engine.Clock{Start: p.Time.UnixMilli(), Seed: int64(p.Seed), Fixed: true}
}

// sessionStep is the program of a session that is to run, and afterwards what is
// needed to run it again.
type sessionStep struct {
	key    string
	log    []engine.Step
	inputs []engine.Input // of the session
	clock  *engine.Clock
	made   engine.Step
	ok     bool // it has run and has not failed

	list      bool // run nothing and list the variables
	variables []engine.Variable
}

// given are the inputs of the session; a nil step is of none.
func (s *sessionStep) given() []engine.Input {
	if s == nil {
		return nil
	}
	return s.inputs
}

// prepare makes a job one of the session.
func (s *sessionStep) prepare(job *engine.Job) {
	job.Clock = s.clock
	s.made = engine.Step{
		Source: job.Source, Prelude: job.Prelude, Inputs: job.Inputs, Submit: job.Submit, Clock: job.Clock,
		Output: job.Limits.Output, Argument: job.Limits.Argument,
	}
	job.Session = &engine.SessionJob{Key: s.key, Step: len(s.log), List: s.list, Log: s.log, Inputs: s.inputs}
}

// shareLibrary leaves out the text of a library that an earlier program has, too.
func (s *sessionStep) shareLibrary() {
	own := s.made.Prelude
	if own != nil && slices.ContainsFunc(s.log, func(e engine.Step) bool { return e.Prelude != nil && e.Prelude.Hash == own.Hash }) {
		s.made.Prelude = &engine.Prelude{Hash: own.Hash}
	}
}

func (s *sessionStep) size() int {
	n := len(s.made.Source) + len(s.made.Value) + 24*len(s.made.Turns)
	if p := s.made.Prelude; p != nil {
		n += len(p.Hash) + len(p.Text)
	}
	for _, in := range s.made.Inputs {
		n += len(in.JSON)
	}
	for _, b := range s.made.Tools {
		n += len(b.Namespace) + 40
		for _, name := range slices.Concat(b.Names, b.Params) {
			n += len(name) + 3
		}
	}
	for _, c := range s.made.Calls {
		n += len(c.Args) + len(c.More) + len(c.Reply.Value) + 200
		if e := c.Reply.Error; e != nil {
			n += len(e.Message) + len(e.Data)
		}
	}
	return n
}

// recorder is a host that records the calls of a session's program.
type recorder struct {
	engine.Host
	step  *sessionStep
	tools []engine.Binding

	mu   sync.Mutex
	over bool // what comes is late
}

// finish takes what the run has shown.
func (r *recorder) finish(result *engine.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.step.made.Value, r.step.made.Submitted, r.step.made.Turns = result.Value, result.Submitted, result.Turns
	for _, tool := range result.Used {
		r.step.made.Tools = append(r.step.made.Tools, r.tools[tool])
	}
	r.step.ok = result.Failure == nil
	r.step.variables = result.Variables
}

// Call implements [engine.Host].
func (r *recorder) Call(c engine.Call, reply func(engine.Reply)) (perform func()) {
	r.mu.Lock()
	i := len(r.step.made.Calls)
	answered := engine.Answered{Tool: r.tools[c.Tool].Path(), Args: engine.Digest(c.Args), More: c.More}
	r.step.made.Calls = append(r.step.made.Calls, answered)
	r.mu.Unlock()
	return r.Host.Call(c, func(a engine.Reply) {
		r.mu.Lock()
		if !r.over {
			r.step.made.Calls[i].Reply = a
		}
		r.mu.Unlock()
		reply(a)
	})
}
