package vm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
)

// recorded returns a job that records turns, and first repeats turns in which the given calls (numbers) are answered
// and the given timers (negative numbers) fire.
func recorded(source string, turns ...int) *engine.Job {
	j := job(source)
	j.Record, j.Clock = true, &engine.Clock{Start: 1000, Seed: 1}
	for i, n := range turns {
		t := engine.Turn{Call: n, At: int64(2000 + i)}
		if n < 0 {
			t = engine.Turn{Timer: int64(-n), At: t.At}
		}
		j.Turns = append(j.Turns, t)
	}
	return j
}

// Replies are delivered in the recorded order, whatever the order in which they arrive, and at the recorded times. Then
// the program goes on by itself.
func TestTurnsAreRepeated(t *testing.T) {
	t.Parallel()
	const race = `const log = []; const note = n => v => log.push(n, Date.now());
		await Promise.all([1, 2, 3].map(n => refund({n}).then(note(n))).concat(sleep(1e9).then(note(4)))); log`
	const once = `const t = setInterval(() => {}, 1); await refund({}); clearInterval(t); Date.now()`
	for _, test := range []struct {
		job  *engine.Job
		want string // the beginning of the value
	}{
		{recorded(race, -1, 3, 1, 2), `[4,2000,3,2001,1,2002,2,2003]`},
		{recorded(race, 2, -1, 1, 3), `[2,2000,4,2001,1,2002,3,2003]`},
		{recorded(race, -1, 3), `[4,2000,3,2001,`},
		{recorded(once, -1, -1, 1), `2002`},
		{recorded(`await refund({}); await sleep(2); await sleep(3); [Date.now()]`, 1, -1), `[`},
	} {
		waiting := make(chan func(), 10)
		h := &enginetest.Host{OnCall: func(c engine.Call, reply func(engine.Reply)) {
			waiting <- func() { reply(engine.Reply{Value: c.Args}) }
		}}
		done := make(chan *engine.Result)
		go func() { done <- new(Engine).Run(t.Context(), test.job, h) }()
		go func() {
			for answer := range waiting {
				time.Sleep(time.Millisecond)
				answer()
			}
		}()
		got := <-done
		close(waiting)
		if got.Failure != nil || !strings.HasPrefix(string(got.Value), test.want) {
			t.Errorf("got %s, %+v; want %s", got.Value, got.Failure, test.want)
		}
	}
}

// A call has the turns since the call before it, and the result those since the last call.
func TestTurnsAreReported(t *testing.T) {
	t.Parallel()
	var got []string
	note := func(turns []engine.Turn) {
		text := ""
		for _, turn := range turns {
			text += fmt.Sprint(turn.Call, "/", turn.Timer, " ")
		}
		got = append(got, text)
	}
	h := &enginetest.Host{OnCall: func(c engine.Call, reply func(engine.Reply)) {
		note(c.Turns)
		go reply(engine.Reply{})
	}}
	const source = `const t = sleep(1e9); await refund({}); await t; await refund({}); await sleep(1); 1`
	for _, record := range []bool{true, false} {
		j := recorded(source, 1, -1, 2, -2)
		j.Record = record
		note(new(Engine).Run(t.Context(), j, h).Turns)
	}
	if text := fmt.Sprintf("%q", got); text != `["" "1/0 0/1 " "2/0 0/2 " "" "" ""]` {
		t.Errorf("got %s", text)
	}
}

func TestDiverged(t *testing.T) {
	t.Parallel()
	stop := recorded(`await sleep(1e9)`)
	stop.Stop = &engine.Result{Failure: &engine.Failure{Kind: engine.KindTimeout, Message: "too long"}}
	ends, early := *stop, *stop
	ends.Source, early.Source, early.Turns = "1", "1", recorded("", 1).Turns
	for _, test := range []struct {
		job  *engine.Job
		want string
	}{
		{stop, "timeout: too long"},
		{&ends, "timeout: too long"},
		{&early, "diverged: the program waited 1 times, but its rerun waited 0 times"},
		{recorded(`await refund({})`, 2), "diverged: at turn 1 the reply to call 2 arrived, but the rerun did not make the call"},
		{recorded(`await refund({}); await sleep(1e9)`, 1, 1),
			"diverged: at turn 2 the reply to call 1 arrived, but the rerun did not make the call"},
		{recorded(`await refund({}); await sleep(1e9)`, -1), "diverged: at turn 1 timer 1 fired, but the rerun has no such timer"},
		{recorded(`await refund({})`, 1, 2), "diverged: the program waited 2 times, but its rerun waited 1 times"},
		{recorded(`submit(1)`, 1), "diverged: the program waited 1 times, but its rerun waited 0 times"},
		{recorded(`null.x`, 1), "diverged: the program waited 1 times, but its rerun waited 0 times and then failed: " +
			"TypeError: Cannot read properties of undefined or null (reading 'x')"},
		{recorded(`await new Promise(() => {})`, 1), "diverged: the program waited 1 times, but its rerun waited 0 times " +
			"and then failed: the program awaits a promise that nothing will settle"},
		{recorded(`let a = ;`, 1), "syntax: unexpected ; in expression"},
	} {
		got := new(Engine).Run(t.Context(), test.job, &enginetest.Host{}).Failure
		if got == nil || got.Kind+": "+got.Message != test.want {
			t.Errorf("%s\ngave %+v\nwant %s", test.job.Source, got, test.want)
		}
	}
}

// Turns are bounded, whether the program is repeated or not.
func TestMaxTurns(t *testing.T) {
	t.Parallel()
	turns := make([]int, engine.MaxTurns)
	for i := range turns {
		turns[i] = -1
	}
	got := new(Engine).Run(t.Context(), recorded(`setInterval(() => {}, 0); await refund({})`, turns...),
		&enginetest.Host{OnCall: func(engine.Call, func(engine.Reply)) {}})
	if got.Failure == nil || got.Failure.Kind != engine.KindComputeLimit || len(got.Turns) != engine.MaxTurns+1 {
		t.Errorf("got %+v and %d turns", got.Failure, len(got.Turns))
	}
}
