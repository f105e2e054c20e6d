package host

import (
	"errors"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A worker keeps the VMs of the last sessions that ran in it, and the preludes that
// it has compiled last. The host remembers which these are: the next program of a
// session goes to the worker that has its VM, if that is idle, and without the
// session's log; one with a prelude, without its text.

// errStale says that a worker has forgotten a session or a prelude.
var errStale = errors.New("the worker does not have the session, or the prelude")

// holds says whether the worker has the VM that a session goes on in.
func (w *instance) holds(s *engine.SessionJob) bool {
	steps, ok := w.sessions[s.Key]
	return ok && steps == s.Step
}

// remember notes what the worker has after a run.
func (w *instance) remember(s *engine.SessionJob, res *engine.Result) {
	if w.sessions == nil || len(w.sessions) > engine.MaxSessions {
		w.sessions = map[string]int{} // it has forgotten some, and we do not know which
	}
	switch f := res.Failure; {
	case res.Submitted:
		delete(w.sessions, s.Key)
	case f == nil:
		w.sessions[s.Key] = s.Step + 1
	case f.Kind == engine.Syntax, f.Kind == engine.Refused:
		w.sessions[s.Key] = s.Step
	default:
		delete(w.sessions, s.Key)
	}
}

// knows says whether the worker has compiled a prelude.
func (w *instance) knows(p *engine.Prelude) bool { return p != nil && w.preludes[p.Hash] }

// learn notes that the worker has compiled a prelude.
func (w *instance) learn(p *engine.Prelude, compiled bool) {
	if p == nil || !compiled || w.preludes[p.Hash] {
		return
	}
	if w.preludes == nil || len(w.preludes) == engine.MaxPreludes {
		w.preludes = map[string]bool{} // it has forgotten some, and we do not know which
	}
	w.preludes[p.Hash] = true
}

// outgoing is a job as it is sent: the worker knows the tools, and perhaps the
// session and the prelude, of which it is then spared the rest.
func (w *instance) outgoing(job *engine.Job) (sent *engine.Job, spared bool) {
	out := *job
	out.Tools = nil
	if s := job.Session; s != nil && w.holds(s) {
		out.Session, spared = &engine.SessionJob{Key: s.Key, Step: s.Step, List: s.List, Kept: true}, true
	}
	if w.knows(job.Prelude) {
		out.Prelude, spared = &engine.Prelude{Hash: job.Prelude.Hash}, true
	}
	return &out, spared
}

// rebuilds says whether a job makes the worker run the session's programs again.
func (w *instance) rebuilds(job *engine.Job) bool {
	s := job.Session
	return s != nil && len(s.Log) > 0 && !w.holds(s)
}

// choose returns the place of the idle worker that a job should have: the one
// with its session, or its prelude, or the one that was used last; -1 if there is
// none.
func (p *Pool) choose(job *engine.Job) int {
	if s := job.Session; s != nil {
		if i := slices.IndexFunc(p.idle, func(w idler) bool { return w.holds(s) }); i >= 0 {
			return i
		}
	}
	if prelude := job.Prelude; prelude != nil {
		if i := slices.IndexFunc(p.idle, func(w idler) bool { return w.knows(prelude) }); i >= 0 {
			return i
		}
	}
	return len(p.idle) - 1
}
