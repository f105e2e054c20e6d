package codemode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// The limits of the runs that are kept for a principal. If a run exceeds a limit, the oldest runs are removed.
const (
	keepRuns    = time.Hour
	maxRuns     = 100
	maxRunBytes = 64 << 20
)

// noRetry is the value of retry_of for a program that has nothing to do with earlier programs.
const noRetry = "none"

// run is one step: a program, and the programs that retry it. The mutex of its runs guards its fields.
type run struct {
	id      string
	journal *journal.Journal
	log     *runLog                         // nil if logs are not stored
	session weak.Pointer[mcp.ServerSession] // of the last program; see restored
	running bool
	failed  bool // the last program failed, was canceled, or was interrupted
	asked   bool // a call without retry_of was held because of this run
	bytes   int
	expiry  *time.Timer // set while the run is kept
}

// runs holds a principal's runs that are in progress or can be retried, the oldest first.
type runs struct {
	keep  time.Duration
	bytes int           // the maximum of all runs together
	logs  journal.Store // nil if logs are not stored
	owner string
	log   *slog.Logger

	mu     sync.Mutex
	all    []*run
	closed bool // the logs are closed
}

func (s *Server) runsOf(principal string) *runs { return s.runsWith(owner(principal)) }

func (s *Server) runsWith(owner string) *runs {
	all, _ := s.runs.LoadOrStore(owner, &runs{keep: keepRuns, bytes: maxRunBytes, logs: s.options.Journal, owner: owner,
		log: s.log})
	return all.(*runs)
}

// begin starts a program of a client's session: the next attempt of the run that retryOf names, or a new run. The
// caller must call end.
func (l *runs) begin(ctx context.Context, session *mcp.ServerSession, retryOf string) (_ *attempt, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	retries := retryOf != "" && retryOf != noRetry
	var r *run
	if !retries {
		if r, err = l.open(ctx, "r-"+strings.ToLower(rand.Text()[:8])); err != nil {
			return nil, err
		}
		l.all = append(l.all, r)
	} else if r, err = l.find(ctx, retryOf); err != nil {
		return nil, err
	} else if r.running {
		return nil, &problem{busy, fmt.Sprintf("retry_of: a program of run %q is still running, so nothing was run; "+
			"wait for it to end", r.id)}
	} else {
		r.expiry.Stop()
	}
	r.session, r.running = weak.Make(session), true
	r.touch()
	return &attempt{Attempt: r.journal.Attempt(), runs: l, run: r, retries: retries, alone: retryOf == noRetry,
		entries: map[int]string{}}, nil
}

// remove removes a run, unless a program of it is running.
func (l *runs) remove(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.running && slices.Contains(l.all, r) {
		l.drop(r)
	}
}

// drop removes a run, also from the store.
func (l *runs) drop(r *run) {
	l.take(r)
	if r.log == nil || l.closed {
		return
	}
	err := errors.Join(r.log.Close(), l.logs.Remove(context.Background(), l.storedID(r.id)))
	if err != nil {
		l.log.Error("cannot remove a run", "run", l.storedID(r.id), "err", err)
	}
}

func (l *runs) take(r *run) {
	l.all = slices.DeleteFunc(l.all, func(o *run) bool { return o == r })
	if r.expiry != nil {
		r.expiry.Stop()
	}
}

// store keeps a run whose program has ended, within the limits. It reports whether it keeps the run.
func (l *runs) store(r *run) bool {
	r.bytes = 0
	for _, e := range r.journal.Entries() {
		const overhead = 1 << 10 // approximately
		r.bytes += overhead + len(e.Args) + len(e.Requested) + len(e.Result)
	}
	l.take(r)
	if r.bytes > l.bytes {
		return false
	}
	l.all = append(l.all, r)
	r.expiry = time.AfterFunc(l.keep, func() { l.remove(r) })
	number, bytes := 0, 0
	for _, o := range slices.Backward(slices.Clone(l.all)) {
		if o.running {
			continue
		}
		number, bytes = number+1, bytes+o.bytes
		if number > maxRuns || bytes > l.bytes {
			l.drop(o)
		}
	}
	return true
}

// attempt is one program of a run. It holds calls that equal those of other runs in the session.
type attempt struct {
	*journal.Attempt
	runs    *runs
	run     *run
	retries bool // with the ID of a run
	alone   bool // with retry_of: "none"

	entries map[int]string // the IDs of the journal's entries, by the number of the call
	held    *run           // a failed run that made the same call as this program, whose call was held

	// Set by end:
	ended     bool
	acted     bool     // programs of the run may have had effects, and the run is not over
	kept      bool     // the run can be retried
	uncertain []string // the IDs of this program's calls whose effects are uncertain
}

// Issue implements [dispatch.Attempt]. The check and the journal's entry are one atomic operation for all programs of a
// principal.
func (a *attempt) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	a.runs.mu.Lock()
	defer a.runs.mu.Unlock()
	if err := a.compare(c); err != nil {
		return nil, err
	}
	e, err := a.Attempt.Issue(c, all)
	if err == nil {
		a.entries[c.ID] = e.Effect().Entry
	}
	return e, err
}

// compare holds a call that may repeat an effect of another run in the session, or of a restored run. A failed run
// holds only one call of new runs.
func (a *attempt) compare(c tools.Call) error {
	key, err := c.Tool.Key(c.Args) // the journal reports the error
	distinct := c.Repeat != nil && slices.Contains(c.Repeat.Distinct, "all")
	if err != nil || a.alone || harmless(c) || a.retries && distinct {
		return nil
	}
	for _, o := range slices.Backward(a.runs.all) {
		other := !o.restored() && o.session != a.run.session
		if o == a.run || other || !o.running && (!o.failed || o.asked && !a.retries) {
			continue
		}
		if e, ok := o.journal.Find(key); ok {
			return a.hold(o, e, c)
		}
	}
	return nil
}

// restored reports whether the server has been started since the run's last program, whose session is unknown.
func (r *run) restored() bool { return r.session == weak.Pointer[mcp.ServerSession]{} }

// harmless reports whether a call may be repeated.
func harmless(c tools.Call) bool {
	class, hints := c.Tool.ReplayClass(), c.Tool.Hints
	fresh := class == tools.Unclassified && c.Repeat != nil && c.Repeat.Fresh && !hints.Destructive
	return class == tools.Read || class == tools.Idempotent || hints.Repeatable || fresh
}

func (a *attempt) hold(o *run, e journal.Entry, c tools.Call) error {
	var message string
	other := `pass retry_of: "none", which applies to the whole program`
	if a.retries {
		other = `pass {distinct: "all"} as the second argument of the call`
	}
	origin := "of this session"
	if o.restored() {
		origin = "from before the last start of this server"
	}
	switch {
	case o.running:
		message = "another program of this session, which is still running, has made exactly this call. Wait for its " +
			"result. If this call is another effect, " + other
	case a.retries:
		message = fmt.Sprintf("another program %s (run %s), which failed, has made exactly this call, "+
			"and it %s. Leave the call out. If it is another effect, %s", origin, o.id, outcome(e), other)
	default:
		o.asked, a.held = true, o
		message = fmt.Sprintf("an earlier program %s failed after it had made exactly this call, which %s. If "+
			"this program is another attempt at the same, pass retry_of: %q with the whole program: calls that are "+
			"done are not made again. If it is a new wish, %s", origin, outcome(e), o.id, other)
	}
	text := display.Text(fmt.Sprintf("%s(%s)", c.Tool.Path(), cut(string(c.Args), 200)))
	return &tools.HoldError{Call: text, Message: message}
}

func outcome(e journal.Entry) string {
	if e.State == journal.StateOK {
		return "is done"
	}
	return "may have taken effect"
}

// end ends the program. If it failed, or left calls whose effects are uncertain, the run can be retried. Otherwise the
// run is over, and end returns warnings about calls of earlier programs. Only the first call of end has an effect.
func (a *attempt) end(succeeded bool) (warnings []diagnostic) {
	a.runs.mu.Lock()
	defer a.runs.mu.Unlock()
	if a.ended {
		return nil
	}
	r := a.run
	a.ended, r.running, r.failed = true, false, !succeeded
	r.journal.End()
	unresolved := r.journal.Unresolved()
	mine := slices.Collect(maps.Values(a.entries))
	for _, e := range unresolved {
		if slices.Contains(mine, e.ID) {
			a.uncertain = append(a.uncertain, e.ID)
		}
	}
	if succeeded && a.uncertain == nil {
		a.runs.drop(r)
		return orphans(slices.Concat(unresolved, r.journal.Accept()))
	}
	r.touch()
	a.acted = r.acted()
	a.kept = a.acted && a.runs.store(r)
	if !a.kept {
		a.runs.drop(r)
	} else if err := r.journal.Sync(context.Background()); err != nil { // retries will fail
		a.runs.log.Error("cannot store a run", "run", r.id, "err", err)
	}
	return nil
}

// orphans returns warnings about effects of earlier programs that the run's last program ignored.
func orphans(entries []journal.Entry) (list []diagnostic) {
	for _, e := range entries {
		list = append(list, diagnostic{ErrorType: "ORPHAN", Message: display.Text(fmt.Sprintf("%s(%s) of an earlier "+
			"program %s, and this program neither repeated nor used it",
			e.Tool, cut(string(e.Args), 200), outcome(e)))})
	}
	return list
}

// report adds to the result of the ended program how it can be retried.
func (a *attempt) report(out *sandbox.Outcome, e *execution) {
	if a.held != nil {
		if e.Run = a.held.id; a.kept {
			e.Advice = "This program made calls before it was held. Leave those that are done out of the next program."
		}
		return
	}
	switch {
	case !a.acted:
		return
	case !a.kept:
		e.Advice = "The record of the calls is too large to be kept, so the program cannot be retried. Find out what " +
			"was done before you do the rest."
		return
	}
	e.Run = a.run.id
	e.Advice = fmt.Sprintf("To try again, write the whole program again and pass retry_of: %q. Calls that are done "+
		"are not made again: their recorded results are returned.", a.run.id)
	if a.uncertain != nil {
		e.Advice = "Some calls may have taken effect, although they have no result: find out first. " + e.Advice
	}
	for i, c := range out.Calls {
		if id := a.entries[c.ID]; slices.Contains(a.uncertain, id) {
			e.Calls[i].Entry = id
		}
	}
}

// failUnknown reports a call that was not repeated because its outcome is unknown. It returns false for other errors.
func (e *execution) failUnknown(out *sandbox.Outcome, err error) bool {
	unknown, ok := errors.AsType[*journal.UnknownError](err)
	if !ok {
		return false
	}
	message := display.Text(fmt.Sprintf("whether %s %s(%s) took effect is unknown, so it was not made again. Find out "+
		"with a tool that reads, retry without this call, and tell the user. If it did not take effect and the user "+
		`wants it, make it in a program of its own with retry_of: "none"`,
		unknown.Entry.ID, unknown.Entry.Tool, cut(string(unknown.Entry.Args), 200)))
	e.Diagnostics = nil // "the program was stopped"
	e.fail("UNKNOWN", message)
	for i, c := range out.Calls {
		if c.Error != nil && errors.Is(c.Error, unknown) {
			e.Calls[i].Rejected, e.Calls[i].Error = true, message
		}
	}
	return true
}
