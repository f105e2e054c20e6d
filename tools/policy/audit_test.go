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

	"github.com/writ-go/writ/tools"
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
