package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal"
)

// A reader that does not read never delays the run, and learns how many events it has missed.
func TestReaderThatNeverReads(t *testing.T) {
	t.Parallel()
	b := newBureau(t, open(t), journal.NewMemory())
	b.do(t.Context(), "start r-1 ann many 200, hold x")
	next, stop := iter.Pull2(b.runner.Events(t.Context(), "r-1", ""))
	defer stop()
	first, err, ok := next()
	if !ok || err != nil || first.Type != "queued" && first.Type != "running" {
		t.Fatalf("got %v, %v", first, err)
	}
	<-b.holding // the run goes on without the reader
	close(b.release["x"])
	gaps, last := 0, ""
	for e, err, ok := next(); ok; e, err, ok = next() {
		if err != nil {
			t.Fatal(err)
		}
		if last = e.Type; last == "gap" {
			var gap struct{ Missing int }
			if err := json.Unmarshal(e.Data, &gap); err != nil || gap.Missing < 1 {
				t.Errorf("%s: %v", e.Data, err)
			}
			gaps += gap.Missing
		}
		if len(e.Data) > 1<<20 || !json.Valid(e.Data) {
			t.Errorf("%s has %d bytes of data", e.Type, len(e.Data))
		}
	}
	if gaps == 0 || last != "done" {
		t.Errorf("%d events are missing, and the last one is %q", gaps, last)
	}
}

// A reader that comes back gets what follows, and after the run went on, everything again.
func TestEventsAfter(t *testing.T) {
	t.Parallel()
	b := newBureau(t, open(t), journal.NewMemory())
	b.do(t.Context(), "start r-1 ann note a, hold x, send bob")
	<-b.holding
	read := func(after string, until func(agent.RunEvent) bool) (ids, types []string) {
		for e, err := range b.runner.Events(t.Context(), "r-1", after) {
			if err != nil {
				t.Fatal(err)
			}
			ids, types = append(ids, e.ID), append(types, e.Type)
			if until(e) {
				break
			}
		}
		return ids, types
	}
	holds := func(e agent.RunEvent) bool {
		return e.Type == "ToolCallStart" && strings.Contains(string(e.Data), `"hold"`)
	}
	never := func(agent.RunEvent) bool { return false }
	all, types := read("", holds)
	if got := strings.Join(types, " "); got != "running RunStart ProgramStart ToolCallStart ToolCallEnd ToolCallStart" {
		t.Errorf("got %s", got)
	}
	for i, id := range all[:len(all)-1] {
		if rest, _ := read(id, holds); !slices.Equal(rest, all[i+1:]) {
			t.Errorf("after %s: %v, want %v", id, rest, all[i+1:])
		}
	}
	for _, id := range []string{"x", "1.100", "1.-1", "7.1", "0.3"} { // no event has such an ID
		if got, _ := read(id, holds); !slices.Equal(got, all) {
			t.Errorf("after %s: %v, want %v", id, got, all)
		}
	}
	close(b.release["x"])
	_, types = read(all[len(all)-1], never)
	if got := strings.Join(types, " "); got != "ToolCallEnd ToolCallStart ToolCallEnd ProgramEnd RunEnd paused" {
		t.Errorf("got %s", got)
	}
	b.do(t.Context(), "wait r-1")
	last, types := read("", never)
	if fmt.Sprint(last, types) != "[1.0] [paused]" {
		t.Errorf("got %v %v", last, types)
	}
	b.do(t.Context(), "decide r-1 bob yes")
	_, types = read(all[2], never)
	if got := types[len(types)-1]; got != "done" {
		t.Errorf("got %v", types)
	}
}

// A reader whose context is done ends.
func TestEventsCanceled(t *testing.T) {
	t.Parallel()
	b := newBureau(t, open(t), journal.NewMemory())
	b.do(t.Context(), "start r-1 ann hold x")
	<-b.holding
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	cancel(mine)
	var last error
	for _, err := range b.runner.Events(ctx, "r-1", "") {
		last = err
	}
	if !errors.Is(last, mine) {
		t.Errorf("got %v", last)
	}
}
