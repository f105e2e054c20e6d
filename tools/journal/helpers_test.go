package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// hints of the tools that tests call, by name. They are in the namespaces that
// stand before the dot.
var hints = map[string]tools.Hints{
	"db.count": {Class: tools.Read}, "db.list": {Class: tools.Read, Identity: []string{}},
	"db.put": {Class: tools.Idempotent}, "kv.put": {Class: tools.Idempotent},
	"db.add": {}, "db.create": {}, "mail.send": {Identity: []string{"to", "subject"}}, "mail.any": {Identity: []string{}},
	"log.append": {Repeatable: true}, "db.log": {Repeatable: true}, "own": {},
}

// script runs attempts against one journal. Every attempt is a list of calls;
// how a call ends, if it is made, stands behind an arrow.
type script struct {
	t       *testing.T
	journal *journal.Journal
	attempt *journal.Attempt
	tools   map[string]*tools.Binding
	made    int // calls that reached a tool
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{t: t, journal: journal.New(), tools: map[string]*tools.Binding{}}
	var sources []tools.Source
	for path, h := range hints {
		namespace, name, found := strings.Cut(path, ".")
		if !found {
			namespace, name = "", path
		}
		sources = append(sources, &tools.Tool{Namespace: namespace, Name: name, Hints: h,
			Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }})
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range set.Bindings() {
		s.tools[b.Path()] = b
	}
	return s
}

// call is one call on its way.
type call struct {
	entry tools.Entry
	err   error
}

// issue makes a call: db.add({"n":1}).
func (s *script) issue(text string, repeat *tools.Repeat) call {
	s.t.Helper()
	path, args, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if s.tools[path] == nil {
		s.t.Fatalf("no tool %s", path)
	}
	if args == "" {
		args = "{}"
	}
	entry, err := s.attempt.Issue(tools.Call{ID: 1, Tool: s.tools[path], Args: json.RawMessage(args), Repeat: repeat})
	return call{entry, err}
}

// finish ends a call and says how: recorded or live, and with what.
func (s *script) finish(c call, how string) string {
	s.t.Helper()
	switch {
	case c.err != nil && tools.IsFatal(c.err):
		return "stopped: " + c.err.Error()
	case c.err != nil:
		return c.err.Error()
	}
	if result, err, ok := c.entry.Recorded(); ok {
		return "recorded " + ended(result, err)
	}
	if how == "refused" { // by a policy
		c.entry.Settled(nil, &tools.ToolError{Kind: tools.KindDenied, Message: how})
		return "refused"
	}
	if err := c.entry.Dispatched(); err != nil {
		return "not dispatched: " + err.Error()
	}
	s.made++
	if how == "" {
		how = fmt.Sprint(s.made)
	}
	switch kind, isError := strings.CutPrefix(how, "!"); {
	case kind == "fatal":
		c.entry.Settled(nil, tools.Fatal(errors.New(kind)))
	case isError:
		c.entry.Settled(nil, &tools.ToolError{Kind: kind, Message: kind})
	case how != "never":
		c.entry.Settled(json.RawMessage(how), nil)
	}
	return "made " + how
}

func ended(result json.RawMessage, err error) string {
	if te := (*tools.ToolError)(nil); errors.As(err, &te) {
		return "!" + te.Kind
	}
	return string(result)
}

// run plays a scenario. Its lines are
//
//	attempt                       the next program begins
//	keep                          what the last program did stands
//	accept -> E1, E2              the step is accepted, with these orphans
//	seal -> E1, E2                the step is closed for good, with these orphans
//	call -> how                   made; the tool answers so: 5, !failed, never, refused
//	call -> recorded how          answered from the record
//	call {"same":"E1"} -> …       with a second argument
//
// and it is played by comparing what happens with what stands there.
func run(t *testing.T, scenario string) *script {
	t.Helper()
	s := newScript(t)
	for line := range strings.Lines(scenario) {
		line = strings.TrimSpace(line)
		do, want, _ := strings.Cut(line, " -> ")
		var got string
		switch {
		case line == "":
			continue
		case do == "attempt":
			s.attempt = s.journal.Attempt()
		case do == "keep":
			s.journal.Keep()
		case do == "accept":
			got = ids(s.journal.Accept())
		case do == "seal":
			got = ids(s.journal.Seal())
		default:
			got, want = s.play(do, want)
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", do, got, want)
		}
	}
	return s
}

func (s *script) play(do, want string) (got, wanted string) {
	s.t.Helper()
	text, second, found := strings.Cut(do, ") {")
	var repeat *tools.Repeat
	if found {
		repeat = &tools.Repeat{}
		if err := json.Unmarshal([]byte("{"+second), repeat); err != nil {
			s.t.Fatal(err)
		}
	}
	how, isMade := want, true
	for _, other := range []string{"recorded ", "stopped: ", "db.", "mail.", "kv."} {
		isMade = isMade && !strings.HasPrefix(want, other)
	}
	if !isMade {
		how = ""
	} else if want != "refused" {
		want = "made " + want
	}
	return s.finish(s.issue(text, repeat), how), want
}

func ids(entries []journal.Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.ID)
	}
	return strings.Join(list, ", ")
}

// states lists the entries: E1 ok, E2 unknown.
func (s *script) states() string {
	var list []string
	for _, e := range s.journal.Entries() {
		list = append(list, fmt.Sprintf("%s %s", e.ID, e.State))
	}
	return strings.Join(list, ", ")
}
