package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// PausedError says that a durable run has paused. [Resume] continues it, in this process or another.
type PausedError struct {
	Checkpoint Checkpoint

	// Err is the error with which the module ended, such as a *[module.IncompleteError].
	Err error
}

// Error says what the run waits for.
func (e *PausedError) Error() string {
	text, then := fmt.Sprintf("agent: run %s is paused; ", e.Checkpoint.Run), "it waits for decisions on "
	for _, w := range e.Checkpoint.Waiting {
		text, then = text+then+w.String(), ", "
	}
	if len(e.Checkpoint.Waiting) == 0 {
		text += "resume it"
	}
	return text
}

// Unwrap returns Err.
func (e *PausedError) Unwrap() error { return e.Err }

// Checkpoint names a state of a durable run. It can be stored as JSON.
type Checkpoint struct {
	Run     string    `json:"run"`
	Records int       `json:"records"` // in the log of the run
	Hash    string    `json:"hash"`    // of these records
	Waiting []Waiting `json:"waiting,omitempty"`
	Labels  uint64    `json:"labels,omitempty"` // reserved
}

// Waiting is a call that waits for a [Decision]. Its strings are safe to display, except for those in Args
// and Resembles.
type Waiting struct {
	ID          string          `json:"id"`   // the ID of the effect: r-7f3a/1c9b2f04d7aa:E7
	Tool        string          `json:"tool"` // the tool's path: mail.send
	Args        json.RawMessage `json:"args"`
	Destructive bool            `json:"destructive,omitempty"` // the effect cannot be undone
	Agents      []string        `json:"agents,omitempty"`      // see [policy.Request]
	Line        int             `json:"line,omitempty"`        // of the call in the program, from 1; 0 if unknown
	Source      string          `json:"source,omitempty"`      // that line's text

	// Unknown is set if the call was made, but its outcome is unknown. Its Decision must have an Outcome. Otherwise,
	// the call has not been made and waits for approval.
	Unknown bool `json:"unknown,omitempty"`

	// Round is how often the call was decided on before. See [Runner.Decide].
	Round int `json:"round,omitempty"`

	// Resembles are earlier calls that this one resembles, the first 20, without long results. The call has not been
	// made, and its Decision must have a Repeat. Its ID is not that of an effect. See [Runs].AskHolds.
	Resembles []journal.Entry `json:"resembles,omitempty"`
}

// String describes the call on one line.
func (w Waiting) String() string {
	text := fmt.Sprintf("%s %s(%.200s)", w.ID, w.Tool, w.Args)
	if w.Agents != nil {
		text += ", wanted by " + strings.Join(w.Agents, " > ")
	}
	if w.Unknown {
		text += ", whose outcome is unknown"
	}
	for i, e := range w.Resembles {
		text += []string{", which resembles ", "; "}[min(i, 1)] + e.String()
	}
	return text
}

// Decision is a person's decision on a [Waiting] call. It applies only to the call with these arguments, and once.
type Decision struct {
	policy.Decision // on a call that waits for approval; without a Grant

	// Outcome says what a call did whose outcome is unknown: it was done, with this result, or it was not done, and
	// will be made now.
	Outcome *journal.Reconciled `json:"outcome,omitempty"`

	// Round is that of the [Waiting]. Only [Runner.Decide] needs it.
	Round int `json:"round,omitempty"`

	// Repeat says how a call relates to those that it resembles: {Same: "E7"} takes the result of that call, if it is
	// done; {Distinct: {"all"}} makes the call, whatever was done before; the zero Repeat lets the model decide.
	Repeat *tools.Repeat `json:"repeat,omitempty"`
}

// decided is the record of a decision, or of a call that an earlier decision's grant covers.
type decided struct {
	Call     string          `json:"call"` // the ID of the effect
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	At       time.Time       `json:"at"`
	Decision *Decision       `json:"decision,omitempty"` // nil if a grant covers the call
}

// apply makes a recorded decision count. See [run.resolve] for an Outcome.
func (r *run) apply(d decided) error {
	if d.Decision != nil {
		r.answered[d.Call] = d
		r.given[d.Call] = append(r.given[d.Call], d)
	}
	switch {
	case d.Decision == nil:
		r.grants.Covers(policy.Request{ID: d.Call, Tool: d.Tool, Call: tools.Call{Args: d.Args}}, d.At)
	case d.Decision.Outcome == nil:
		r.decided[decisionKey(d.Call, d.Args)] = *d.Decision
		if d.Decision.Approved && d.Decision.Grant != nil {
			grant := *d.Decision.Grant
			grant.By = cmp.Or(grant.By, d.Decision.By)
			return r.grants.Add(grant)
		}
	}
	return nil
}

// resume records the decisions with which a run continues.
func (r *run) resume(c Checkpoint, info RunInfo, decisions map[string]Decision) error {
	if now := r.checkpoint(nil); c.Records != now.Records || c.Hash != now.Hash {
		return fmt.Errorf("agent: run %s has gone on since the checkpoint was made; "+
			"decide again, with a new checkpoint", r.id)
	}
	switch info.State {
	case RolledBack:
		return fmt.Errorf("agent: the effects of run %s were undone; start a new run", r.id)
	case Cancelled:
		return fmt.Errorf("agent: run %s was cancelled; start a new run", r.id)
	}
	waiting := map[string]Waiting{}
	for _, w := range info.Waiting {
		waiting[w.ID] = w
	}
	for id, d := range decisions { // if one is invalid, none is recorded
		w, ok := waiting[id]
		if !ok {
			return fmt.Errorf("agent: run %s has no call %s that waits for a decision", r.id, id)
		}
		if err := d.check(w); err != nil {
			return fmt.Errorf("agent: the decision on %s: %w", w, err)
		}
	}
	for id, d := range decisions {
		if err := r.decide(waiting[id], d); err != nil {
			return err
		}
	}
	_, err := r.goOn()
	return err
}

// decide records a decision.
func (r *run) decide(w Waiting, d Decision) error {
	made := decided{Call: w.ID, Tool: w.Tool, Args: w.Args, At: time.Now(), Decision: &d}
	if err := r.keep("decision", made); err != nil {
		return err
	}
	return r.apply(made)
}

// goOn prepares the run to go on, with the decisions that are recorded.
func (r *run) goOn() (info RunInfo, err error) {
	if info, err = r.info(); err != nil {
		return info, err
	}
	r.still = map[string]Waiting{}
	for _, w := range info.Waiting {
		if !w.Unknown {
			r.still[w.ID] = w
		}
	}
	if err = r.resolve(); err == nil && info.State == Failed {
		err = r.replies.RetryFailures()
	}
	if err != nil {
		return info, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.answered)
	r.going = true
	if err := r.record(milestone{State: Interrupted, Waiting: info.Waiting}); err != nil {
		return info, err
	}
	return r.describe()
}

// resolve records the outcomes that people have decided on in the journals, unless an earlier process has done so.
func (r *run) resolve() error {
	for id, a := range r.answered {
		d := a.Decision
		if d.Outcome == nil {
			continue
		}
		key, call, _ := strings.Cut(id, ":")
		part := reread{r.log.part(callsOf + key)}
		entries, err := journal.Read(part)
		open := func(e journal.Entry) bool {
			return e.ID == call && (e.State == journal.StateUnknown || e.State == dispatch.StateDispatched)
		}
		if err == nil && slices.ContainsFunc(entries, open) {
			var j *journal.Journal
			if j, err = journal.Open(part, nil); err == nil {
				err = j.Resolve(call, *d.Outcome)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) checkpoint(waiting []Waiting) Checkpoint {
	count, hash := r.log.head()
	return Checkpoint{Run: r.id, Records: count, Hash: hash, Waiting: waiting}
}

// unknown returns the calls whose outcome is unknown, if err says that the run cannot go on because of one of them.
func (r *run) unknown(err error) (list []Waiting) {
	if _, ok := errors.AsType[*journal.UnknownError](err); !ok {
		return nil
	}
	r.mu.Lock()
	journals, within := maps.Clone(r.journals), maps.Clone(r.within)
	r.mu.Unlock()
	for key, j := range journals {
		for _, e := range j.Unresolved() {
			if e.State == journal.StateUnknown && e.Class != tools.Read && !within[key+":"+e.ID] {
				list = append(list, Waiting{ID: key + ":" + e.ID, Tool: e.Tool, Args: e.Args, Agents: r.agents[key],
					Unknown: true})
			}
		}
	}
	return list
}

// check says why a decision on a waiting call is invalid.
func (d Decision) check(w Waiting) error {
	switch {
	case w.Unknown != (d.Outcome != nil):
		return errors.New("set Outcome if and only if the outcome is unknown")
	case (w.Resembles != nil) != (d.Repeat != nil):
		return errors.New("set Repeat if and only if the call resembles earlier ones")
	case d.Repeat != nil && d.Repeat.Same != "" && !slices.ContainsFunc(w.Resembles, func(e journal.Entry) bool {
		return e.ID == d.Repeat.Same && e.Tool == w.Tool && e.State == journal.StateOK
	}):
		return fmt.Errorf("%.100q is not one of the earlier calls of %s that are done", d.Repeat.Same, w.Tool)
	case d.Outcome != nil && d.Outcome.State != journal.StateOK && d.Outcome.State != journal.StateRejected:
		return fmt.Errorf("its Outcome.State must be %q or %q, not %q",
			journal.StateOK, journal.StateRejected, d.Outcome.State)
	case d.Outcome != nil && d.Outcome.Result != nil && !json.Valid(d.Outcome.Result),
		d.Args != nil && !json.Valid(d.Args):
		return errors.New("its Args or Outcome.Result is not JSON")
	case d.Grant != nil:
		return new(policy.Grants).Add(*d.Grant)
	}
	return nil
}

// decisionKey identifies a call with its arguments. Two policies may ask about one call, with different arguments.
func decisionKey(call string, args json.RawMessage) string { return call + " " + canonical.JSON(args) }
