package journal

import (
	"slices"

	"github.com/writ-go/writ/tools"
)

// query is a call to which the rules of the package comment are applied.
type query struct {
	*Attempt
	call  tools.Call
	tools []*tools.Binding // the tools that the program may call
	key   string
	id    toolID
	class tools.Class

	all     bool            // {distinct: "all"}
	named   map[*entry]bool // entries that the second argument names
	again   []*entry        // entries with this key that the call repeats on purpose
	insists bool            // the call repeats earlier calls on purpose: recorded results do not answer it
	missing []string        // IDs in the second argument that do not belong to calls to the tool

	answered bool // Options.OnRepeat has answered: see [query.ask]

	told   bool // the call is held because the same call failed
	unseen bool // the call is held because nothing that was read shows what it repeats
}

func (a *Attempt) query(c tools.Call, all []*tools.Binding, key string) *query {
	q := &query{
		Attempt: a, call: c, tools: all, key: key, class: c.Tool.ReplayClass(),
		id: toolID{c.Tool.Namespace, c.Tool.Name},
	}
	says := c.Repeat != nil && c.Repeat.Fresh && !c.Tool.Hints.Destructive
	if q.class == tools.Unclassified && (says || a.journal.fresh[q.id]) {
		q.class = tools.Read
	}
	if c.Repeat != nil {
		q.readNames(*c.Repeat)
	}
	return q
}

// readNames finds the entries that the second argument names. Only a call with the key of an entry repeats the entry,
// and only once: a later program that names the entry again means the repetition.
func (q *query) readNames(r tools.Repeat) {
	q.all, q.named = slices.Contains(r.Distinct, "all"), map[*entry]bool{}
	others := slices.DeleteFunc(slices.Clone(r.Distinct), func(id string) bool { return id == "all" })
	for _, id := range slices.Concat(r.Again, others) {
		if e := q.entryOf(id); e != nil {
			q.named[e] = true
		} else {
			q.missing = append(q.missing, id)
		}
	}
	for _, id := range r.Again {
		if e := q.entryOf(id); e != nil && e.is(q.key) && !slices.Contains(q.again, e) {
			q.again = append(q.again, e)
		}
	}
}

// entryOf returns the entry with an ID, or nil if it is not a call to the same tool, or was done in an earlier turn.
func (q *query) entryOf(id string) *entry {
	if e := q.journal.find(id); e != nil && e.id == q.id && !e.past {
		return e
	}
	return nil
}

// decide applies the rules. It returns the entry that has the call's result, nil if the call is to be performed, or an
// error that ends the attempt.
func (q *query) decide() (*entry, error) {
	if q.class == tools.Read { // rule 1
		return nil, nil
	}
	if err := q.checkRepeat(); err != nil {
		return nil, err
	}
	rules := []func() (verdict, error){q.same, q.repeated, q.unknown, q.ok, q.failed, q.others, q.earlier}
	if q.call.Tool.Hints.Repeatable {
		rules = []func() (verdict, error){q.same, q.repeated, q.ok}
	}
	for _, rule := range rules {
		if v, err := rule(); err != nil || v.decided {
			return v.entry, err
		}
	}
	return nil, nil // rule 7
}

// verdict is a rule's result.
type verdict struct {
	decided bool   // the rule applies
	entry   *entry // has the call's result; nil if the call is to be performed
}

func perform() (verdict, error)         { return verdict{decided: true}, nil }
func record(e *entry) (verdict, error)  { return verdict{decided: true, entry: e}, nil }
func undecided() (verdict, error)       { return verdict{}, nil }
func refuse(err error) (verdict, error) { return verdict{}, err }
func (q *query) idempotent() bool       { return q.class == tools.Idempotent }
func (q *query) matching() []*entry     { return q.journal.byKey[q.key] }
func (q *query) inStep(e *entry) bool   { return e.step == q.step }
func (q *query) consumed(e *entry) bool { return e.consumedBy == q.number }
func (q *query) recorded(e *entry) bool {
	return q.inStep(e) && e.isDone() && (!q.consumed(e) || e.unheard)
}

// unknown is rule 2. If the same call has a recorded result, the rule applies only to a repetition on purpose, because
// the unknown call may have been that repetition.
func (q *query) unknown() (verdict, error) {
	if q.unconsumed() != nil && !q.insists {
		return undecided()
	}
	for _, e := range q.matching() {
		if e.State != StateUnknown || q.idempotent() && (!q.followed(e) || q.doneAfter(e)) {
			continue
		}
		if q.journal.options.Reconcile != nil && !e.reconciled && !e.pending {
			return refuse(q.hold([]*entry{e}, "%s made exactly this call, and whether it took effect is unknown. "+
				"The outcome is being looked up; write the whole step again", e.ID))
		}
		return refuse(tools.Fatal(&UnknownError{Entry: e.Entry}))
	}
	return undecided()
}

// followed reports whether another effect on the same server followed e. Repeating e might undo that effect.
func (q *query) followed(e *entry) bool {
	return slices.ContainsFunc(q.journal.entries, func(o *entry) bool {
		return !o.is(q.key) && o.id.server == e.id.server && o.ordered() && o.called && o.counts() && e.before(o)
	})
}

// doneAfter reports whether the same call was made again after e and is done.
func (q *query) doneAfter(e *entry) bool {
	return slices.ContainsFunc(q.journal.like(e), func(o *entry) bool { return o.isDone() && o.issued > e.issued })
}

// same applies {same: "E7"}. It has no effect if this attempt has consumed the entry already, as in a loop.
func (q *query) same() (verdict, error) {
	if !q.saysSame() {
		return undecided()
	}
	e := q.entryOf(q.call.Repeat.Same)
	switch {
	case e.State != StateOK:
		return refuse(q.hold([]*entry{e}, "%s has no result, because its state is %s", e.ID, e.State))
	case q.consumed(e):
		return undecided()
	}
	return record(e)
}

// repeated applies {again: "E2"} if an earlier call has already repeated E2: it returns the entry of that repetition.
// If the repetition is uncertain, rules 2 and 4 decide.
func (q *query) repeated() (verdict, error) {
	fresh := q.again[:0:0]
	for _, e := range q.again {
		switch r := q.lastRepetition(e); {
		case r == nil:
			fresh = append(fresh, e)
		case q.recorded(r):
			return record(r)
		case r.uncertain():
			q.insists = true
		}
	}
	q.again = fresh
	q.insists = q.insists || len(fresh) > 0
	return undecided()
}

// lastRepetition follows e's chain of repetitions. It returns the first repetition whose result this attempt can use,
// or else the last repetition, or nil if e was not repeated.
func (q *query) lastRepetition(e *entry) *entry {
	last := q.journal.repetition(e)
	for r := last; r != nil && !q.recorded(last); r = q.journal.repetition(r) {
		last = r
	}
	return last
}

// repetition returns the first call that repeated e on purpose and was not rejected, or nil.
func (j *Journal) repetition(e *entry) *entry {
	if i := slices.IndexFunc(e.repeatedBy, (*entry).counts); i >= 0 {
		return e.repeatedBy[i]
	}
	return nil
}

// like returns the calls with one of e's keys. It may return a call twice.
func (j *Journal) like(e *entry) []*entry {
	if e.performed == e.key {
		return j.byKey[e.key]
	}
	return slices.Concat(j.byKey[e.key], j.byKey[e.performed])
}

func (j *Journal) repeated(e *entry) bool { return j.repetition(e) != nil }

// unconsumed returns the step's first entry that has a result for this call and that the attempt has not consumed, or
// nil.
func (q *query) unconsumed() *entry {
	if i := slices.IndexFunc(q.matching(), q.recorded); i >= 0 {
		return q.matching()[i]
	}
	return nil
}

// ok is rule 3. The order of calls to repeatable tools does not matter.
func (q *query) ok() (verdict, error) {
	e := q.unconsumed()
	switch {
	case e == nil || q.insists:
		return undecided()
	case q.call.Tool.Hints.Repeatable:
		return record(e)
	}
	if o := q.journal.outdated(e); o != nil && !q.saysSame() {
		return refuse(q.holdUndone(e, o))
	}
	if o := q.skippedBefore(e); o != nil && q.class != tools.Unclassified {
		return refuse(q.holdSkipped(e, o))
	}
	switch o := q.doneSince(e); {
	case o != nil && q.idempotent():
		return perform()
	case o != nil:
		return refuse(q.holdUndone(e, o))
	}
	return record(e)
}

// saysSame reports whether the program passes {same: …}. In a loop, the argument may name another call's entry.
func (q *query) saysSame() bool { return q.call.Repeat != nil && q.call.Repeat.Same != "" }

// outdated returns the first call after e that may have changed what e read: a call to another tool of e's server that
// may have had an effect. Unclassified tools count as having effects, and the calls of e's own attempt are included. If
// e itself is classified, outdated returns nil.
func (j *Journal) outdated(e *entry) *entry {
	i := slices.IndexFunc(j.entries, func(o *entry) bool {
		return o.id.server == e.id.server && o.id != e.id && o.ordered() && o.called && o.counts() && e.before(o)
	})
	if i < 0 || e.Class != tools.Unclassified || e.destructive {
		return nil
	}
	return j.entries[i]
}

// skippedBefore returns the first effect on the call's server that the attempt of e had before e and that this attempt
// has not consumed, or nil. To consume e first would change the order of the effects.
func (q *query) skippedBefore(e *entry) *entry {
	for _, o := range q.journal.entries {
		before := q.onServer(o) && q.inStep(o) && o.attempt == e.attempt && o.done() && o.before(e)
		if before && !q.consumed(o) && !q.Attempt.named[o] && !q.performed(o) {
			return o
		}
	}
	return nil
}

// performed reports whether this attempt has performed a call like o instead of consuming o. Rule 3 does that for
// idempotent tools.
func (q *query) performed(o *entry) bool {
	return slices.ContainsFunc(q.journal.like(o), func(p *entry) bool { return p.attempt == q.Attempt && p.done() })
}

// doneSince returns the first effect on the call's server that followed e in another attempt, or nil. An effect counts
// if this attempt has not consumed it, or has performed it itself: a program that calls open, close and open must not
// leave the thing closed. The order of two calls to the same tool, such as two mails, matters only for idempotent
// tools, which set something.
func (q *query) doneSince(e *entry) *entry {
	for _, o := range q.journal.entries {
		effect := o.ordered() && o.called && o.counts() && !o.is(q.key)
		own := o.attempt == q.Attempt && (o.id != q.id || q.idempotent())
		if q.onServer(o) && effect && o.attempt != e.attempt && e.before(o) && (!q.consumed(o) || own) {
			return o
		}
	}
	return nil
}

// onServer reports whether o is a call to a classified tool of the call's server. Unclassified tools may only read.
func (q *query) onServer(o *entry) bool {
	return o.id.server == q.call.Tool.Namespace && o.Class != tools.Unclassified
}

// failed is rule 4. It also applies to a call that is done but whose result cannot be used.
// If the call names the entry that it repeats, the later rules do not apply.
func (q *query) failed() (verdict, error) {
	tried := len(q.again) > 0
	var open []*entry
	for _, e := range q.matching() {
		useless := e.isDone() && e.Err != nil && q.consumed(e)
		if (e.State == StateFailed || useless) && !q.journal.repeated(e) {
			tried = true
			if !slices.Contains(q.again, e) {
				open = append(open, e)
			}
		}
	}
	switch {
	case !tried:
		return undecided()
	case q.idempotent():
		return perform()
	case len(open) > 0:
		return refuse(q.holdFailed(open))
	}
	if err := q.holdUnseen(); err != nil {
		return refuse(err)
	}
	return perform()
}

// changedIntoDone is rule 3 for a call that a policy has changed into a recorded call. The call is held, so that the
// program decides.
func (q *query) changedIntoDone() (verdict, error) {
	if e := q.unconsumed(); e != nil && !q.idempotent() && len(q.again) == 0 {
		return refuse(q.hold([]*entry{e}, "a policy changed its arguments into those of %s, which is done. %s",
			e.ID, capital(q.sameOrAgain(e))))
	}
	return undecided()
}

// others is rule 5.
func (q *query) others() (verdict, error) {
	var open []*entry
	for _, e := range q.journal.entries {
		if q.inStep(e) && e.id == q.id && !e.is(q.key) && q.conflicts(e) {
			open = append(open, e)
		}
	}
	if len(open) == 0 || q.harmless() {
		return undecided()
	}
	return refuse(q.holdOthers(open))
}

// conflicts reports whether a call to the same tool with different arguments may be the same effect as this one.
func (q *query) conflicts(e *entry) bool {
	switch {
	case e.attempt == q.Attempt, q.consumed(e), q.named[e]:
		return false
	case e.isDone():
		return !q.all
	}
	return e.uncertain() && !q.resolved(e)
}

// resolved reports whether an uncertain call was named or repeated successfully.
func (q *query) resolved(e *entry) bool {
	return slices.ContainsFunc(e.namedBy, (*entry).counts) || q.doneAfter(e)
}

// harmless reports whether the call may be performed regardless of what was done before: its tool is idempotent, and no
// read on which its arguments may depend has returned a different value.
func (q *query) harmless() bool { return q.idempotent() && q.changed == nil }

// earlier is rule 6.
func (q *query) earlier() (verdict, error) {
	for _, e := range q.matching() {
		again := q.journal.repeated(e) || slices.Contains(q.again, e)
		if e.step < q.step && e.isDone() && !e.past && !again && !q.harmless() {
			return refuse(q.holdEarlier(e))
		}
	}
	return undecided()
}
