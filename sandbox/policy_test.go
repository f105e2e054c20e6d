package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

const password = "correct horse battery staple"

// leaky returns tools whose results and errors contain the password.
func leaky(t *testing.T) *tools.Set {
	t.Helper()
	fail := func(err error) tools.Handler {
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, err }
	}
	deep, err := json.Marshal(map[string]any{"list": []any{map[string]string{password: "x",
		"url": "https://h/?p=correct+horse+battery+staple"}}})
	if err != nil {
		t.Fatal(err)
	}
	list := []*tools.Tool{
		{Name: "result", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return deep, nil }},
		{Name: "fails", Handler: fail(fmt.Errorf("login with %s: %w", password, errors.New(password)))},
		{Name: "failsWithData", Handler: fail(&tools.ToolError{Message: "no", Data: deep})},
		{Name: "panics", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { panic(password) }},
		{Name: "fatal", Handler: fail(tools.Fatal(errors.New("no disk for " + password)))},
		{Name: "echo", Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) { return args, nil }},
	}
	var sources []tools.Source
	for _, tool := range list {
		sources = append(sources, tool)
	}
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A secret in a result or an error reaches neither the program nor its record.
func TestNoSecretEntersTheProgram(t *testing.T) {
	t.Parallel()
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{password}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	set := leaky(t).With(policy.Audit(slog.New(slog.NewTextHandler(&log, nil)), &policy.AuditOptions{Content: true}),
		policy.Redact(secrets))
	box := open(t, sandbox.NewInProcess)
	told := "" // the texts about the program's end for models and people
	for _, test := range []struct{ source, want string }{
		{`console.log(await result({})); await result({})`, `{"list":[{"[redacted]":"x","url":"https://h/?p=[redacted]"}]}`},
		{`try { await fails({}) } catch (e) { console.error(e, e.stack); return [e.message, String(e), e.data ?? null] }`,
			`["login with [redacted]: [redacted]","ToolError: login with [redacted]: [redacted]",null]`},
		{`try { await failsWithData({}) } catch (e) { return e.data }`,
			`{"list":[{"[redacted]":"x","url":"https://h/?p=[redacted]"}]}`},
		{`try { await panics({}) } catch (e) { return e.message }`, `"the tool crashed; whether it took effect is unknown. Do not call it again; report it"`},
		{`await fails({})`, ``},
		{`await fatal({})`, ``},
		{`try { await fatal({}) } finally { 1 }`, ``},
	} {
		j := journal.New(nil)
		out, err := box.Run(t.Context(), sandbox.Program{Source: test.source, Tools: set, Attempt: j.Attempt()})
		if out == nil {
			t.Fatalf("%s: %v", test.source, err)
		}
		if test.want != "" && string(out.Value) != test.want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", test.source, out.Value, out.Failure, test.want)
		}
		if test.want == "" && out.Failure == nil && err == nil {
			t.Errorf("%s did not fail", test.source)
		}
		if len(out.Calls) == 0 {
			t.Errorf("%s made no call", test.source)
		}
		told += fmt.Sprintf("%s %v %+v %+v %+v %+v\n", test.source, err, out, out.Stdout, out.Stderr, out.Failure)
		for _, c := range out.Calls {
			told += fmt.Sprintf("%s %s\n", c.Args, c.Result)
			for err := error(c.Error); c.Error != nil && err != nil; err = errors.Unwrap(err) {
				told += fmt.Sprintf("%+v\n", err)
			}
		}
		for _, e := range j.Entries() {
			told += fmt.Sprintf("%s %+v\n", e.Result, e.Err)
		}
		value, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		told += string(value)
	}
	if found := regexp.MustCompile(`.{0,80}(horse|battery).{0,80}`).FindString(told + log.String()); found != "" {
		t.Errorf("the secret is in: %s", found)
	}
	if n := strings.Count(log.String(), "[redacted]"); n < 5 {
		t.Errorf("the log has %d redactions:\n%s", n, log.String())
	}
}

// An approver sees the line that makes the call and decides while the program waits. Other
// calls of the program are denied by policies.
func TestPoliciesInAProgram(t *testing.T) {
	t.Parallel()
	var seen []string
	ask := func(_ context.Context, r policy.Request) (policy.Decision, error) {
		seen = append(seen, r.String())
		return policy.Decision{Approved: !strings.Contains(r.Args, "bob"), Reason: "not bob", By: "eve",
			Args: json.RawMessage(`{"to":"ANN"}`)}, nil
	}
	set := leaky(t).With(
		policy.If(policy.Argument("to", func(string) bool { return true }), policy.Approve(ask)),
		policy.Deny(policy.Tools("fa*"), "not today"),
		policy.Deny(policy.Func(func(c tools.Call) bool { return len(c.Args) > 40 }), "send less at a time"))
	const source = `const sent = [];
for (const to of ["ann", "bob"]) {
	try { sent.push(await echo({to, "\u202e": 1})) } catch (e) { sent.push(e.kind + " " + e.message) }
}
for (const f of [() => fatal({}), () => echo({n: "x".repeat(40)})]) {
	try { await f() } catch (e) { sent.push(e.kind + " " + e.message) }
}
sent`
	for name, openBox := range map[string]func(*sandbox.Options) (*sandbox.Sandbox,
		error){"in process": sandbox.NewInProcess, "isolated": sandbox.New} {
		seen = nil
		out, err := open(t, openBox).Run(t.Context(), sandbox.Program{Source: source, Tools: set})
		if err != nil {
			t.Fatal(err)
		}
		const want = `[{"to":"ANN"},"denied not approved: not bob","denied not today","denied send less at a time"]`
		if string(out.Value) != want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", name, out.Value, out.Failure, want)
		}
		if got := []string{out.Calls[0].Decision, out.Calls[1].Decision, out.Calls[2].Decision}; !slices.Equal(got,
			[]string{"approved by eve", "refused by eve", ""}) {
			t.Errorf("%s: the decisions are %q", name, got)
		}
		const first = "echo (unclassified)\n{\n  \"to\": \"ann\",\n  \"\\u202e\": 1\n}\nline 3: " +
			`try { sent.push(await echo({to, "\u202e": 1})) } catch (e) { sent.push(e.kind + " " + e.message) }`
		if len(seen) != 2 || seen[0] != first {
			t.Errorf("%s: the approver saw\n%s\nnot\n%s", name, strings.Join(seen, "\n"), first)
		}
	}
}
