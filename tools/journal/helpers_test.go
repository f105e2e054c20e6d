package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// hints are the hints of the tools that the tests call, by namespace and name.
var hints = map[string]tools.Hints{
	"db.count": {Class: tools.Read}, "db.put": {Class: tools.Idempotent}, "db.add": {Class: tools.Effect},
	"db.log": {Class: tools.Effect, Repeatable: true}, "log.append": {Class: tools.Effect, Repeatable: true},
	"own": {Class: tools.Effect}, "shop.get_order": {}, "shop.buy": {},
}

// script runs attempts with one journal.
type script struct {
	t       *testing.T
	journal *journal.Journal
	attempt *journal.Attempt
	tools   map[string]*tools.Binding
	made    int // calls that reached a tool
}

func newScript(t *testing.T, o *journal.Options) *script {
	t.Helper()
	s := &script{t: t, journal: journal.New(o), tools: map[string]*tools.Binding{}}
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

// call is a call that is being made.
type call struct {
	text  string
	args  json.RawMessage
	entry dispatch.Entry
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
	entry, err := s.attempt.Issue(tools.Call{ID: 1, Tool: s.tools[path], Args: json.RawMessage(args), Repeat: repeat}, nil)
	return call{fmt.Sprintf("%s(%s)", path, args), json.RawMessage(args), entry, err}
}

// finish ends a call and describes its end: recorded or live, and the result.
func (s *script) finish(c call, how string) string {
	s.t.Helper()
	switch {
	case c.err != nil && tools.IsFatal(c.err):
		return "stopped: " + c.err.Error()
	case c.err != nil:
		hold := (*tools.HoldError)(nil)
		if !errors.As(c.err, &hold) || hold.Call != c.text {
			s.t.Errorf("%s ended with %v, which is not a hold of this call", c.text, c.err)
			return ""
		}
		return "held: " + hold.Message
	}
	if result, err, ok := c.entry.Recorded(); ok {
		return "recorded " + ended(result, err)
	}
	if err := c.entry.Dispatched(c.args); err != nil {
		return "not dispatched: " + err.Error()
	}
	s.made++
	if how == "" {
		how = fmt.Sprint(s.made)
	}
	switch kind, isError := strings.CutPrefix(how, "!"); {
	case isError:
		c.entry.Settled(nil, &tools.ToolError{Kind: kind, Message: kind}, "", nil, false)
	case how != "never":
		c.entry.Settled(json.RawMessage(how), nil, "", nil, false)
	}
	return "made " + how
}

func ended(result json.RawMessage, err error) string {
	if te := (*tools.ToolError)(nil); errors.As(err, &te) {
		return "!" + te.Kind
	}
	return string(result)
}

// program runs a program: each text is a call and how it ends.
func (s *script) program(calls ...string) {
	s.t.Helper()
	s.attempt = s.journal.Attempt()
	for _, text := range calls {
		call, how, _ := strings.Cut(text, " = ")
		s.finish(s.issue(call, nil), how)
	}
}

// continued matches the break of a long line in a scenario.
var continued = regexp.MustCompile(`\s*\n\s*\| `)

// unfold joins continued lines.
func unfold(text string) string { return continued.ReplaceAllString(text, " ") }

// fold breaks long lines. unfold reverses it.
func fold(text string) string {
	const width = 115
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > width {
			at := strings.LastIndexByte(line[:width], ' ')
			if at <= 0 {
				break
			}
			b.WriteString(line[:at] + "\n    | ")
			line = line[at+1:]
		}
		b.WriteString(line)
	}
	return b.String()
}

func ids(entries []journal.Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, e.ID)
	}
	return strings.Join(list, ", ")
}

// states lists the entries: E1 ok, E2 unknown.
func (s *script) states() string { return states(s.journal) }
func (p *play) states() string   { return states(p.journal) }

func states(j *journal.Journal) string {
	var list []string
	for _, e := range j.Entries() {
		list = append(list, fmt.Sprintf("%s %s", e.ID, e.State))
	}
	return strings.Join(list, ", ")
}
