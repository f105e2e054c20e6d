package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	const common = `class=read call=1 line=3 column=7 `
	const noContent = `duration=2s args_bytes=19 `
	for _, test := range []struct {
		name   string
		o      *policy.AuditOptions
		result string
		err    error
		want   string
	}{
		{"ok", nil, `"a secret word"`, nil, "INFO outcome=ok " + noContent + "result_bytes=15"},
		{"failed", nil, ``, errors.New("a secret word"), "INFO outcome=failed " + noContent + "result_bytes=0"},
		{"kind", nil, ``, &tools.ToolError{Kind: tools.KindUnavailable}, "INFO outcome=unavailable " + noContent +
			"result_bytes=0"},
		{"fatal", nil, ``, tools.Fatal(errors.New("a secret word")), "INFO outcome=fatal " + noContent + "result_bytes=0"},
		{"content", &policy.AuditOptions{Content: true}, `"a secret word"`, nil,
			`INFO outcome=ok ` + noContent +
				`result_bytes=15 args="{\"k\":\"secret word\"}" source="await it.is(\u202e);" result="\"a secret word\""`},
		{"content of an error", &policy.AuditOptions{Content: true}, ``, errors.New("a secret word"),
			`INFO outcome=failed ` + noContent +
				`result_bytes=0 args="{\"k\":\"secret word\"}" source="await it.is(\u202e);" error="tool files.it: a secret word"`},
		{"content without secrets", &policy.AuditOptions{Content: true, Secrets: newSecrets(t, "secret word")},
			`"a secret word"`, nil,
			`INFO outcome=ok ` + noContent +
				`result_bytes=15 args="{\"k\":\"[redacted]\"}" source="await it.is(\u202e);" result="\"a [redacted]\""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				set := newSet(t,
					tool("files.it", tools.Hints{Class: tools.Read}, func(context.Context, json.RawMessage) (json.RawMessage, error) {
						time.Sleep(2 * time.Second)
						return json.RawMessage(test.result), test.err
					})).With(policy.Audit(logTo(&log), test.o))
				result, err := call(t.Context(), set, "files.it", `{"k":"secret word"}`)
				if (err == nil) != (test.err == nil) || string(result) != test.result {
					t.Errorf("the end was changed: %s", told(result, err))
				}
				level, rest, _ := bytes.Cut([]byte(test.want), []byte(" outcome"))
				equal(t, "log", log.String(), "level="+string(level)+` msg="tool call" tool=files.it server=files `+common+
					"outcome"+string(rest)+"\n")
			})
		})
	}
}

func logTo(log *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(log,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
}

// Audit logs the arguments with which the tool was called, whatever contexts the policies around it derive.
func TestAuditOfChangedArguments(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	derive := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()
			return next.Call(ctx, c)
		})
	}
	change := func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			c.Args = json.RawMessage(`{"k":"changed"}`)
			return next.Call(ctx, c)
		})
	}
	set := newSet(t, tool("it", tools.Hints{}, echo)).
		With(derive, policy.Audit(logTo(&log), &policy.AuditOptions{Content: true}), derive, change)
	_, err := call(t.Context(), set, "it", `{"k":"asked"}`)
	if want := `args="{\"k\":\"changed\"}"`; err != nil || !strings.Contains(log.String(), want) {
		t.Errorf("the log has not %s: %s %v", want, log.String(), err)
	}
}

// Audit logs calls in which an inner policy panics.
func TestAuditOfAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Audit(logTo(&log), nil),
			func(tools.Caller) tools.Caller { return nil })
		equal(t, "the end", told(call(t.Context(), set, "it", `{}`)), "denied: a policy crashed")
		equal(t, "log", log.String(),
			`level=INFO msg="tool call" tool=it class=unclassified call=1 line=3 column=7 outcome=panic duration=0s `+
				`args_bytes=2 result_bytes=0`+"\n")
	})
}

// auditLine returns the attributes of a log's only record, from the tool to the outcome.
func auditLine(t *testing.T, log *bytes.Buffer) string {
	t.Helper()
	if n := bytes.Count(log.Bytes(), []byte("\n")); n != 1 {
		t.Fatalf("%d records:\n%s", n, log)
	}
	_, line, _ := strings.Cut(log.String(), "tool=")
	line, _, _ = strings.Cut(line, " duration=")
	return line
}

// Audit logs which call of which run it was.
func TestAuditOfARecordedCall(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var id string
	set := newSet(t, tool("it", tools.Hints{}, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		id = tools.EffectID(ctx)
		return nil, nil
	}))
	j := journal.New(nil)
	j.Attempt()
	j.Accept()
	j.Attempt()
	a := j.Attempt()
	if _, err := recordedCall(t.Context(), set, a, `{"n":1}`, nil); err != nil {
		t.Fatal(err)
	}
	audited := set.With(policy.Audit(logTo(&log), nil))
	if _, err := recordedCall(t.Context(), audited, a, `{"n":2}`, nil); err != nil {
		t.Fatal(err)
	}
	run, _, _ := strings.Cut(id, ":")
	equal(t, "log", auditLine(t, &log), "it run="+run+
		" step=2 attempt=2 entry=E2 class=unclassified call=1 line=0 column=0 outcome=ok")
}

// Audit logs who decided about a call, whether it is outside or inside of Approve.
func TestAuditOfDecisions(t *testing.T) {
	t.Parallel()
	approve := func(d policy.Decision) tools.Policy {
		return policy.Approve(func(context.Context, policy.Request) (policy.Decision, error) { return d, nil })
	}
	ann, ben := policy.Decision{Approved: true, By: "ann"}, policy.Decision{Approved: true, By: "ben"}
	var granted policy.Grants
	for _, by := range []string{"ann", ""} {
		args := map[string]json.RawMessage{"by": json.RawMessage(`"` + by + `"`)}
		if err := granted.Add(policy.Grant{Tool: "it", Calls: 1, Until: later, By: by, Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	failing := func(context.Context, policy.Request) (policy.Decision, error) {
		return ann, errors.New("the screen is broken")
	}
	const ok, denied = "class=unclassified call=1 line=3 column=7 outcome=ok",
		"class=unclassified call=1 line=3 column=7 outcome=denied"
	for _, test := range []struct {
		name  string
		order func(audit tools.Policy) []tools.Policy
		args  string
		want  string
	}{
		{"outside", func(a tools.Policy) []tools.Policy { return []tools.Policy{a, approve(ann)} }, `{}`,
			"it approver=ann " + ok},
		{"inside", func(a tools.Policy) []tools.Policy { return []tools.Policy{approve(ann), a} }, `{}`,
			"it approver=ann " + ok},
		{"refused", func(a tools.Policy) []tools.Policy { return []tools.Policy{a, approve(policy.Decision{By: "ann"})} }, `{}`,
			"it approver=ann " + denied},
		{"failed", func(a tools.Policy) []tools.Policy { return []tools.Policy{a, policy.Approve(failing)} }, `{}`,
			"it " + denied},
		{"several", func(a tools.Policy) []tools.Policy {
			return []tools.Policy{a, approve(ann), approve(ben), approve(ann)}
		}, `{}`, `it approver="ann, ben" ` + ok},
		{"unknown", func(a tools.Policy) []tools.Policy {
			return []tools.Policy{a, approve(policy.Decision{Approved: true})}
		}, `{}`, `it ` + ok},
		{"granted", func(a tools.Policy) []tools.Policy {
			return []tools.Policy{a, policy.Approve(granted.Approver(failing))}
		}, `{"by":"ann"}`, `it approver="ann (grant)" ` + ok},
		{"granted by nobody", func(a tools.Policy) []tools.Policy {
			return []tools.Policy{a, policy.Approve(granted.Approver(failing))}
		}, `{"by":""}`, `it approver=(grant) ` + ok},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			set := newSet(t, tool("it", tools.Hints{}, echo)).With(test.order(policy.Audit(logTo(&log), nil))...)
			_, _ = call(t.Context(), set, "it", test.args)
			equal(t, "log", auditLine(t, &log), test.want)
		})
	}
}

// A decision about a call is not logged for a call that the call's tool makes, or the other way around.
func TestAuditOfNestedDecisions(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	policies := func(by string) []tools.Policy {
		return []tools.Policy{policy.Audit(logTo(&log), nil),
			policy.Approve(func(context.Context, policy.Request) (policy.Decision, error) {
				return policy.Decision{Approved: true, By: by}, nil
			})}
	}
	inner := newSet(t, tool("inner", tools.Hints{}, echo)).With(policies("ben")...)
	outer := newSet(t, tool("outer", tools.Hints{}, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return call(ctx, inner, "inner", `{}`)
	})).With(policies("ann")...)
	if _, err := recordedCall(t.Context(), outer, journal.New(nil).Attempt(), `{}`, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tool=inner approver=ben class", "tool=outer run=", "entry=E1 approver=ann class"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has not %s:\n%s", want, log.String())
		}
	}
}

// A call that a paused run will make later has not failed.
func TestAuditOfAPausedCall(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, cancel := context.WithCancelCause(t.Context())
	ctx = place.With(policy.WithDesk(ctx, &desk{}), &parking{waits: func() { cancel(place.ErrPaused) }})
	set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Audit(logTo(&log), nil), policy.Approve(nil))
	_, _ = call(ctx, set, "it", `{}`)
	equal(t, "log", auditLine(t, &log), "it class=unclassified call=1 line=3 column=7 outcome=paused")
}
