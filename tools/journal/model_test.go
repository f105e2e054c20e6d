package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// TestPromise plays random runs against simulated servers, and checks after every call
// what EFFECTS.md calls the invariants 1, 2, 5, 6, 7, 9 and 10.
func TestPromise(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*seeds) {
		m := newModel(t, seed)
		for range 3 {
			m.step()
		}
		m.end()
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(m.story, "\n"))
		}
	}
}

// model is a run, with the true state of the servers.
type model struct {
	t       *testing.T
	rand    *rand.Rand
	journal *journal.Journal
	set     *tools.Set
	index   map[string]int
	clock   int
	rows    []*row // what happened at the servers; nothing is removed
	flying  []flying
	started chan *row       // a call that has not been answered has reached the server
	next    fate            // of the next call
	release chan struct{}   // ends that call, if it hangs
	entries []journal.Entry // the entries when they were last read
	caused  map[string]*row // the rows by the entries that caused them
	late    map[string]bool // calls that were answered late
	fresh   bool            // a program declared that a.touch only reads
	most    map[string]int  // the maximum number of times that one program made a call
	named   map[string]int  // the number of named repeats of a call that were made
	queued  []queued        // calls that were issued and that the program did not wait for
	story   []string

	// The open step:
	first int // its first row

	// The last program:
	made  map[string]int  // the number of times that it made a call
	taken map[string]bool // the results that it got or caused
	names map[string]bool // the entries that it named
	reads []*row
}

// row is one call that a server performed.
type row struct {
	key, result string
	server      string
	read        bool
	known       bool // the answer has arrived or was looked up
	failed      bool // the answer was an error
	issued      int
	ended       int // when it was answered or abandoned
}

// queued is a call that has not been dispatched.
type queued struct {
	key    string
	issued *dispatch.Execution
}

// flying is a dispatched call that has not been answered.
type flying struct {
	row     *row
	release chan struct{}
	ended   chan reply
}

type reply struct {
	result json.RawMessage
	err    error
}

// hanging is the fate of a call that takes effect and is answered only when the next program runs.
const hanging = reject + 1

// stmt is a call of a program with its second argument.
type stmt struct {
	tool, args string
	repeat     *tools.Repeat
}

func (s stmt) key() string { return s.tool + s.args }

func (s stmt) server() string { return s.tool[:1] }

// effect reports whether the call must not be repeated unnoticed.
func effect(key string) bool {
	return strings.Contains(key, ".add") || strings.Contains(key, ".touch")
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		t: t, rand: rand.New(rand.NewPCG(seed, 7)), index: map[string]int{}, started: make(chan *row),
		caused: map[string]*row{}, most: map[string]int{}, named: map[string]int{}, late: map[string]bool{},
	}
	var o *journal.Options
	if seed%2 == 0 {
		o = &journal.Options{Reconcile: m.reconcile}
	}
	m.journal = journal.New(o)
	var sources []tools.Source
	for i, path := range []string{"a.read", "a.put", "a.add", "a.log", "a.touch", "b.read", "b.add"} {
		namespace, name, _ := strings.Cut(path, ".")
		h := map[string]tools.Hints{
			"read": {Class: tools.Read}, "put": {Class: tools.Idempotent}, "add": {Class: tools.Effect},
			"log": {Class: tools.Effect, Repeatable: true},
		}[name]
		m.index[path] = i
		sources = append(sources, &tools.Tool{Namespace: namespace, Name: name, Hints: h,
			Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
				return m.serve(stmt{tool: path, args: string(args)}, m.next)
			}})
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	m.set = set
	return m
}

// serve performs calls on the simulated servers.
func (m *model) serve(s stmt, f fate) (json.RawMessage, error) {
	switch f {
	case reject:
		return nil, &tools.ToolError{Kind: tools.KindUnavailable, Message: "down"}
	case failBefore:
		return nil, errors.New("failed")
	case timeoutBefore:
		return nil, context.DeadlineExceeded
	}
	r := &row{
		key: s.key(), server: s.server(), result: fmt.Sprintf("%q", fmt.Sprintf("%s #%d", s.key(), len(m.rows)+1)),
		read: strings.HasSuffix(s.tool, ".read"), known: f == succeed || f == failAfter, failed: f == failAfter,
		issued: m.tick(),
	}
	m.rows = append(m.rows, r)
	switch f {
	case failAfter:
		return nil, errors.New("failed")
	case timeoutAfter:
		return nil, context.DeadlineExceeded
	case hanging:
		release := m.release
		m.started <- r
		<-release
	}
	return json.RawMessage(r.result), nil
}

func (m *model) tick() int {
	m.clock++
	return m.clock
}

// reconcile returns the true outcome.
func (m *model) reconcile(_ context.Context, e journal.Entry) (journal.Reconciled, error) {
	if m.rand.IntN(4) == 0 {
		return journal.Reconciled{State: journal.StateUnknown}, nil
	}
	r := m.caused[e.ID]
	if r == nil {
		return journal.Reconciled{State: journal.StateRejected}, nil
	}
	r.known, m.late[r.key] = true, true
	return journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(r.result)}, nil
}

// step writes programs until one is accepted.
func (m *model) step() {
	m.first = len(m.rows)
	var program []stmt
	var before []string
	for range 1 + m.rand.IntN(5) {
		unchanged := program != nil && m.rand.IntN(3) == 0
		if !unchanged {
			program, before = m.rewrite(program), nil
		}
		before = m.attempt(program, before)
		if err := m.journal.Reconcile(context.Background()); err != nil {
			m.t.Error(err)
		}
	}
	m.accept()
}

// rewrite makes small changes to a program.
func (m *model) rewrite(old []stmt) []stmt {
	var program []stmt
	for _, s := range old {
		switch m.rand.IntN(8) {
		case 0: // dropped
		case 1:
			program = append(program, m.random(), s)
		case 2:
			s.repeat = m.words()
			program = append(program, s)
		default:
			program = append(program, s)
		}
	}
	for range m.rand.IntN(4) {
		program = append(program, m.random())
	}
	return program
}

func (m *model) random() stmt {
	all := []string{"a.read", "b.read", "a.put", "a.add", "a.add", "a.add", "b.add", "b.add", "a.log", "a.touch"}
	return stmt{tool: all[m.rand.IntN(len(all))], args: fmt.Sprintf(`{"n":%d}`, m.rand.IntN(3))}
}

func (m *model) words() *tools.Repeat {
	id := fmt.Sprintf("E%d", 1+m.rand.IntN(len(m.entries)+1))
	other := fmt.Sprintf("E%d", 1+m.rand.IntN(len(m.entries)+1))
	return []*tools.Repeat{
		nil, {}, {Same: id}, {Again: []string{id}}, {Again: []string{id, other}},
		{Distinct: []string{id}}, {Distinct: []string{"all"}}, {Distinct: []string{"all"}},
		{Distinct: []string{"all"}, Again: []string{id}}, {Fresh: true},
	}[m.rand.IntN(10)]
}

// attempt runs a program and returns the results that it saw, with "" for a call without one.
// before has the results of an earlier run of the same program.
func (m *model) attempt(program []stmt, before []string) (seen []string) {
	m.land()
	m.tell("attempt")
	for _, f := range m.flying {
		f.row.ended = m.tick() // abandoned
	}
	run := dispatch.New(m.set, m.journal.Attempt())
	m.drop()
	m.made, m.taken, m.names, m.reads = map[string]int{}, map[string]bool{}, map[string]bool{}, nil
	uncertain := map[string]bool{}
	for i, s := range program {
		m.land()
		saw, live, stop := m.call(run, s)
		m.check()
		if stop {
			break
		}
		seen = append(seen, saw)
		if i >= len(before) || before[i] == "" {
			uncertain[s.key()] = true
		} else if effect(s.key()) && !m.read(s) && !uncertain[s.key()] && (live || saw != before[i] && !m.late[s.key()]) {
			m.t.Errorf("invariant 7: the program is unchanged, but call %d saw %s before, and now %s", i+1, before[i], saw)
		}
	}
	if m.rand.IntN(2) == 0 {
		run.End()
		m.drop() // otherwise, the next attempt ends the program
	}
	return seen
}

// drop makes calls of a program that has ended.
func (m *model) drop() {
	rows := len(m.rows)
	for _, q := range m.queued {
		m.next = succeed
		if result, err := q.issued.Perform(context.Background()); err == nil || len(m.rows) > rows {
			m.t.Errorf("invariant 10: %s was made after the end of its program: %s", q.key, result)
		}
		m.tell("  %s was dropped", q.key)
	}
	m.queued = nil
}

// read reports whether the call is a read.
func (m *model) read(s stmt) bool {
	says := m.fresh || s.repeat != nil && s.repeat.Fresh
	return strings.HasSuffix(s.tool, ".read") || s.tool == "a.touch" && says
}

// call makes one call. It returns the result that the program sees, whether the
// call was made, and whether the program ends.
func (m *model) call(run *dispatch.Dispatcher, s stmt) (saw string, live, stop bool) {
	m.next = []fate{
		succeed, succeed, succeed, succeed, succeed, reject, failBefore, failAfter, timeoutBefore, timeoutAfter, hanging,
	}[m.rand.IntN(11)]
	m.release = make(chan struct{})
	rows, entries, read := len(m.rows), len(m.journal.Entries()), m.read(s)
	f := flying{release: m.release, ended: make(chan reply, 1)}
	issuedAt := m.tick()
	issued := run.Issue(tools.Call{Args: json.RawMessage(s.args), Repeat: s.repeat}, m.index[s.tool])
	now := m.journal.Entries()
	if live = len(now) > entries; live && m.rand.IntN(8) == 0 {
		m.tell("  %s %+v: queued", s.key(), s.repeat)
		m.name(s)
		m.count(s, s.key(), true)
		m.queued = append(m.queued, queued{s.key(), issued})
		return "", true, false
	}
	go func() {
		result, err := issued.Perform(context.Background())
		f.ended <- reply{result, err}
	}()
	var r reply
	select {
	case f.row = <-m.started: // the program does not wait for it
		m.tell("  %s %+v: flying as %s", s.key(), s.repeat, f.row.result)
		m.flying = append(m.flying, f)
		m.count(s, s.key(), true)
	case r = <-f.ended:
		m.tell("  %s %+v: %s %v, recorded: %v", s.key(), s.repeat, r.result, r.err, issued.Recorded)
		saw, live, stop = m.seen(s, r, issued.Recorded, m.rows[rows:])
	}
	if read && (stop || issued.Recorded) {
		m.t.Errorf("invariant 9: the read %s was not made", s.key())
	}
	if !stop {
		m.name(s)
		m.fresh = m.fresh || s.repeat != nil && s.repeat.Fresh && s.tool == "a.touch"
	}
	for _, made := range m.rows[rows:] {
		made.issued, made.ended, made.read = issuedAt, m.tick(), read
		m.taken[made.result] = true
		m.caused[now[len(now)-1].ID] = made
		if f.row != nil {
			made.ended = 0
		}
		if read {
			m.reads = append(m.reads, made)
		}
	}
	return saw, live, stop
}

// name records the entries that the program names.
func (m *model) name(s stmt) {
	if s.repeat == nil {
		return
	}
	for _, id := range slices.Concat(s.repeat.Again, s.repeat.Distinct) {
		if r := m.caused[id]; r != nil && strings.HasPrefix(r.key, s.tool+"{") { // entries of other tools mean nothing here
			m.names[id] = true
		}
	}
}

// seen records how a call ended.
func (m *model) seen(s stmt, r reply, recorded bool, made []*row) (saw string, live, stop bool) {
	if hold := (*tools.HoldError)(nil); errors.As(r.err, &hold) || tools.IsFatal(r.err) {
		if len(made) > 0 {
			m.t.Error("a call that ended the program was made")
		}
		return "", false, true
	}
	if r.err != nil {
		m.count(s, s.key(), !recorded)
		return "", !recorded, false
	}
	same := s.repeat != nil && s.repeat.Same != ""
	at := slices.IndexFunc(m.rows, func(row *row) bool { return row.result == string(r.result) })
	switch {
	case at < 0 || m.rows[at].key != s.key() && !same:
		m.t.Errorf("invariant 2: %s was answered by %s, which is not one of its rows", s.key(), r.result)
	case recorded == (len(made) > 0):
		m.t.Errorf("invariant 2: recorded is %v, but there are %d new rows", recorded, len(made))
	}
	if at >= 0 {
		m.count(s, m.rows[at].key, !recorded) // the call that the program says it repeats
	}
	m.taken[string(r.result)] = true
	return string(r.result), !recorded, false
}

// count counts a call of the program.
func (m *model) count(s stmt, key string, live bool) {
	m.made[key]++
	m.most[key] = max(m.most[key], m.made[key])
	if live && s.repeat != nil && len(s.repeat.Again) > 0 {
		m.named[key]++
	}
}

// land delivers the answers to some calls.
func (m *model) land() {
	m.flying = slices.DeleteFunc(m.flying, func(f flying) bool {
		if m.rand.IntN(3) > 0 {
			return false
		}
		close(f.release)
		<-f.ended
		f.row.known, f.row.ended, m.late[f.row.key] = true, m.tick(), true
		m.tell("  %s has landed", f.row.result)
		return true
	})
}

// check checks the entries against the truth.
func (m *model) check() {
	rows := map[string]int{}
	for _, r := range m.rows {
		if effect(r.key) && !r.read {
			rows[r.key]++
		}
	}
	for key, n := range rows {
		if n > m.most[key]+m.named[key] {
			m.t.Errorf("invariant 1: %s has %d rows; a program made it %d times at most, and %d repeats were named",
				key, n, m.most[key], m.named[key])
		}
	}
	now := m.journal.Entries()
	for i, e := range m.entries {
		if i >= len(now) || now[i].ID != e.ID || e.State == journal.StateOK && now[i].State != journal.StateOK {
			m.t.Errorf("invariant 5: %s %s has become %+v", e.ID, e.State, now[i:])
			break
		}
	}
	m.entries = now
}

// accept ends the step. Every effect is accounted for once.
func (m *model) accept() {
	for _, f := range m.flying {
		if f.row.ended == 0 {
			f.row.ended = m.tick()
		}
	}
	orphans := map[string]int{}
	for _, e := range m.journal.Accept() {
		orphans[string(e.Result)]++
	}
	m.drop()
	m.tell("accepted; orphans: %v", orphans)
	for _, r := range m.rows[m.first:] {
		want := 1
		if r.read || !r.known || r.failed || strings.Contains(r.key, ".log") || m.taken[r.result] || m.saw(r) {
			want = 0
		}
		if orphans[r.result] != want {
			m.t.Errorf("invariant 6: %+v is an orphan %d times, not %d", r, orphans[r.result], want)
		}
	}
	m.check()
}

// saw reports whether the last program named an effect, or could have seen it.
func (m *model) saw(r *row) bool {
	for id := range m.names {
		if m.caused[id] == r {
			return true
		}
	}
	return slices.ContainsFunc(m.reads, func(read *row) bool {
		return read.server == r.server && read.known && !read.failed && r.ended > 0 && r.ended < read.issued
	})
}

func (m *model) tell(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf(format, args...))
}

// end delivers all answers.
func (m *model) end() {
	for len(m.flying) > 0 {
		m.land()
	}
}
