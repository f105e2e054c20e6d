package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// opened returns a script with a log.
func opened(t *testing.T, log journal.Log) *script {
	t.Helper()
	s := newScript(t, nil)
	var err error
	if s.journal, err = journal.Open(log, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// begin starts a program and returns the recorded start.
func (s *script) begin(source string) string {
	s.t.Helper()
	s.attempt = s.journal.Attempt()
	start, turns, err := s.attempt.Begin([]byte(source), []byte("now"))
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s %s", start, turns)
}

func (s *script) do(text, how string) string {
	s.t.Helper()
	return s.finish(s.issue(text, nil), how)
}

// recorded returns a log with one program of two calls, and a second program.
func recorded(t *testing.T) *memory {
	t.Helper()
	log := &memory{}
	s := opened(t, log)
	s.begin("one")
	s.do(`db.add({"n":1})`, "1")
	s.attempt.Turns([][]byte{[]byte("a"), []byte("b")})
	s.do(`db.count()`, "5")
	s.journal.End()
	s.begin("two")
	s.do(`db.add({"n":1})`, "")
	s.journal.End()
	s.journal.Accept()
	return log.cut(len(log.records))
}

// When a program is repeated, a timer may fire before a hold ends the program. It fired in no recorded program.
func TestTurnBeforeRecordedHold(t *testing.T) {
	t.Parallel()
	held := func(s *script) {
		s.begin("one")
		s.do(`db.add({"n":1})`, "1")
		s.journal.End()
		s.begin("two")
		if c := s.issue(`db.add({"n":2})`, nil); c.err == nil {
			t.Fatal("the call is not held")
		}
	}
	log := &memory{}
	s := opened(t, log)
	held(s)
	s.journal.End()
	s.begin("three")
	s.attempt.Turns([][]byte{[]byte("a")})
	for range 2 {
		log = log.cut(len(log.records))
		s = opened(t, log)
		held(s)
		s.attempt.Turns([][]byte{[]byte("timer")})
		s.journal.End()
		if got := s.begin("three"); got != "now [a]" {
			t.Errorf("the third program began with %s", got)
		}
	}
}

// A repeated program must do what was recorded.
func TestDiverged(t *testing.T) {
	t.Parallel()
	one := func(s *script) { s.begin("one"); s.do(`db.add({"n":1})`, "") }
	for name, c := range map[string]struct {
		program func(s *script)
		want    string
	}{
		"another call": {func(s *script) { s.begin("one"); s.do(`db.add({"n":2})`, "") },
			`in step 1, program 1, at call 1: then the program called db.add({"n":1}); now it called db.add({"n":2})`},
		"another tool": {func(s *script) { s.begin("one"); s.do(`db.put({"n":1})`, "") }, `now it called db.put({"n":1})`},
		"another second argument": {func(s *script) {
			s.begin("one")
			s.finish(s.issue(`db.add({"n":1})`, &tools.Repeat{Distinct: []string{"all"}}), "")
		}, `now it called db.add({"n":1}) with the second argument {"distinct":["all"]}`},
		"an early end":     {func(s *script) { one(s); s.journal.End() }, `at call 2: then the program called db.count({}); now it ended`},
		"an early attempt": {func(s *script) { one(s); s.journal.Attempt() }, `now it ended, and another program began`},
		"an early accept":  {func(s *script) { one(s); s.journal.Accept() }, `now it ended, and its step was closed`},
		"an extra call": {func(s *script) { one(s); s.do(`db.count()`, ""); s.do(`db.count()`, "") },
			`at call 3: then the program ended, and another program began; now it called db.count({})`},
		"no sandbox": {func(s *script) { s.attempt = s.journal.Attempt(); s.do(`db.add({"n":1})`, "") },
			`then the program began to run in a sandbox; now it called`},
	} {
		log := recorded(t)
		before := len(log.records)
		s := opened(t, log)
		c.program(s)
		err := s.journal.Sync(t.Context())
		diverged, ok := errors.AsType[*journal.DivergedError](err)
		if !ok || !tools.IsFatal(err) || !strings.Contains(diverged.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		s.attempt = s.journal.Attempt()
		if got := s.do(`db.add({"n":7})`, ""); s.made > 0 || len(log.records) > before {
			t.Errorf("%s: the run goes on: %s\n%s", name, got, joined(log.records[before:]))
		}
	}
}

// A program that is the same gets its start and its turns; another one is an ordinary rewritten program, also when the
// run is repeated once more.
func TestRewritten(t *testing.T) {
	t.Parallel()
	log := recorded(t)
	s := opened(t, log)
	if got := s.begin("one"); got != "now [a b]" {
		t.Errorf("the program begins with %s", got)
	}
	var got []string
	for _, source := range []string{"new", "new", "newer", "newer", "new", "new", "one", "one"} {
		log = log.cut(len(log.records))
		s = opened(t, log)
		s.attempt = s.journal.Attempt()
		if _, _, err := s.attempt.Begin([]byte(source), nil); err != nil {
			t.Fatal(err)
		}
		text := s.do(`db.count()`, "6") + ", " + s.do(`db.add({"n":1})`, "2")
		s.journal.End()
		got = append(got, text+", "+states(s.journal))
	}
	const held = `, held: E1 made exactly this call in an earlier step, and it is done. To take the result of E1, ` +
		`pass {same: "E1"} as the second argument; to do it once more, pass {again: "E1"}, E1 ok, E2 ok, E3 ok`
	want := []string{
		"made 6" + held, "recorded 6" + held, "made 6" + held + ", E4 ok", "recorded 6" + held + ", E4 ok",
		"recorded 6" + held, "recorded 6" + held,
		"made 6" + held + ", E4 ok, E5 ok", "recorded 6" + held + ", E4 ok, E5 ok",
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%d: got  %s\nwant %s", i, got[i], want[i])
		}
	}
}

// Open refuses a log that does not fit. The error names the record.
func TestBadLogs(t *testing.T) {
	t.Parallel()
	const run = `{"op":"run","format":1,"run":"r-1"}`
	const add = `{"op":"issue","id":"E1","tool":"db.add","server":"db","name":"add","key":"AA=="}`
	for _, c := range []struct{ records, want string }{
		{`{"op":"attempt"}`, "record 1 of the log: it is not a log of this version of Writ (format 1)"},
		{`{"op":"run","format":2,"run":"r-1"}`, "record 1 of the log: it is not a log of this version"},
		{`x`, "record 1 of the log: invalid character"},
		{run + "\n" + run, "record 2 of the log: it is not a log"},
		{run + "\n" + `{"op":"attempt","new":1}`, `record 2 of the log: json: unknown field "new"`},
		{run + "\n" + `{"op":"attempt"} {}`, `record 2 of the log: unexpected data after the end`},
		{run + "\n" + `{"op":"dance","id":"E1"}`, `record 2 of the log: dance: "E1" is not an entry`},
		{run + "\n" + add, `record 2 of the log: issue: no program is running`},
		{run + "\n" + `{"op":"attempt"}` + "\n" + add + "\n" + add, `record 4 of the log: issue: the next entry is E2, not "E1"`},
		{run + "\n" + `{"op":"attempt"}` + "\n" + add + "\n" + `{"op":"settle","id":"E1","state":"ok"}` + "\n" +
			`{"op":"dispatch","id":"E1"}`, `record 5 of the log: dispatch: E1 has ended already`},
		{run + "\n" + `{"op":"attempt"}` + "\n" + add + "\n" + `{"op":"dance","id":"E1"}`,
			`record 4 of the log: dance: the kind of operation "dance" is unknown`},
		{run + "\n" + `{"op":"attempt"}` + "\n" + `{"op":"issue","id":"E9"}`, `record 3 of the log: issue: "E9" is not an entry`},
		{run + "\n" + `{"op":"attempt"}` + "\n" + strings.Replace(add, `"id"`, `"named":["E7"],"id"`, 1),
			`record 3 of the log: issue: it names an entry that does not exist`},
	} {
		log := &memory{}
		for record := range strings.Lines(c.records) {
			log.records = append(log.records, []byte(strings.TrimSpace(record)))
		}
		_, err := journal.Open(log, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if _, err2 := journal.Read(log); err2 == nil || err2.Error() != err.Error() {
			t.Errorf("Read returns %v", err2)
		}
	}
	log := &memory{records: [][]byte{[]byte(run)}}
	if _, err := journal.Open(log, &journal.Options{Run: "r-2"}); err == nil {
		t.Error("the log of another run is opened")
	}
}

// An effect is durable before it is dispatched; a read need not be.
func TestWriteAhead(t *testing.T) {
	t.Parallel()
	log := &memory{}
	s := opened(t, log)
	s.begin("one")
	read, add := s.issue(`db.count()`, nil), s.issue(`db.add({"n":1})`, nil)
	if err := read.entry.Dispatched(read.args); err != nil || log.synced != 0 {
		t.Errorf("%v, %d records are synced for a read", err, log.synced)
	}
	if err := add.entry.Dispatched(add.args); err != nil || log.synced != len(log.records) {
		t.Errorf("%v, %d of %d records are synced", err, log.synced, len(log.records))
	}
	add.entry.Settled(json.RawMessage(`1`), nil, "", nil, false)
	if err := s.journal.Sync(t.Context()); err != nil || log.synced != len(log.records) {
		t.Errorf("%v, %d of %d records are synced", err, log.synced, len(log.records))
	}
}

// If the log cannot be written, nothing is done any more.
func TestLogFails(t *testing.T) {
	t.Parallel()
	log := &memory{}
	s := opened(t, log)
	s.begin("one")
	add := s.issue(`db.add({"n":1})`, nil)
	log.err = errors.New("disk full")
	if err := add.entry.Dispatched(add.args); !tools.IsFatal(err) || !errors.Is(err, log.err) {
		t.Errorf("the call is dispatched: %v", err)
	}
	add.entry.Settled(nil, tools.Fatal(log.err), "", nil, false)
	if got := s.states(); got != "E1 rejected" {
		t.Errorf("the call was not made, but the states are %s", got)
	}
	log.err = nil
	if got := s.do(`db.add({"n":2})`, ""); got != "stopped: journal: writing the log: disk full" {
		t.Errorf("the next call is %s", got)
	}
	if err := s.journal.Sync(t.Context()); !tools.IsFatal(err) {
		t.Errorf("Sync returns %v", err)
	}
}

// A call whose outcome is unknown can be resolved, once. When the run is repeated, the program gets what was found out.
func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call, want string
		r          journal.Reconciled
	}{
		{`db.add({"n":1})`, "recorded 7", journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(`7`)}},
		{`db.add({"n":1})`, "made 1", journal.Reconciled{State: journal.StateRejected}},
		{`db.add({"n":1})`, `stopped: journal: whether E1 db.add({"n":1}) took effect is unknown, so the call was not made ` +
			`again; find out what happened, set Options.Reconcile, or, if repeating it does no harm, set the tool's class ` +
			`to Idempotent or Read`, journal.Reconciled{}},
		{`db.put({"n":1})`, "made 1", journal.Reconciled{}},
		{`db.log({"n":1})`, "made 1", journal.Reconciled{}},
		{`db.count({"n":1})`, "made 1", journal.Reconciled{}},
	} {
		log := &memory{}
		s := opened(t, log)
		s.begin("one")
		s.do(c.call, "never")
		log = log.cut(len(log.records)) // the process ends
		s = opened(t, log)
		if c.r.State != "" {
			if err := s.journal.Resolve("E1", c.r); err != nil || log.synced != len(log.records) {
				t.Error(err)
			}
			if err := s.journal.Resolve("E1", c.r); err == nil {
				t.Error("a resolved call is resolved again")
			}
			s = opened(t, log.cut(len(log.records)))
		}
		s.begin("one")
		if got := s.do(c.call, ""); got != c.want {
			t.Errorf("%s: got %s, want %s", c.call, got, c.want)
		}
	}
	s := opened(t, &memory{})
	s.begin("one")
	s.do(`db.add({"n":1})`, "never")
	ok := journal.Reconciled{State: journal.StateOK}
	if err := s.journal.Resolve("E1", ok); err == nil {
		t.Error("a call in progress is resolved")
	}
	s.journal.End()
	for id, r := range map[string]journal.Reconciled{"E2": ok, "E1": {State: journal.StateUnknown}} {
		if err := s.journal.Resolve(id, r); err == nil {
			t.Errorf("%s is resolved as %s", id, r.State)
		}
	}
}

// An idempotent call is not made again after another effect on its server, and an effect ID stays the same.
func TestInFlight(t *testing.T) {
	t.Parallel()
	log := &memory{}
	s := opened(t, log)
	s.begin("one")
	first := s.issue(`db.put({"n":1})`, nil)
	id := first.entry.Effect()
	s.finish(first, "never")
	cut := len(log.records)
	s.do(`db.add({"n":1})`, "1")
	s = opened(t, log.cut(cut))
	s.begin("one")
	if again := s.issue(`db.put({"n":1})`, nil); again.entry.Effect() != id || s.finish(again, "") != "made 1" {
		t.Errorf("the effect %v is made again as %v", id, again.entry.Effect())
	}
	s = opened(t, log)
	s.begin("one")
	if got := s.do(`db.put({"n":1})`, ""); !strings.HasPrefix(got, "stopped: journal: whether E1") {
		t.Errorf("got %s", got)
	}
}

// A call that waits for a person when the run ends is made when the run is resumed.
func TestPaused(t *testing.T) {
	t.Parallel()
	log := &memory{}
	s := opened(t, log)
	s.begin("one")
	waiting := s.issue(`db.add({"n":1})`, nil)
	waiting.entry.Settled(nil, tools.Fatal(fmt.Errorf("it waits: %w", place.ErrPaused)), "", nil, false)
	s.journal.End()
	if entries, err := journal.Read(log); err != nil || s.states() != "E1 intended" || entries[0].State != "intended" {
		t.Errorf("%s, %v, %v", s.states(), entries, err)
	}
	s = opened(t, log)
	s.begin("one")
	if got := s.do(`db.add({"n":1})`, "1") + " " + s.do(`db.add({"n":2})`, "2"); got != "made 1 made 2" {
		t.Errorf("got %s", got)
	}
	if _, err := journal.Read(log); err != nil {
		t.Error(err)
	}
}

// A repeated call has spent what was recorded when its last try ended.
func TestSpent(t *testing.T) {
	t.Parallel()
	log := &memory{}
	s := opened(t, log)
	s.begin("one")
	add := s.issue(`db.add({"n":1})`, nil)
	if err := add.entry.Dispatched(add.args); err != nil {
		t.Fatal(err)
	}
	add.entry.Settled(nil, &tools.ToolError{Kind: tools.KindTimeout}, "", json.RawMessage(`{"calls":1}`), true)
	add.entry.Settled(json.RawMessage(`1`), nil, "", json.RawMessage(`{"calls":2}`), false)
	s = opened(t, log)
	s.begin("one")
	again, ok := s.issue(`db.add({"n":1})`, nil).entry.(dispatch.Replayed)
	if !ok || string(again.Spent()) != `{"calls":2}` {
		t.Errorf("got %v", again)
	}
}
