package host

import (
	"errors"
	"slices"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A worker keeps the VMs of the most recent sessions and the most recently compiled preludes, and the host remembers
// which. If the worker that has a session's VM is idle, the host sends it the session's next program, without the
// session's log. The host also omits a prelude's text if the worker has the prelude.

// errStale is the error for a worker that no longer has a session or prelude.
var errStale = errors.New("the worker does not have the session or the prelude")

// holds reports whether the worker has the session's VM and that VM has run all of the session's programs so far.
func (w *instance) holds(s *engine.SessionJob) bool {
	steps, ok := w.sessions[s.Key]
	return ok && steps == s.Step
}

// remember records whether the worker has a session's VM after a run.
func (w *instance) remember(s *engine.SessionJob, res *engine.Result) {
	if w.sessions == nil || len(w.sessions) > engine.MaxSessions {
		w.sessions = map[string]int{} // the worker has dropped a session, and the host does not know which
	}
	switch f := res.Failure; {
	case res.Submitted:
		delete(w.sessions, s.Key)
	case f == nil:
		w.sessions[s.Key] = s.Step + 1
	case f.Kind == engine.KindSyntax, f.Kind == engine.KindRefused:
		w.sessions[s.Key] = s.Step
	default:
		delete(w.sessions, s.Key)
	}
}

// knows reports whether the worker has compiled a prelude.
func (w *instance) knows(p *engine.Prelude) bool { return p != nil && w.preludes[p.Hash] }

// learn records that the worker has compiled a prelude.
func (w *instance) learn(p *engine.Prelude) {
	if p == nil || w.preludes[p.Hash] {
		return
	}
	if w.preludes == nil || len(w.preludes) == engine.MaxPreludes {
		w.preludes = map[string]bool{} // the worker has dropped a prelude, and the host does not know which
	}
	w.preludes[p.Hash] = true
}

// outgoing returns a job without the tools, the session and the prelude that the worker already
// has. abridged reports whether the session or the prelude was left out.
func (w *instance) outgoing(job *engine.Job) (sent *engine.Job, abridged bool) {
	out := *job
	out.Tools = nil
	if s := job.Session; s != nil && w.holds(s) {
		out.Session, abridged = &engine.SessionJob{Key: s.Key, Step: s.Step, List: s.List, Kept: true}, true
	}
	if w.knows(job.Prelude) {
		out.Prelude, abridged = &engine.Prelude{Hash: job.Prelude.Hash}, true
	}
	return &out, abridged
}

// replays reports whether the worker must run the session's earlier programs again.
func (w *instance) replays(job *engine.Job) bool {
	s := job.Session
	return s != nil && len(s.Log) > 0 && !w.holds(s)
}

// choose returns the index of the idle worker for a job: preferably the worker with the job's session, then a worker
// with its prelude, then the most recently used worker. It returns -1 if no worker is idle.
func (p *Pool) choose(job *engine.Job) int {
	if s := job.Session; s != nil {
		if i := slices.IndexFunc(p.idle, func(w idleInstance) bool { return w.holds(s) }); i >= 0 {
			return i
		}
	}
	if prelude := job.Prelude; prelude != nil {
		if i := slices.IndexFunc(p.idle, func(w idleInstance) bool { return w.knows(prelude) }); i >= 0 {
			return i
		}
	}
	return len(p.idle) - 1
}
