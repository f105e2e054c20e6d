package module_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// outbox is a mail server that accepts every mail and answers some with 504.
type outbox struct {
	sent   []string
	failed map[string]bool // the mails whose first attempt got a 504
}

type message struct {
	To string `json:"to"`
}

func (o *outbox) tools(t *testing.T) *tools.Set {
	return toolSet(t,
		tools.Func("list_sent", "", func(context.Context, struct{}) ([]string, error) { return slices.Clone(o.sent), nil },
			nil),
		tools.Func("send", "", func(_ context.Context, m message) (string, error) {
			o.sent = append(o.sent, m.To)
			if o.failed[m.To] {
				o.failed[m.To] = false
				return "", &tools.ToolError{Kind: tools.KindFailed, Message: "504"}
			}
			return "sent", nil
		}, &tools.Hints{Class: tools.Effect}))
}

// A program that lists what was sent, and sends what is missing, sends nothing twice, even if it is repeated
// unchanged after a 504. It has to state that the third mail is different from the first two.
func TestRewrittenProgramListsThenSends(t *testing.T) {
	t.Parallel()
	o := &outbox{failed: map[string]bool{"bob": true}}
	program := fence(`const sent = await list_sent({});
for (const to of ["ann", "bob", "cid"]) if (!sent.includes(to)) await send({to});
submit({total: 3});`)
	named := strings.Replace(program, "send({to})", `send({to}, {distinct: ["all", "E3"]})`, 1)
	model := llmtest.New(program, program, named)
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), o.tools(t), nil), anything)
	if got := strings.Join(o.sent, " "); got != "ann bob cid" {
		t.Errorf("the outbox has %s", got)
	}
	if len(pred.Trajectory.Orphans) > 0 {
		t.Errorf("orphans: %v", pred.Trajectory.Orphans)
	}
}

// A program that catches an error, looks, and repeats the call by the error's ID if it had no effect sends every mail
// once, and is not held. The error of a call whose outcome is unknown has no ID.
func TestCarefulProgramIsNotHeld(t *testing.T) {
	t.Parallel()
	var sent []string
	fails := map[string]error{"bob": errors.New("503"), "eve": context.DeadlineExceeded}
	set := toolSet(t,
		tools.Func("list_sent", "", func(context.Context, struct{}) ([]string, error) {
			return slices.Clone(sent), nil
		}, nil),
		tools.Func("send", "", func(_ context.Context, m message) (string, error) {
			err := fails[m.To]
			if delete(fails, m.To); err == nil || m.To == "cid" {
				sent = append(sent, m.To)
			}
			return "sent", err
		}, nil))
	fails["cid"] = errors.New("504")
	model := llmtest.New(fence(`const unknown = [];
for (const to of ["ann", "bob", "cid", "dan", "eve"]) {
  try {
    await send({to});
  } catch (e) {
    if (!e.id) { unknown.push(e.message); continue; }
    if (!(await list_sent({})).includes(to)) await send({to}, {again: e.id});
  }
}
console.log(unknown[0]);`), fence(`submit({total: 4})`))
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), set, nil), anything)
	if got := strings.Join(sent, " "); got != "ann bob cid dan" {
		t.Errorf("sent %s", got)
	}
	const want = "no answer in time; whether it took effect is unknown. Do not call it again; report it"
	if got := pred.Trajectory.Steps[0].Observation; !strings.Contains(got, want) {
		t.Errorf("the model was told\n%s", got)
	}
}

// A program that does not check first is held, is told which call it repeats, and names that call. The hold does not
// cost a step.
func TestHeldCallIsNamed(t *testing.T) {
	t.Parallel()
	o := &outbox{failed: map[string]bool{"bob": true}}
	send := func(second string) string {
		return fence(`for (const to of ["ann", "bob", "cid"]) await send({to}` + second + `);
submit({total: 3});`)
	}
	named := strings.Replace(send(`, {distinct: "all", again: ["E2"]}`), "for", "await list_sent({});\nfor", 1)
	model := llmtest.New(send(""), send(" "), named)
	act := module.NewCodeAct(adding, model, inProcess(t), o.tools(t), &module.Options{MaxIters: 2})
	pred := mustRun(t, act, anything)
	if got := strings.Join(o.sent, " "); got != "ann bob bob cid" {
		t.Errorf("the outbox has %s", got)
	}
	const want = `The program was stopped before the call send({"to":"bob"}), which was not made: ` +
		`E2 made exactly this call and reported an error, so it may have taken effect. First check what took ` +
		`effect, with list_sent, and leave that out. Pass {distinct: ["all", "E2"], again: "E2"} as the second ` +
		`argument of every call of send, with only those under again that did not take effect.

Write the whole program again, not only the rest.
Reported an error, but may have taken effect. Check first:
- E2 send({"to":"bob"}) → 504
Done so far:
- E1 send({"to":"ann"}) → "sent"

One program is left: submit, and say in the answer what is missing or uncertain.`
	if got := pred.Trajectory.Steps[1].Observation; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// If an approver changes a call, the changed call is recorded, shown, audited and told to the model. The call as
// written and the call as performed are the same effect.
func TestRepeatWithChangedArguments(t *testing.T) {
	t.Parallel()
	var refunded []int
	refund := tools.Func("refund", "", func(_ context.Context, o orders) (int, error) {
		refunded = append(refunded, o.Limit)
		return o.Limit, nil
	}, &tools.Hints{Class: tools.Effect})
	half := func(context.Context, policy.Request) (policy.Decision, error) {
		return policy.Decision{Approved: true, Args: []byte(`{"limit":50}`)}, nil
	}
	var log bytes.Buffer
	args := regexp.MustCompile(`args="[^ ]*`)
	audit := policy.Audit(slog.New(slog.NewTextHandler(&log, nil)), &policy.AuditOptions{Content: true})
	set := toolSet(t, refund).With(audit, policy.Approve(half))
	for _, rewritten := range []string{"refund({limit: 50})", "refund({limit: 100})"} {
		refunded = nil
		log.Reset()
		model := llmtest.New(fence("await refund({limit: 100});\nnull.x"), fence("submit({total: await "+rewritten+"})"))
		pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), set, nil), anything)
		step := pred.Trajectory.Steps[0]
		for what, text := range map[string]string{
			"the program's calls": string(step.Outcome.Calls[0].Args), "the journal": string(pred.Trajectory.Calls[0].Args),
			"the audit": args.FindString(log.String()),
		} {
			if !strings.Contains(text, "50}") || strings.Contains(text, "100}") {
				t.Errorf("%s: %s got %s", rewritten, what, text)
			}
		}
		const told = `- E1 refund({"limit":50}), changed from {"limit":100} before it was made → 50`
		if !strings.Contains(step.Observation, told) {
			t.Errorf("%s: the model was told %s", rewritten, step.Observation)
		}
		if len(refunded) != 1 || pred.Output.Total != 50 {
			t.Errorf("%s: refunded %v, answered %v", rewritten, refunded, pred.Output)
		}
	}
}

// A valid answer is kept while the model is asked about effects of earlier programs, even if that
// fails.
func TestOrphansAreReported(t *testing.T) {
	t.Parallel()
	for name, after := range map[string][]string{
		"undone":       {fence("submit({total: 2})")},
		"no answer":    {fence("null.x"), fence("null.x"), fence("null.x"), fence("null.x")},
		"an exception": {},
	} {
		o := &outbox{}
		replies := append([]string{fence("await send({to: 'ann'});\nnull.x"), fence("submit({total: 1})")}, after...)
		model := llmtest.New(replies...)
		pred, err := module.NewCodeAct(adding, model, inProcess(t), o.tools(t),
			&module.Options{MaxIters: 3}).Run(t.Context(), anything)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		const want = "The answer is valid.\n\nDone by earlier programs, but not called by this one:\n" +
			"- E1 send({\"to\":\"ann\"}) → \"sent\"\nIf that was wrong, undo it, or say so in the answer.\n" +
			"If the answer is right as it is, submit it with a one-line program, without calling tools " +
			"again:\nsubmit({\"total\":1})"
		if got := pred.Trajectory.Steps[1].Observation; !strings.HasPrefix(got, want) {
			t.Errorf("%s: told %s", name, got)
		}
		if total := map[string]int{"undone": 2, "no answer": 1, "an exception": 1}[name]; pred.Output.Total != total {
			t.Errorf("%s: answered %d", name, pred.Output.Total)
		}
		if len(pred.Trajectory.Orphans) != 1 {
			t.Errorf("%s: orphans: %v", name, pred.Trajectory.Orphans)
		}
	}
}

// An answer is not accepted while calls that the program does not await are pending or have failed.
func TestAnswerWithPendingCalls(t *testing.T) {
	t.Parallel()
	o := &outbox{failed: map[string]bool{"ann": true}}
	model := llmtest.New(fence("const all = ['ann', 'bob'].map(to => send({to}));\nawait all[1];\nsubmit({total: 2});"),
		fence("submit({total: 0})"), fence("submit({total: 0})"))
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), o.tools(t), nil), anything)
	outcome := pred.Trajectory.Steps[0].Outcome
	if outcome.Submitted || outcome.Failure == nil || outcome.Failure.Kind != sandbox.KindUnawaited {
		t.Errorf("got %+v", outcome)
	}
	if got := pred.Trajectory.Steps[0].Observation; !strings.Contains(got, "\n    - line 1: send ") {
		t.Errorf("told %s", got)
	}
}

// A program that names the entry of the call that it repeats is not held because of another failed call of the same
// tool.
func TestCallNamesEarlierEntry(t *testing.T) {
	t.Parallel()
	o := &outbox{failed: map[string]bool{"ann": true, "bob": true}}
	program := func(second string) string {
		return fence(`for (const to of ["ann", "bob"]) try { await send({to}` + second + `) } catch {}
null.x`)
	}
	model := llmtest.New(program(""), fence(`await list_sent({}); await send({to: "bob"}, {again: "E2"}); submit({total: 1});`))
	mustRun(t, module.NewCodeAct(adding, model, inProcess(t), o.tools(t), nil), anything)
	if got := strings.Join(o.sent, " "); got != "ann bob bob" {
		t.Errorf("the outbox has %s", got)
	}
}

// Replies without an effect do not cost a step, unless they are repeated.
func TestFreeTurns(t *testing.T) {
	t.Parallel()
	look := tools.Func("look", "", func(context.Context, struct{}) (int, error) { return 1, nil },
		&tools.Hints{Class: tools.Read})
	for name, c := range map[string]struct {
		replies []string
		free    bool
	}{
		"refused":               {[]string{fence(`lok({})`)}, true},
		"refused twice":         {[]string{fence(`lok({})`), fence(`lok({})`)}, false},
		"refused otherwise":     {[]string{fence(`lok({})`), fence(`loo({})`)}, true},
		"not a program":         {[]string{"Let me think."}, true},
		"no program, again":     {[]string{"Let me think.", "Let me think."}, false},
		"it searched for tools": {[]string{fence(`await tools.search("look")`)}, true},
		"it failed":             {[]string{fence(`null.x`)}, false},
		"it looked":             {[]string{fence(`await look({})`)}, false},
	} {
		model := llmtest.New(append(c.replies, submit1)...)
		o := &module.Options{MaxIters: 1, FreeTurns: 5}
		_, err := module.NewCodeAct(adding, model, inProcess(t), toolSet(t, look), o).Run(t.Context(), anything)
		if c.free && err != nil || !c.free && !errors.Is(err, module.ErrMaxIters) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
