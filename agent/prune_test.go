package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal"
)

// Prune removes runs that have ended, and spares all others.
func TestPrune(t *testing.T) {
	t.Parallel()
	store := journal.NewMemory()
	b := newBureau(t, open(t), store)
	for i, task := range []string{"note done", "fail", "send waits", "hold x", "hold y", "send cancelled"} {
		b.do(t.Context(), fmt.Sprintf("start r-%d ann %s", i, task))
		if strings.HasPrefix(task, "hold") {
			<-b.holding
		} else {
			b.do(t.Context(), fmt.Sprintf("wait r-%d", i))
		}
		if strings.HasSuffix(task, "y") || strings.HasSuffix(task, "cancelled") {
			b.do(t.Context(), fmt.Sprintf("cancel r-%d", i)) // the outcome of hold is unknown
		}
	}
	runs := agent.NewRuns(store)
	if p, err := runs.Prune(t.Context(), agent.Retention{}); err != nil || p.Removed != nil || p.Compacted != nil {
		t.Errorf("without limits: %v, %v", p, err)
	}
	if p, err := runs.Prune(t.Context(), agent.Retention{Runs: time.Hour, Replies: time.Hour}); err != nil ||
		p.Removed != nil || p.Compacted != nil {
		t.Errorf("too early: %v, %v", p, err)
	}
	p, err := runs.Prune(t.Context(), agent.Retention{Runs: time.Nanosecond})
	if err != nil || fmt.Sprint(p.Removed) != "[r-0 r-1 r-5]" {
		t.Errorf("got %v, %v", p, err)
	}
	if got, want := b.do(t.Context(), "list"), "r-2 ann paused, waits for send:waits\nr-3 ann running\n"+
		"r-4 ann cancelled\nok"; got != want {
		t.Errorf("got\n%s", got)
	}
}

// A log without the replies of models is smaller, and has what is needed to look at the run and to undo it.
func TestCompact(t *testing.T) {
	t.Parallel()
	dir, err := journal.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o, runs := &office{}, agent.NewRuns(dir)
	bot, _ := o.bot(t, "await note({to: 'x'}); submit({answer: 'yes'})")
	if _, err := agent.Start(t.Context(), runs, "r-1", bot, task); err != nil {
		t.Fatal(err)
	}
	failing, _ := o.bot(t, "throw 1") // then the model has no more replies
	if _, err := agent.Start(t.Context(), runs, "r-2", failing, task); err == nil {
		t.Fatal("the run has not failed")
	}
	describe := func() string {
		list, err := runs.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		calls, err := runs.Calls(t.Context(), "r-1")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal([]any{list, calls})
		return string(text)
	}
	records := func() (n int) {
		l, err := dir.Open(context.Background(), "r-1")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, err := range l.Records() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	before, count := describe(), records()
	for i, want := range []string{"[r-1]", "[]"} {
		p, err := runs.Prune(t.Context(), agent.Retention{Replies: time.Nanosecond})
		if err != nil || fmt.Sprint(p.Compacted) != want || p.Removed != nil {
			t.Errorf("%d: %v, %v", i, p, err)
		}
	}
	if describe() != before || records() >= count {
		t.Errorf("%d records, before %d\n%s\nbefore\n%s", records(), count, describe(), before)
	}
	at, err := runs.Checkpoint(t.Context(), "r-1")
	if err != nil {
		t.Fatal(err)
	}
	if pred, err := agent.Resume(t.Context(), runs, bot, at, nil); err != nil || pred.Output.Answer != "yes" {
		t.Errorf("got %v, %v", pred, err)
	}
	if all, err := runs.Rollback(t.Context(), "r-1", o.tools(t)); err != nil || len(all.Left) != 1 {
		t.Errorf("rollback: %v, %v", all, err)
	}
}
