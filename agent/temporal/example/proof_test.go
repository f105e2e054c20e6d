package main

import (
	"context"
	"crypto/rand"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/temporal"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
)

// TestMain lets the test's executable be a worker or a tool server.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "-role" && os.Args[2] == "solver":
		if err := solve(os.Args[4]); err != nil {
			panic(err)
		}
		os.Exit(0)
	case len(os.Args) > 1 && os.Args[1] == "-role":
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runs is the number of runs of TestProof. The tests need a Temporal server, so they are part of .ci/long.
func runs(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("WRIT_TEST_TEMPORAL"))
	if err != nil {
		t.Skip("set WRIT_TEST_TEMPORAL to a number of runs")
	}
	return n
}

// lab is a world with workers that are started and killed.
type lab struct {
	world
	t      *testing.T
	kills  int
	bot    *temporal.Agent
	client client.Client

	unknown sync.Map // the IDs of the calls whose outcome was reported as unknown
	undone  atomic.Int64
}

func newLab(t *testing.T, c config, workers int) *lab {
	t.Helper()
	l := &lab{t: t}
	l.config, l.Dir = c, t.TempDir()
	t.Cleanup(l.stop)
	must(t, l.start())
	for range workers {
		must(t, l.work())
	}
	box, err := sandbox.New(nil)
	must(t, err)
	t.Cleanup(func() { box.Close() })
	l.bot, err = l.define(box, "")
	must(t, err)
	l.client, err = l.dial()
	must(t, err)
	t.Cleanup(l.client.Close)
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// killAtRandom kills a worker now and then, and starts another one, until ctx ends.
func (l *lab) killAtRandom(ctx context.Context, mean time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(randv2.ExpFloat64() * float64(mean))):
		}
		i := randv2.IntN(len(l.workers))
		l.workers[i].kill()
		l.workers = append(l.workers[:i], l.workers[i+1:]...)
		l.kills++
		if err := l.work(); err != nil {
			l.t.Error(err)
			return
		}
	}
}

// ship runs the agent for a customer.
func (l *lab) ship(ctx context.Context, customer int, how string) error {
	id := fmt.Sprintf("c-%d", customer)
	run, err := l.bot.Start(ctx, l.client, id, agent.Task{Task: "Ship the 20 orders of " + id + " " + how})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	go func() {
		for ctx.Err() == nil {
			time.Sleep(2 * time.Second)
			l.resolve(ctx, id)
		}
	}()
	var answer agent.Answer
	return l.bot.Result(ctx, run, &answer)
}

// resolve answers for the calls whose outcome is unknown.
func (l *lab) resolve(ctx context.Context, id string) {
	waiting, err := l.bot.Waiting(ctx, l.client, id)
	if err != nil {
		return // no worker answers now
	}
	for _, call := range waiting {
		l.unknown.Store(call.ID, true)
		outcome, err := l.lookUp(call)
		if err == nil {
			err = l.bot.Decide(ctx, l.client, id, rand.Text(),
				temporal.Answer{Call: call.ID, Decision: agent.Decision{Outcome: outcome}})
		}
		if err == nil && outcome.State == journal.StateRejected {
			l.undone.Add(1)
		}
	}
}

// shipAll runs the agent for customers, some at once.
func (l *lab) shipAll(first, n, atOnce int, how string) (took time.Duration) {
	began := time.Now()
	var next atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := l.ship(l.t.Context(), first+i, how); err != nil {
					l.t.Errorf("run %d: %v", first+i, err)
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// TestProof makes runs while workers are killed, and compares the tool server's log with the journals. The workflows
// continue as new after some calls.
func TestProof(t *testing.T) {
	n := runs(t)
	t.Log("|")
	t.Log("| tool server | runs | effects | workers killed | continued as new | lost | repeated | " +
		"requests that asked again | reported unknown | of these not done | done without a record | minutes |")
	t.Log("|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, honors := range []bool{true, false} {
		l := newLab(t, config{Honors: honors, Pause: 100 * time.Millisecond, Events: 60}, 4)
		ctx, stop := context.WithCancel(t.Context())
		var killer sync.WaitGroup
		killer.Go(func() { l.killAtRandom(ctx, time.Second) })
		took := l.shipAll(0, n, 32, "")
		stop()
		killer.Wait()
		log, err := rows(l.log())
		must(t, err)
		effects, repeated, again := count(log)
		lost, unrecorded, unknown := 20*n-effects, l.unrecorded(log), 0
		l.unknown.Range(func(any, any) bool { unknown++; return true })
		name := map[bool]string{true: "honors the ID of the effect", false: "does not"}[honors]
		continued, err := l.client.CountWorkflow(t.Context(),
			&workflowservice.CountWorkflowExecutionsRequest{Query: `ExecutionStatus="ContinuedAsNew"`})
		must(t, err)
		t.Logf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f |", name, n, effects, l.kills,
			continued.Count, lost, repeated, again, unknown, l.undone.Load(), unrecorded, took.Minutes())
		if lost+repeated+unrecorded > 0 || honors && unknown > 0 || continued.Count == 0 {
			t.Error("an effect was lost, repeated or not recorded, or no workflow has continued as new")
		}
		if l.kills == 0 || n >= 100 && (honors && again == 0 || !honors && unknown == 0) {
			t.Error("no worker was killed during a call")
		}
		l.stop()
	}
}

// TestLoad measures runs while nothing fails.
func TestLoad(t *testing.T) {
	runs(t)
	l := newLab(t, config{Honors: true}, 2)
	t.Log("|")
	t.Log("| runs at once | calls of a program | calls a second | milliseconds a call | events a call | " +
		"bytes of history a call |")
	t.Log("|---|---|---|---|---|---|")
	customer := 0
	for _, how := range []string{"one at a time", "four at a time"} {
		l.shipAll(customer, 4, 4, how) // warms up
		customer += 4
		for _, atOnce := range []int{1, 4, 16, 64} {
			n := max(4, 2*atOnce)
			took := l.shipAll(customer, n, atOnce, how)
			events, size := l.history(fmt.Sprintf("c-%d", customer))
			customer += n
			t.Logf("| %d | %s | %.0f | %.0f | %.1f | %d |", atOnce, how, float64(20*n)/took.Seconds(),
				float64(took.Milliseconds())*float64(atOnce)/float64(20*n), float64(events)/20, size/20)
		}
	}
	l.stop() // so that the processor time is known
	server, others := 0.0, 0.0
	for i, p := range append(l.servers, l.workers...) {
		if used := p.ProcessState.UserTime() + p.ProcessState.SystemTime(); i == 0 {
			server = used.Seconds()
		} else {
			others += used.Seconds()
		}
	}
	t.Log("|")
	t.Logf("%.0f %% of the processor time was the Temporal server's, the rest that of the workers and the tool server.",
		100*server/(server+others))
}

// history returns the number of events of a run, and their bytes.
func (l *lab) history(id string) (events, size int) {
	all := l.client.GetWorkflowHistory(l.t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		must(l.t, err)
		events, size = events+1, size+proto.Size(e)
	}
	return events, size
}

// unrecorded counts the rows of the log whose calls are not recorded as done in the journal of their run.
func (l *lab) unrecorded(log []row) (n int) {
	store, err := journal.OpenDir(filepath.Join(l.Dir, "journals"))
	must(l.t, err)
	all := agent.NewRuns(store)
	list, err := all.List(l.t.Context())
	must(l.t, err)
	done := map[string]bool{}
	for _, r := range list {
		calls, err := all.Calls(l.t.Context(), r.ID)
		must(l.t, err)
		for run, entries := range calls {
			for _, e := range entries {
				done[run+":"+e.ID] = e.State == journal.StateOK
			}
		}
	}
	for _, r := range log {
		if !done[r.Effect] {
			n++
		}
	}
	return n
}
