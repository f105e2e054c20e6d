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

	"github.com/writ-go/writ/internal/chain"
	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Session runs programs that see each other's top-level declarations, like the
// cells of a notebook: const, let, var, function, class. Declaring a name
// again creates a new variable; a const cannot be assigned to. A program that fails leaves
// no trace in the session, but the effects of its tool calls remain.
//
// A session owns no process and need not be closed. It is a record of its programs and their calls' results; the VM in
// which they ran is a cache. If the VM is gone, because other sessions needed its memory or the worker died, the
// programs are run again from the record: no tool is called, results arrive in the recorded order, and Date,
// Math.random and crypto repeat their values. For that reason Date stands still while one of the session's programs
// computes. [Session.AppendRecord] and [Sandbox.RestoreSession] move a session to another process.
//
// A Session is safe for concurrent use; programs run one after the other.
type Session struct {
	box    *Sandbox
	key    string
	inputs []engine.Input
	err    error         // the error for invalid inputs, or nil
	turn   chan struct{} // holds one element while a program runs

	mu   sync.Mutex
	log  []engine.Step
	size int         // the log's approximate size in bytes
	sums []chain.Sum // checksums of the record's lines that have been read or written
}

// logShare limits a session's record to 1/logShare of Limits.Memory. A worker that runs the
// programs again must hold the record in addition to everything that the programs create.
const logShare = 32

// ErrSessionFull is returned by runs in a session whose record has reached its limit.
var ErrSessionFull = errors.New("sandbox: the session's record exceeds 1/32 of Limits.Memory; start a new session")

// ErrSessionLost is returned by a run in a session that cannot be rebuilt. The session's VM is gone, and the rerun of
// its programs behaved differently or exceeded Limits.Time or the memory limit. Start another session.
var ErrSessionLost = errors.New("sandbox: the session cannot be rebuilt")

var errNotNewSession = errors.New("sandbox: the session is nil or empty; create it with NewSession")

// NewSession returns a new session. The values are constants in each of the session's programs, in addition to
// [Program].Inputs, and are converted in the same way; nil means no inputs. They are sent to the VM once, so they may
// be large. If a program changes an object's member, later programs see the change. If a value is invalid, the
// session's runs return the error.
func (s *Sandbox) NewSession(values map[string]any) *Session {
	session := newSession(s)
	session.inputs, session.err = inputs(values)
	return session
}

func newSession(s *Sandbox) *Session {
	return &Session{box: s, key: rand.Text(), turn: make(chan struct{}, 1)}
}

// Len returns the number of programs in the session's record. Programs that failed are not in the record.
func (s *Session) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

// Run is like [Sandbox.Run], for the session's next program. It waits for the previous program to end. It may also
// return [ErrSessionFull] and [ErrSessionLost].
func (s *Session) Run(ctx context.Context, p Program) (*Outcome, error) {
	return s.run(ctx, p, false)
}

// Check is like [Sandbox.Check], for the session's next program.
func (s *Session) Check(ctx context.Context, p Program) (CheckResult, error) {
	return checkResult(s.run(ctx, p, true))
}

// Limits returns the limits of the session's sandbox.
func (s *Session) Limits() Limits {
	if s == nil || s.box == nil {
		return Limits{}
	}
	return s.box.Limits()
}

// Ready returns the reason why no program can be run, or nil: see [Sandbox.Ready].
func (s *Session) Ready() error {
	if s == nil || s.box == nil {
		return errNotNewSession
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
	out, err := s.box.run(context.WithValue(ctx, turnOf{s}, true), p, checkOnly, step)
	if err == nil && step.succeeded {
		s.mu.Lock()
		step.shareLibrary()
		s.log = append(slices.Clip(s.log), step.record)
		s.size += stepSize(&step.record)
		s.mu.Unlock()
	}
	return out, err
}

// turnOf is the context key that marks the tool calls of the session's current program.
type turnOf struct{ *Session }

var errOwnTurn = errors.New("sandbox: a tool that a program of a session calls cannot use the same session, " +
	"because the session waits for the program to end; use another session or the sandbox")

// begin waits for the previous program and returns the next step. The caller must receive from s.turn when the
// step has ended.
func (s *Session) begin(ctx context.Context) (*sessionStep, error) {
	if s == nil || s.box == nil {
		return nil, errNotNewSession
	}
	if s.err != nil {
		return nil, s.err
	}
	if ctx.Value(turnOf{s}) != nil {
		return nil, errOwnTurn
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("sandbox: not started: %w", canceled(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &sessionStep{log: s.log, key: s.key, clock: newClock(), inputs: s.inputs}, nil
}

// newClock returns a clock with the current time and a random seed.
func newClock() *engine.Clock {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	return &engine.Clock{Start: time.Now().UnixMilli(), Seed: int64(binary.LittleEndian.Uint64(seed[:]))}
}

// sessionStep is a session's next program. After the program has run, record has everything that is needed to run it
// again.
type sessionStep struct {
	key       string
	log       []engine.Step
	inputs    []engine.Input // the session's inputs
	clock     *engine.Clock
	record    engine.Step
	finished  bool // the record is complete: later replies are ignored
	succeeded bool

	list      bool // list the variables and run nothing
	variables []engine.Variable
}

// sessionInputs returns the session's inputs, or nil if s is nil.
func (s *sessionStep) sessionInputs() []engine.Input {
	if s == nil {
		return nil
	}
	return s.inputs
}

// prepare adds the session to a job.
func (s *sessionStep) prepare(job *engine.Job) {
	job.Clock = s.clock
	s.record = engine.Step{
		Source: job.Source, Prelude: job.Prelude, Inputs: job.Inputs, Submit: job.Submit, Clock: job.Clock,
		Output: job.Limits.Output, Argument: job.Limits.Argument,
	}
	job.Session = &engine.SessionJob{Key: s.key, Step: len(s.log), List: s.list, Log: s.log, Inputs: s.inputs}
}

// shareLibrary removes the library's source if one of the session's earlier programs has the same library.
func (s *sessionStep) shareLibrary() {
	if p := s.record.Prelude; p != nil && hasLibrary(s.log, p.Hash) {
		s.record.Prelude = &engine.Prelude{Hash: p.Hash}
	}
}

func hasLibrary(log []engine.Step, hash string) bool {
	return slices.ContainsFunc(log, func(e engine.Step) bool { return e.Prelude != nil && e.Prelude.Hash == hash })
}

// stepSize returns a step's approximate size in bytes.
func stepSize(s *engine.Step) int {
	n := len(s.Source) + len(s.Value) + 24*len(s.Turns)
	if p := s.Prelude; p != nil {
		n += len(p.Hash) + len(p.Text)
	}
	for _, in := range s.Inputs {
		n += len(in.JSON)
	}
	for _, b := range s.Tools {
		n += len(b.Namespace) + 40
		for _, name := range slices.Concat(b.Names, b.Params) {
			n += len(name) + 3
		}
	}
	for _, c := range s.Replies {
		n += len(c.Args) + len(c.More) + len(c.Reply.Value) + 200
		if e := c.Reply.Error; e != nil {
			n += len(e.Message) + len(e.Data)
		}
	}
	return n
}

// recordCall records a call by a session's program. It returns the call's number in the record, from 0.
func (h *host) recordCall(c engine.Call) (number int) {
	if h.step == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.step.record.Turns = append(h.step.record.Turns, c.Turns...)
	replies := &h.step.record.Replies
	*replies = append(*replies, engine.RecordedReply{Tool: h.path(c.Tool), Args: engine.Digest(c.Args), More: c.More})
	return len(*replies) - 1
}

// recordReply counts the reply to a call, and records it if the program is a session's.
func (h *host) recordReply(number int, r engine.Reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.replied++; h.step != nil && !h.step.finished {
		h.step.record.Replies[number].Reply = r
	}
}

// finishStep records the result of a session's program.
func (h *host) finishStep(result *engine.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	step, record := h.step, &h.step.record
	record.Value, record.Submitted = result.Value, result.Submitted
	record.Turns = append(record.Turns, result.Turns...)
	for _, tool := range result.Used {
		record.Tools = append(record.Tools, h.plain[tool])
	}
	step.finished, step.succeeded, step.variables = true, result.Failure == nil, result.Variables
}
