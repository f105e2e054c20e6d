package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial ann:top secret@db")
	const advice = ". Do not call it again; report it"
	for _, test := range []struct {
		name   string
		result string
		err    error
		want   string
	}{
		{"result", `{"key":"top secret","n":1.0}`, nil, `{"key":"[redacted]","n":1.0}`},
		{"no secret", ` {"key": "-"} `, nil, ` {"key": "-"} `},
		{"undefined", ``, nil, ``},
		{"not JSON", `{"key":"top secret`, nil, "invalid_result: the call was made, but its result is not JSON"},
		{"error", ``, secret, "failed: dial ann:[redacted]@db"},
		{"ToolError", ``, &tools.ToolError{Kind: "top secret", Message: "no top secret",
			Data: json.RawMessage(`{"top secret":["top secret"]}`)},
			`[redacted]: no [redacted] {"[redacted]":["[redacted]"]}`},
		{"wrapped ToolError", ``,
			fmt.Errorf("top secret: %w", &tools.ToolError{Kind: tools.KindUnavailable, Message: "no top secret"}),
			"failed: [redacted]: no [redacted]"},
		{"cause", ``, (&tools.ToolError{Kind: tools.KindDenied, Message: "no"}).WithCause(secret), "denied: no"},
		{"hidden", ``, tools.HostOnly(secret), "failed: the tool failed; the reason is not shown"},
		{"hidden ToolError", ``, tools.HostOnly(&tools.ToolError{Kind: tools.KindUnavailable, Message: "no top secret"}),
			"unavailable: the tool failed; the reason is not shown"},
		{"deadline", ``, fmt.Errorf("%w: %w", secret, context.DeadlineExceeded),
			"timeout: no answer in time; whether it took effect is unknown" + advice},
		{"fatal", ``, tools.Fatal(secret), "fatal: dial ann:[redacted]@db"},
		{"fatal ToolError", ``, tools.Fatal(&tools.ToolError{Message: "no top secret"}), "fatal: no [redacted]"},
		{"error without a secret", ``, io.EOF, "failed: EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			j := journal.New(nil)
			set := newSet(t,
				tool("it", tools.Hints{}, answer(test.result, test.err))).With(policy.Redact(newSecrets(t, "top secret")))
			result, err := dispatch.New(set, j.Attempt()).Issue(tools.Call{ID: 1, Args: json.RawMessage(`{}`)},
				0).Perform(t.Context())
			equal(t, "the end", told(result, err), test.want)
			entry := j.Entries()[0]
			equal(t, "the record", told(entry.Result, entry.Err), strings.TrimSuffix(test.want, advice))
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(fmt.Sprintf("%v %+v", e, e), "top secret") {
					t.Errorf("a log would show %+v", e)
				}
			}
			if test.err != nil && !errors.Is(err, test.err) && !errors.Is(test.err, io.EOF) {
				if te := (*tools.ToolError)(nil); !errors.As(test.err, &te) {
					t.Errorf("the host does not see why: %v", err)
				}
			}
			if dispatch.StateOf(err) != dispatch.StateOf(worded(t, test.result, test.err)) {
				t.Error("what is known of the effect has changed")
			}
		})
	}
}

// worded returns the error of a call without redaction.
func worded(t *testing.T, result string, err error) error {
	_, err = call(t.Context(), newSet(t, tool("it", tools.Hints{}, answer(result, err))), "it", `{}`)
	return err
}

// The host gets the text of a panic without secrets.
func TestRedactPanic(t *testing.T) {
	t.Parallel()
	set := newSet(t,
		tool("it", tools.Hints{}, func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("top secret") }))
	_, err := call(t.Context(), set.With(policy.Redact(newSecrets(t, "top secret"))), "it", `{}`)
	cause := errors.Unwrap(err)
	if cause == nil || !strings.HasPrefix(cause.Error(), "tools: it panicked: [redacted]\n") ||
		strings.Contains(cause.Error(), "top secret") {
		t.Errorf("the host sees %v", cause)
	}
}

// Redact handles errors of inner policies that are not ToolErrors.
func TestRedactOfPolicies(t *testing.T) {
	t.Parallel()
	secrets := newSecrets(t, "top secret")
	for want, err := range map[string]error{
		"failed: no [redacted]": errors.New("no top secret"),
		"failed: [redacted]: no [redacted]": fmt.Errorf("top secret: %w",
			&tools.ToolError{Kind: tools.KindDenied, Message: "no top secret"}),
		"failed: the tool failed; the reason is not shown": tools.HostOnly(errors.New("top secret")),
		"denied: the tool failed; the reason is not shown": tools.HostOnly(&tools.ToolError{Kind: tools.KindDenied,
			Message: "really top secret"}),
	} {
		set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.Redact(secrets), func(tools.Caller) tools.Caller {
			return tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) { return nil, err })
		})
		equal(t, "the end", told(call(t.Context(), set, "it", `{}`)), want)
	}
}

func TestDenySecrets(t *testing.T) {
	t.Parallel()
	const refused = "denied: an argument contains a secret, such as a key or a password; leave it out"
	set := newSet(t, tool("it", tools.Hints{}, echo)).With(policy.DenySecrets(newSecrets(t, "top secret")))
	for args, want := range map[string]string{
		`{"n":1}`:                                   `{"n":1}`,
		`{"to":"ann","text":"top secret"}`:          refused,
		`{"\u0074op secret":1}`:                     refused,
		`{"url":"https://x/?q=top+secret"}`:         refused,
		`{"b":"eHRvcCBzZWNyZXQ="}`:                  refused,
		`{"b":"x","c":["` + tokens()["aws"] + `"]}`: refused,
	} {
		equal(t, args, told(call(t.Context(), set, "it", args)), want)
	}
}
