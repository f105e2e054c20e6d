package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// performer makes the calls of a program. It implements [dispatch.Performer].
type performer struct {
	settled []string
	lost    bool
	perform func(args json.RawMessage) (json.RawMessage, error)
}

func (p *performer) Performs(b *tools.Binding) bool { return b.Name == "add" }

func (p *performer) Knows(string) bool { return !p.lost }

func (p *performer) Settled(id string, s journal.State) {
	p.settled = append(p.settled, fmt.Sprint(id, " ", s))
}

func (p *performer) Perform(_ context.Context, _ *tools.Binding, args json.RawMessage) (json.RawMessage, error) {
	return p.perform(args)
}

// A call that somebody else makes is made again, and not unknown, if the process ended before its outcome was recorded.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	calls := 0
	do := func(r *resumed, p *performer, call string) string {
		p.perform = func(json.RawMessage) (json.RawMessage, error) { calls++; return json.RawMessage(`7`), nil }
		var err error
		elsewhere := func(id string, b *tools.Binding) bool { return p.Performs(b) && p.Knows(id) }
		o := journal.Options{Elsewhere: elsewhere, OnSettled: p.Settled}
		if r.journal, err = journal.Open(r.log, &o); err != nil {
			t.Fatal(err)
		}
		r.begin("a")
		result, err := r.issue(call).Perform(dispatch.WithPerformer(t.Context(), p))
		if err != nil {
			return err.Error()
		}
		return string(result)
	}
	first, p := &resumed{t: t, log: &memory{}}, &performer{}
	first.handle = func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(`1`), nil }
	first.policy = func(next tools.Caller) tools.Caller { return next }
	first = first.next()
	if got := do(first, p, `add {"n":1}`); got != "7" || calls != 1 || len(first.tried) > 0 {
		t.Errorf("got %s after %d calls; the tools did %v", got, calls, first.tried)
	}
	if got := fmt.Sprint(p.settled); got != "[E1 ok]" {
		t.Errorf("told %s", got)
	}

	// The next process has the outcome. The one after that does not, because the log ends after the dispatch.
	again, p := first.next(), &performer{}
	if got := do(again, p, `add {"n":1}`); got != "7" || calls != 1 || fmt.Sprint(p.settled) != "[E1 ok]" {
		t.Errorf("got %s after %d calls, told %v", got, calls, p.settled)
	}
	cut := &resumed{t: t, log: first.log.all()}
	for i, record := range cut.log.records {
		if strings.Contains(string(record), `"op":"settle"`) {
			cut.log.records = cut.log.records[:i]
			break
		}
	}
	last, p := cut.next(), &performer{}
	if got := do(last, p, `add {"n":1}`); got != "7" || calls != 2 || fmt.Sprint(p.settled) != "[E1 ok]" {
		t.Errorf("got %s after %d calls, told %v", got, calls, p.settled)
	}
	lost := &performer{lost: true} // it does not know what became of the call
	if got := do(cut.next(), lost, `add {"n":1}`); !strings.Contains(got, "unknown") || calls != 2 {
		t.Errorf("of a lost call, got %s after %d calls", got, calls)
	}
	if got := cut.next().begin("a").call(`add {"n":1}`); !strings.Contains(got, "unknown") {
		t.Errorf("without somebody else, got %s", got)
	}
}

// If the process itself made a call, without an outcome, somebody who makes the tool's calls now knows nothing about it.
func TestElsewhereLater(t *testing.T) {
	t.Parallel()
	here := &resumed{t: t, log: &memory{}}
	here.handle = func(context.Context, string) (json.RawMessage, error) { return json.RawMessage(`1`), nil }
	here.policy = func(next tools.Caller) tools.Caller { return next }
	here = here.next()
	here.begin("a").call(`add {"n":1}`)
	cut := &resumed{t: t, log: here.log.all()}
	for i, record := range cut.log.records {
		if strings.Contains(string(record), `"op":"settle"`) {
			cut.log.records = cut.log.records[:i]
			break
		}
	}
	p := &performer{perform: func(json.RawMessage) (json.RawMessage, error) {
		t.Error("the call was made again")
		return nil, nil
	}}
	r := cut.next()
	var err error
	elsewhere := func(_ string, b *tools.Binding) bool { return p.Performs(b) }
	o := journal.Options{Elsewhere: elsewhere, OnSettled: p.Settled}
	if r.journal, err = journal.Open(r.log, &o); err != nil {
		t.Fatal(err)
	}
	r.begin("a")
	_, err = r.issue(`add {"n":1}`).Perform(dispatch.WithPerformer(t.Context(), p))
	if err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("got %v", err)
	}
}
