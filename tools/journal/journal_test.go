package journal_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.program("db.count() = 5", `db.add({"n":1}) = !failed`)
	s.journal.Accept()
	s.program()
	s.program(`shop.buy({"n":2}) = 6`)
	list := s.journal.Entries()
	if len(list) != 3 {
		t.Fatalf("got %d entries", len(list))
	}
	failed := list[1]
	if failed.Err == nil || failed.Err.Error() != "failed" {
		t.Errorf("got error %v", failed.Err)
	}
	want := []journal.Entry{
		{
			ID: "E1", Step: 1, Attempt: 1, Tool: "db.count", Class: tools.Read,
			Args: []byte(`{}`), State: journal.StateOK, Result: []byte(`5`),
		},
		{
			ID: "E2", Step: 1, Attempt: 1, Tool: "db.add", Class: tools.Effect,
			Args: []byte(`{"n":1}`), State: journal.StateFailed, Err: failed.Err,
		},
		{
			ID: "E3", Step: 2, Attempt: 2, Tool: "shop.buy",
			Args: []byte(`{"n":2}`), State: journal.StateOK, Result: []byte(`6`),
		},
	}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("got  %+v\nwant %+v", list, want)
	}
	if open := s.journal.Open(); ids(open) != "E3" {
		t.Errorf("open are %s", ids(open))
	}
}

// Open returns the calls that matter for a rewritten program.
func TestOpen(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.program("db.count() = 5", `db.add({"n":1}) = 1`, `db.put({"n":1}) = !timeout`)
	s.program(`db.log({"n":1}) = !failed`)
	if got := ids(s.journal.Open()); got != "E2, E3, E4" {
		t.Errorf("got %s", got)
	}
	if got := ids(journal.New(nil).Open()) + ids(journal.New(nil).Accept()); got != "" {
		t.Errorf("a new journal has %s", got)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	var seen []string
	see := func() { seen = append(seen, s.states()) }
	c := s.issue(`db.add({"n":1})`, nil)
	see()
	for range 2 { // a policy tries again
		if err := c.entry.Dispatched(c.args); err != nil {
			t.Error(err)
		}
		see()
	}
	c.entry.Settled(json.RawMessage(`1`), nil, "", nil, false)
	see()
	if got := strings.Join(seen, ", "); got != "E1 intended, E1 dispatched, E1 dispatched, E1 ok" {
		t.Errorf("got %s", got)
	}
}

// A call that was not dispatched is rejected, whatever its error says.
func TestNeverDispatched(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	for _, kind := range []string{
		tools.KindUnknown, tools.KindTimeout, tools.KindFailed, tools.KindInvalidResult, tools.KindDenied,
	} {
		s.issue(`db.add({"n":1})`, nil).entry.Settled(nil, &tools.ToolError{Kind: kind}, "", nil, false)
	}
	s.issue(
		`db.add({"n":1})`,
		nil,
	).entry.Settled(
		nil,
		tools.Fatal(&tools.ToolError{Kind: tools.KindFailed}),
		"",
		nil,
		false,
	)
	s.issue(`db.add({"n":1})`, nil).entry.Settled(json.RawMessage(`"from a policy"`), nil, "", nil, false)
	const want = "E1 rejected, E2 rejected, E3 rejected, E4 rejected, E5 rejected, E6 rejected, E7 ok"
	if got := s.states(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.attempt = s.journal.Attempt()
	if got := ids(s.journal.Accept()); got != "" {
		t.Errorf("%s is an orphan, but nothing was done", got)
	}
}

// A dispatched call is unknown when its program ends.
func TestDispatchedAtEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*journal.Journal){
		"by the next attempt":    func(j *journal.Journal) { j.Attempt() },
		"by the end of the step": func(j *journal.Journal) { j.Accept() },
		"by the end of the run":  func(j *journal.Journal) { j.End() },
		"by the next turn":       func(j *journal.Journal) { j.Turn() },
	} {
		s := newScript(t, nil)
		s.program(`db.add({"n":1}) = never`)
		end(s.journal)
		if got := s.states(); got != "E1 unknown" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A dispatched call stays unknown for the next program until its tool answers.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	flying := s.issue(`db.add({"n":1})`, nil)
	if err := flying.entry.Dispatched(flying.args); err != nil {
		t.Fatal(err)
	}
	s.attempt = s.journal.Attempt()
	const unknown = `stopped: journal: whether E1 db.add({"n":1}) took effect is unknown, so the call was not made again; ` +
		"find out what happened, set Options.Reconcile, or, if repeating it does no harm, set the tool's class to Idempotent or Read"
	if got := s.finish(s.issue(`db.add({"n":1})`, nil), ""); got != unknown {
		t.Errorf("got  %s\nwant %s", got, unknown)
	}
	flying.entry.Settled(json.RawMessage(`"late"`), nil, "", nil, false)
	if got := s.finish(s.issue(`db.add({"n":1})`, nil), ""); got != `recorded "late"` {
		t.Errorf("got %s", got)
	}
	if got := s.states(); got != "E1 ok" {
		t.Errorf("got %s", got)
	}
}

// A late answer is concurrent with the calls made in the meantime.
func TestLateAnswerIsConcurrent(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	flying := s.issue(`db.add({"n":1})`, nil)
	if err := flying.entry.Dispatched(flying.args); err != nil {
		t.Fatal(err)
	}
	s.attempt = s.journal.Attempt()
	another := &tools.Repeat{Distinct: []string{"E1"}}
	if got := s.finish(s.issue(`db.add({"n":2})`, another), ""); got != "made 1" {
		t.Errorf("got %s", got)
	}
	flying.entry.Settled(json.RawMessage(`"late"`), nil, "", nil, false)
	s.attempt = s.journal.Attempt()
	if got := s.finish(s.issue(`db.add({"n":2})`, nil), ""); got != "recorded 1" {
		t.Errorf("got %s", got)
	}
}

// A read before a late answer may not have shown the effect.
func TestLateAnswerIsOrphan(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	flying := s.issue(`db.add({"n":1})`, nil)
	if err := flying.entry.Dispatched(flying.args); err != nil {
		t.Fatal(err)
	}
	s.attempt = s.journal.Attempt()
	if got := s.finish(s.issue(`db.count()`, nil), "5"); got != "made 5" {
		t.Errorf("got %s", got)
	}
	flying.entry.Settled(json.RawMessage(`"late"`), nil, "", nil, false)
	if got := ids(s.journal.Accept()); got != "E1" {
		t.Errorf("orphans: %s", got)
	}
}

// Concurrent calls have no order, so that none is held because of another.
func TestOrderOfConcurrentCalls(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	a, b := s.issue(`db.add({"n":1})`, nil), s.issue(`db.add({"n":2})`, nil)
	for _, c := range []call{a, b} {
		if err := c.entry.Dispatched(c.args); err != nil {
			t.Fatal(err)
		}
	}
	a.entry.Settled(json.RawMessage(`1`), nil, "", nil, false)
	b.entry.Settled(json.RawMessage(`2`), nil, "", nil, false)
	s.attempt = s.journal.Attempt()
	if got := s.finish(s.issue(`db.add({"n":2})`, nil), ""); got != "recorded 2" {
		t.Errorf("got %s", got)
	}
}

// One of several concurrent idempotent calls may be repeated.
func TestConcurrentIdempotentCalls(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	a, b := s.issue(`db.put({"k":1})`, nil), s.issue(`db.put({"k":2})`, nil)
	for _, c := range []call{a, b} {
		if err := c.entry.Dispatched(c.args); err != nil {
			t.Fatal(err)
		}
	}
	b.entry.Settled(json.RawMessage(`2`), nil, "", nil, false)
	a.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, "", nil, false)
	s.attempt = s.journal.Attempt()
	if got := s.finish(s.issue(`db.put({"k":1})`, nil), ""); got != "made 1" {
		t.Errorf("got %s", got)
	}
	if got := s.states(); got != "E1 unknown, E2 ok, E3 ok" {
		t.Errorf("got %s", got)
	}
}

// A program that has ended makes no more calls.
func TestEndedProgram(t *testing.T) {
	t.Parallel()
	const over = "journal: the program that made this call has ended"
	for name, end := range map[string]func(*journal.Journal){
		"by the next attempt":      func(j *journal.Journal) { j.Attempt() },
		"by the end of the step":   func(j *journal.Journal) { j.Accept() },
		"by an attempt of another": func(j *journal.Journal) { j.Accept(); j.Attempt() },
		"by the end of the run":    func(j *journal.Journal) { j.End() },
		"by the next turn":         func(j *journal.Journal) { j.Turn() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, nil)
			s.attempt = s.journal.Attempt()
			waiting := s.issue(`db.add({"n":1})`, nil)
			end(s.journal)
			if err := waiting.entry.Dispatched(waiting.args); err == nil || err.Error() != over {
				t.Errorf("got %v", err)
			}
			waiting.entry.Settled(nil, tools.Fatal(fmt.Errorf("whatever")), "", nil, false)
			if got := s.finish(s.issue(`db.add({"n":1})`, nil), ""); got != "stopped: "+over {
				t.Errorf("got %s", got)
			}
			if got := s.states(); got != "E1 rejected" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// Calls made at the same time are concurrent, even if one happened to wait for the other.
func TestOrderByChance(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	a, b := s.issue(`db.add({"n":1})`, nil), s.issue(`db.add({"n":2})`, nil)
	s.finish(b, `"b"`)
	s.finish(a, `"a"`)
	s.attempt = s.journal.Attempt()
	for _, n := range []string{"1", "2"} {
		got := s.finish(s.issue(`db.add({"n":`+n+`})`, nil), "")
		if want := map[string]string{"1": `recorded "a"`, "2": `recorded "b"`}[n]; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLongArgumentsAreCut(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.program(`own({"text":"` + strings.Repeat("ä", 200) + `"}) = !timeout`)
	s.program()
	got := s.finish(s.issue(`own({"text":"`+strings.Repeat("ä", 200)+`"})`, nil), "")
	want := `stopped: journal: whether E1 own({"text":"` + strings.Repeat("ä", 94) + `…) took effect is unknown, ` +
		`so the call was not made again; find out what happened, set Options.Reconcile, or, ` +
		`if repeating it does no harm, set the tool's class to Idempotent or Read`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestArgumentsAreNotJSON(t *testing.T) {
	t.Parallel()
	s := newScript(t, nil)
	s.attempt = s.journal.Attempt()
	want := "stopped: tools: arguments of own: unexpected EOF"
	if got := s.finish(s.issue(`own({)`, nil), ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Calls are issued in order and end in any order. That they happened to wait for each other does
// not make the next program wait, or be held.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	const calls = 300
	s := newScript(t, nil)
	for attempt := range 3 {
		s.attempt = s.journal.Attempt()
		var group sync.WaitGroup
		for i := range calls {
			c := s.issue(fmt.Sprintf(`db.add({"n":%d})`, i), nil)
			if c.err != nil {
				t.Fatal(c.err)
			}
			result, _, recorded := c.entry.Recorded()
			if recorded != (attempt > 0) || recorded && string(result) != fmt.Sprint(i) {
				t.Fatalf("attempt %d: call %d is answered by %q", attempt, i, result)
			}
			if recorded {
				continue
			}
			group.Go(func() {
				if err := c.entry.Dispatched(c.args); err != nil {
					t.Error(err)
				}
				c.entry.Settled(fmt.Appendf(nil, "%d", i), nil, "", nil, false)
				_ = s.journal.Open()
			})
		}
		group.Wait()
	}
	if got := len(s.journal.Entries()); got != calls {
		t.Errorf("there are %d entries", got)
	}
}

// If a tool answers after its turn has ended, the model does not know it: the call is held once more, in the next turn.
func TestLateAnswerInConversation(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		s := newScript(t, nil)
		s.journal.Turn()
		s.program()
		flying := s.issue(`db.add({"n":1})`, nil)
		if err := flying.entry.Dispatched(flying.args); err != nil {
			t.Fatal(err)
		}
		if late {
			s.journal.End()
		}
		flying.entry.Settled(json.RawMessage(`1`), nil, "", nil, false)
		want := "made 2"
		if late {
			want = `held: E1 made exactly this call in an earlier step, and it is done. To take the result of E1, pass ` +
				`{same: "E1"} as the second argument; to do it once more, pass {again: "E1"}`
		}
		for range 2 { // in the turn after the next, it is forgotten
			s.journal.Turn()
			s.program()
			if got := s.finish(s.issue(`db.add({"n":1})`, nil), "2"); got != want {
				t.Errorf("late %v: got %s", late, got)
			}
			want = "made 2"
		}
	}
}
