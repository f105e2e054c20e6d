package module_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// begun returns a tool that returns only after the program has ended, which it learns from a policy, and a tool that
// waits until the first has begun.
func begun(t *testing.T, answer error) *tools.Set {
	started, asking, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	stop := tools.Func("stop", "", func(context.Context, struct{}) (int, error) {
		close(started)
		<-ended
		return 1, answer
	}, &tools.Hints{Class: tools.Effect})
	look := tools.Func("look", "", func(context.Context, struct{}) (int, error) {
		<-started
		<-asking
		return 1, nil
	}, &tools.Hints{Class: tools.Read})
	wait := tools.Func(
		"wait",
		"",
		func(context.Context, struct{}) (int, error) { return 1, nil },
		&tools.Hints{Class: tools.Effect},
	)
	ask := func(ctx context.Context, _ policy.Request) (policy.Decision, error) {
		close(asking)
		<-ctx.Done()
		close(ended)
		return policy.Decision{}, nil
	}
	return toolSet(t, stop, look, wait).With(policy.If(policy.Tools("wait"), policy.Approve(ask)))
}

// A tool's fatal error ends the run even if the program has ended before.
func TestFatalErrorAfterProgramEnd(t *testing.T) {
	t.Parallel()
	for _, end := range []string{`throw 1`, `submit({total: 1})`} {
		closed := errors.New("the account is closed")
		model := llmtest.New(fence(`stop({}); wait({}); await look({}); `+end), submit1)
		_, err := module.NewCodeAct(adding, model, inProcess(t), begun(t, tools.Fatal(closed)), nil).
			Run(t.Context(), anything)
		if !errors.Is(err, closed) {
			t.Errorf("%s: got %v", end, err)
		}
	}
}

// A policy that retries a call does not ask for approval after the program has ended.
func TestNoRetryAfterProgramEnd(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	tried := make(chan struct{}, 10)
	send := tools.Func("send", "", func(context.Context, struct{}) (int, error) {
		tried <- struct{}{}
		return 0, &tools.ToolError{Kind: tools.KindUnavailable, Message: "down"}
	}, &tools.Hints{Class: tools.Effect})
	look := tools.Func(
		"look",
		"",
		func(context.Context, struct{}) (int, error) { <-tried; return 1, nil },
		&tools.Hints{Class: tools.Read},
	)
	ask := func(context.Context, policy.Request) (policy.Decision, error) {
		asked.Add(1)
		return policy.Decision{Approved: true}, nil
	}
	set := toolSet(t, send, look).With(policy.Retry(&policy.RetryOptions{Delay: time.Hour, MaxDelay: time.Hour}),
		policy.If(policy.Tools("send"), policy.Approve(ask)))
	model := llmtest.New(fence(`send({}); await look({}); throw 1`), submit1)
	mustRun(t, module.NewCodeAct(adding, model, inProcess(t), set, nil), anything)
	if n := asked.Load(); n != 1 {
		t.Errorf("a person was asked %d times", n)
	}
}

// Tool calls in getters of a thrown error are not made.
func TestErrorGettersCallNothing(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	send := tools.Func(
		"send",
		"",
		func(context.Context, struct{}) (int64, error) { return sent.Add(1), nil },
		&tools.Hints{Class: tools.Effect},
	)
	model := llmtest.New(fence(`const e = new Error("y");
Object.defineProperty(e, "message", {get() { send({}); for (let i = 0; i < 3e5; i++); return "x" }});
throw e`), submit1)
	if _, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, send), nil).
		Run(t.Context(), anything); err != nil {
		t.Fatal(err)
	}
	if n := sent.Load(); n > 0 {
		t.Errorf("%d were sent", n)
	}
}

// A policy that changes a call into one whose outcome is unknown does not repeat that call.
func TestPolicyChangesCallIntoUnknownCall(t *testing.T) {
	t.Parallel()
	paid := 0
	pay := tools.Func("pay", "", func(context.Context, orders) (int, error) {
		if paid++; paid == 1 {
			return 0, tools.Unknown(errors.New("connection lost"))
		}
		return 1, nil
	}, &tools.Hints{Class: tools.Effect})
	ask := func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Approved: true, Args: []byte(`{"limit":1}`)}, nil
	}
	model := llmtest.New(
		fence(`try { await pay({limit: 1}) } catch {} 1`),
		fence(`submit({total: await pay({limit: 2})})`),
	)
	_, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, pay).With(policy.Approve(ask)), nil).
		Run(t.Context(), anything)
	if unknown := (*journal.UnknownError)(nil); !errors.As(err, &unknown) || paid != 1 {
		t.Errorf("paid %d times, %v", paid, err)
	}
}

// A program cannot declare a destructive tool to be one that only reads.
func TestFreshOfDestructiveTool(t *testing.T) {
	t.Parallel()
	wiped := 0
	wipe := tools.Func("wipe", "", func(context.Context, struct{}) (int, error) {
		wiped++
		return 0, tools.Unknown(errors.New("lost"))
	}, &tools.Hints{Destructive: true})
	set := toolSet(t, wipe).With(policy.AllowDestructive)
	model := llmtest.New(fence(`await wipe({})`), fence(`await wipe({}, {fresh: true})`), submit1)
	pred, err := module.NewCodeAct(adding, model, inProcess(t), set, nil).Run(t.Context(), anything)
	if err != nil || wiped != 1 {
		t.Errorf("wiped %d times, %v, %v", wiped, pred, err)
	}
}
