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

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// TestPromise plays random runs against a simulated server, and checks after
// every call what EFFECTS.md calls the invariants 1, 2, 5, 6 and 7.
func TestPromise(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
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

// model is a run, and the truth about it.
type model struct {
	t       *testing.T
	rand    *rand.Rand
	journal *journal.Journal
	set     *tools.Set
	index   map[string]int
	rows    []*row // what happened at the server; never taken back
	flying  []flying
	started chan *row       // a call that is not answered yet is with the server
	next    fate            // of the next call that is made
	release chan struct{}   // and what ends it, if it hangs
	ledger  []journal.Entry // as last seen
	story   []string

	// Of the open step:
	first  int             // its first row
	most   map[string]int  // how often one program made this call, at most
	named  map[string]int  // how often a repeat was made that the program named
	failed map[string]int  // how often the call was reported as failed
	made   map[string]int  // how often the last program made this call
	taken  map[string]bool // the results that the last program was given, or caused
}

// row is one effect at the server.
type row struct {
	key, result string
	known       bool // the answer has come
	failed      bool // it was an error
}

// flying is a call whose answer is to come.
type flying struct {
	row     *row
	release chan struct{}
	ended   chan reply
}

type reply struct {
	result json.RawMessage
	err    error
}

// fate is how the server treats a call.
type fate int

const (
	answered fate = iota
	refused       // provably not done
	failing       // half done, and reported as failed
	lost          // done, but the answer is lost
	vanished      // not done, and no answer either
	hanging       // done, and answered when the next program runs already
)

// step of a program: a call, and what the program says about it.
type stmt struct {
	tool, args string
	repeat     *tools.Repeat
}

func (s stmt) key() string { return s.tool + s.args }

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		t: t, rand: rand.New(rand.NewPCG(seed, 7)), journal: journal.New(), index: map[string]int{},
		started: make(chan *row),
	}
	var sources []tools.Source
	for i, h := range []tools.Hints{{Class: tools.Read}, {Class: tools.Idempotent}, {}, {Repeatable: true}} {
		name := []string{"read", "put", "add", "log"}[i]
		m.index[name] = i
		sources = append(sources, &tools.Tool{Name: name, Hints: h, Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			return m.serve(name+string(args), m.next)
		}})
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	m.set = set
	return m
}

// serve is the server.
func (m *model) serve(key string, f fate) (json.RawMessage, error) {
	switch f {
	case refused:
		return nil, &tools.ToolError{Kind: tools.KindUnavailable, Message: "down"}
	case vanished:
		return nil, context.DeadlineExceeded
	}
	r := &row{key: key, result: fmt.Sprintf("%q", fmt.Sprintf("%s #%d", key, len(m.rows)+1)), known: f == answered || f == failing, failed: f == failing}
	m.rows = append(m.rows, r)
	switch f {
	case failing:
		return nil, errors.New("failed")
	case lost:
		return nil, context.DeadlineExceeded
	case hanging:
		release := m.release
		m.started <- r
		<-release
	}
	return json.RawMessage(r.result), nil
}

// step writes programs until one is accepted.
func (m *model) step() {
	m.first = len(m.rows)
	m.most, m.named, m.failed = map[string]int{}, map[string]int{}, map[string]int{}
	var program []stmt
	var before []string
	for range 1 + m.rand.IntN(5) {
		unchanged := program != nil && m.rand.IntN(3) == 0
		if !unchanged {
			program, before = m.rewrite(program), nil
		}
		before = m.attempt(program, before)
	}
	m.accept()
}

// rewrite changes a program a little.
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
	name := []string{"read", "put", "add", "add", "add", "log"}[m.rand.IntN(6)]
	return stmt{tool: name, args: fmt.Sprintf(`{"n":%d}`, m.rand.IntN(3))}
}

func (m *model) words() *tools.Repeat {
	id := fmt.Sprintf("E%d", 1+m.rand.IntN(len(m.ledger)+1))
	return []*tools.Repeat{nil, {}, {Same: id}, {Again: id}, {Distinct: []string{id}}}[m.rand.IntN(5)]
}

// attempt runs a program, of which an earlier run, if it is the same, saw
// before. It returns what it saw, "" for all that is no result.
func (m *model) attempt(program []stmt, before []string) (seen []string) {
	m.land()
	m.tell("attempt")
	run := m.set.Dispatcher(m.journal.Attempt())
	m.taken = map[string]bool{}
	m.made = map[string]int{}
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
		} else if s.tool == "add" && !uncertain[s.key()] && (live || saw != before[i]) {
			m.t.Errorf("invariant 7: the program is unchanged, but call %d saw %s before, and now %s", i+1, before[i], saw)
		}
	}
	return seen
}

// call makes one call. It returns the result that the program sees, whether the
// call was made, and whether the program ends.
func (m *model) call(run *tools.Dispatcher, s stmt) (saw string, live, stop bool) {
	m.next = []fate{answered, answered, answered, answered, refused, failing, lost, vanished, hanging}[m.rand.IntN(9)]
	m.release = make(chan struct{})
	rows := len(m.rows)
	f := flying{release: m.release, ended: make(chan reply, 1)}
	issued := run.Issue(tools.Call{Args: json.RawMessage(s.args), Repeat: s.repeat}, m.index[s.tool])
	go func() {
		result, err := issued.Perform(context.Background())
		f.ended <- reply{result, err}
	}()
	select {
	case f.row = <-m.started: // the program does not wait for it
		m.tell("  %s %v: flying as %s", s.key(), s.repeat, f.row.result)
		m.flying = append(m.flying, f)
		m.taken[f.row.result] = true
		m.count(s, s.key(), true)
		return "", true, false
	case r := <-f.ended:
		m.tell("  %s %v: %s %v, recorded: %v", s.key(), s.repeat, r.result, r.err, issued.Recorded)
		return m.seen(s, r, issued.Recorded, m.rows[rows:])
	}
}

// seen takes in how a call ended.
func (m *model) seen(s stmt, r reply, recorded bool, made []*row) (saw string, live, stop bool) {
	if hold := (*tools.HoldError)(nil); errors.As(r.err, &hold) || tools.IsFatal(r.err) {
		if len(made) > 0 {
			m.t.Error("a call that ended the program was made")
		}
		return "", false, true
	}
	if r.err != nil {
		m.count(s, s.key(), !recorded)
		if tools.OutcomeOf(r.err) == tools.Failed {
			m.failed[s.key()]++
		}
		return "", !recorded, false
	}
	same := s.repeat != nil && s.repeat.Same != ""
	at := slices.IndexFunc(m.rows, func(row *row) bool { return row.result == string(r.result) })
	switch {
	case at < 0 || m.rows[at].key != s.key() && !same:
		m.t.Errorf("invariant 2: %s was answered by %s, which is no row of it", s.key(), r.result)
	case recorded == (len(made) > 0):
		m.t.Errorf("invariant 2: recorded is %v, but there are %d new rows", recorded, len(made))
	}
	if at >= 0 {
		m.count(s, m.rows[at].key, !recorded) // of what the program says it is the same as
	}
	m.taken[string(r.result)] = true
	return string(r.result), !recorded, false
}

// count takes note that the program made a call.
func (m *model) count(s stmt, key string, live bool) {
	m.made[key]++
	m.most[key] = max(m.most[key], m.made[key])
	if live && s.repeat != nil && (s.repeat.Again != "" || len(s.repeat.Distinct) > 0) {
		m.named[key]++
	}
}

// land lets the answers to some calls come.
func (m *model) land() {
	m.flying = slices.DeleteFunc(m.flying, func(f flying) bool {
		if m.rand.IntN(3) > 0 {
			return false
		}
		close(f.release)
		<-f.ended
		f.row.known = true
		m.tell("  %s has landed", f.row.result)
		return true
	})
}

// check holds the ledger against the truth.
func (m *model) check() {
	rows := map[string]int{}
	for _, r := range m.rows[m.first:] {
		if strings.HasPrefix(r.key, "add") {
			rows[r.key]++
		}
	}
	for key, n := range rows {
		if n > m.most[key]+m.named[key]+m.failed[key] {
			m.t.Errorf("invariant 1: %s has %d rows; the programs made it %d times, named %d repeats, and saw %d failures",
				key, n, m.most[key], m.named[key], m.failed[key])
		}
	}
	now := m.journal.Entries()
	for i, e := range m.ledger {
		if i >= len(now) || now[i].ID != e.ID || e.State == journal.OK && now[i].State != journal.OK {
			m.t.Errorf("invariant 5: %s %s has become %+v", e.ID, e.State, now[i:])
			break
		}
	}
	m.ledger = now
}

// accept ends the step. Every effect is accounted for once.
func (m *model) accept() {
	orphans := map[string]int{}
	for _, e := range m.journal.Accept() {
		orphans[string(e.Result)]++
	}
	m.tell("accepted; orphans: %v", orphans)
	for _, r := range m.rows[m.first:] {
		want := 1
		if !r.known || r.failed || m.taken[r.result] || strings.HasPrefix(r.key, "read") || strings.HasPrefix(r.key, "log") {
			want = 0
		}
		if orphans[r.result] != want {
			m.t.Errorf("invariant 6: %+v is an orphan %d times, not %d", r, orphans[r.result], want)
		}
	}
	m.check()
}

func (m *model) tell(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf(format, args...))
}

// end lets all answers come.
func (m *model) end() {
	for len(m.flying) > 0 {
		m.land()
	}
}
