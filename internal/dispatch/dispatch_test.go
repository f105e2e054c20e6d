package dispatch_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/tools"
)

// trace is a list of events. A nil trace records nothing.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (tr *trace) add(format string, args ...any) {
	if tr == nil {
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

func (tr *trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.lines, ", ")
}

// handler returns the same result for every call.
func handler(result string, err error) tools.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(result), err
	}
}

func newSet(t *testing.T, sources ...tools.Source) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), sources...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// performs calls the only tool of a set.
func perform(ctx context.Context, set *tools.Set, args string) (json.RawMessage, error) {
	return dispatch.New(set, nil).Issue(tools.Call{ID: 1, Args: json.RawMessage(args)}, 0).Perform(ctx)
}

// outcome is a result or a ToolError as one line.
func outcome(result json.RawMessage, err error) string {
	var te *tools.ToolError
	switch {
	case err == nil && result == nil:
		return "undefined"
	case err == nil:
		return string(result)
	case tools.IsFatal(err):
		return "fatal: " + err.Error()
	case !errors.As(err, &te):
		return "other: " + err.Error()
	case te.Data != nil:
		return fmt.Sprintf("%s %s: %s %s", te.Tool, te.Kind, te.Message, te.Data)
	}
	return fmt.Sprintf("%s %s: %s", te.Tool, te.Kind, te.Message)
}

// traced is a policy that records when a call and its result pass it.
func traced(name string, tr *trace) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			tr.add("%s in", name)
			defer tr.add("%s out", name)
			return next.Call(ctx, c)
		})
	}
}

// policy is the step of a policy for one call.
func policy(f func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error)) tools.Policy {
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) { return f(ctx, c, next) })
	}
}

// recorder implements dispatch.Attempt and dispatch.Entry, and traces the calls of their methods.
type recorder struct {
	trace
	recorded   json.RawMessage
	issue      error
	dispatched error
}

func (l *recorder) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	l.add("issue %d %s%s", c.ID, c.Tool.Path(), c.Args)
	return l, l.issue
}

func (l *recorder) Recorded() (json.RawMessage, error, bool) {
	return l.recorded, nil, l.recorded != nil
}

func (l *recorder) Dispatched(json.RawMessage) error {
	l.add("dispatched")
	return l.dispatched
}

func (l *recorder) Effect() effect.ID { return effect.ID{} }

func (l *recorder) Settled(result json.RawMessage, err error, _ string, _ json.RawMessage, _ bool) string {
	l.add("settled %s", outcome(result, err))
	return ""
}

const schemaN = `{"type":"object","properties":{"n":{"type":"integer"}}}`

// tool counts in l how often it is called, and answers in turn.
func tool(l *recorder, answers ...error) *tools.Tool {
	next := 0
	return &tools.Tool{Name: "t", InputSchema: []byte(schemaN),
		Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			l.add("handler %s", args)
			if next < len(answers) {
				next++
				return nil, answers[next-1]
			}
			return json.RawMessage(`"ok"`), nil
		}}
}

func denied(message string) error {
	return &tools.ToolError{Kind: tools.KindDenied, Message: message}
}

func TestChain(t *testing.T) {
	t.Parallel()
	deny := policy(func(context.Context, tools.Call, tools.Caller) (json.RawMessage, error) {
		return json.RawMessage(`1`), denied("not today")
	})
	change := func(args string) tools.Policy {
		return policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
			c.Args, c.Tool = json.RawMessage(args), nil
			return next.Call(ctx, c)
		})
	}
	retry := policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		if result, err := next.Call(ctx, c); err == nil {
			return result, nil
		}
		return next.Call(ctx, c)
	})
	detach := policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		return next.Call(context.WithoutCancel(ctx), c)
	})
	foreign := policy(func(_ context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		return next.Call(context.Background(), c)
	})
	withhold := policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		if _, err := next.Call(ctx, c); err != nil && tools.IsFatal(err) {
			return nil, err
		}
		return nil, denied("it is secret")
	})
	instead := func(result string) tools.Policy {
		return policy(func(context.Context, tools.Call, tools.Caller) (json.RawMessage, error) {
			return json.RawMessage(result), nil
		})
	}
	timeout := context.DeadlineExceeded
	unavailable := &tools.ToolError{Kind: tools.KindUnavailable, Message: "down"}
	tests := []struct {
		name     string
		answers  []error
		policies []tools.Policy
		recorder *recorder // nil for one that agrees to everything
		args     string
		want     string // the expected trace
		end      string // how the call ends for the program
	}{
		{name: "order", policies: []tools.Policy{traced("a", nil), traced("b", nil)},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, settled "ok"`, end: `"ok"`},
		{name: "invalid", args: `{"n":"x"}`, end: `t invalid_arguments: n must be an integer, not "x"`},
		{name: "recorded", recorder: &recorder{recorded: []byte(`"old"`)}, policies: []tools.Policy{deny},
			want: `issue 7 t{"n":1}`, end: `"old"`},
		{name: "held", recorder: &recorder{issue: &tools.HoldError{Call: "t({})", Message: "say what you mean"}},
			want: `issue 7 t{"n":1}`, end: `other: t({}) was held: say what you mean`},
		{name: "recorder breaks", recorder: &recorder{issue: errors.New("disk full")}, want: `issue 7 t{"n":1}`,
			end: `fatal: disk full`},
		{name: "recorder breaks with a ToolError", recorder: &recorder{issue: denied("no")}, want: `issue 7 t{"n":1}`,
			end: `fatal: no`},
		{name: "intent not recorded", recorder: &recorder{dispatched: errors.New("disk full")},
			want: `issue 7 t{"n":1}, dispatched, settled fatal: disk full`, end: `fatal: disk full`},
		{name: "refused", policies: []tools.Policy{deny},
			want: `issue 7 t{"n":1}, settled t denied: not today`, end: `t denied: not today`},
		{name: "changed", policies: []tools.Policy{change(`{"n":2}`)},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":2}, settled "ok"`, end: `"ok"`},
		{name: "changed to invalid arguments", policies: []tools.Policy{change(`{"n":"x"}`)},
			want: `issue 7 t{"n":1}, settled t invalid_arguments: as changed by a policy: n must be an integer, not "x"`,
			end:  `t invalid_arguments: as changed by a policy: n must be an integer, not "x"`},
		{name: "answered by a policy", policies: []tools.Policy{instead(`2`)}, want: `issue 7 t{"n":1}, settled 2`, end: `2`},
		{name: "undefined", policies: []tools.Policy{instead(``)}, want: `issue 7 t{"n":1}, settled undefined`,
			end: `undefined`},
		{name: "result is not JSON", policies: []tools.Policy{instead(`{`)},
			want: `issue 7 t{"n":1}, settled t invalid_result: the call was made, but its result is not JSON`,
			end:  `t invalid_result: the call was made, but its result is not JSON`},
		{name: "retried", policies: []tools.Policy{retry}, answers: []error{unavailable},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, dispatched, handler {"n":1}, settled "ok"`, end: `"ok"`},
		{name: "retried without success", policies: []tools.Policy{retry}, answers: []error{unavailable, unavailable},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, dispatched, handler {"n":1}, settled t unavailable: down`,
			end:  `t unavailable: down`},
		{name: "retried after a failure", policies: []tools.Policy{retry},
			answers: []error{errors.New("half done"), unavailable},
			want:    `issue 7 t{"n":1}, dispatched, handler {"n":1}, dispatched, handler {"n":1}, settled t failed: down`,
			end:     `t failed: down`},
		{name: "retried after a timeout", policies: []tools.Policy{retry}, answers: []error{timeout, unavailable},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, dispatched, handler {"n":1}, settled t unknown: an earlier ` +
				`try may have taken effect; the last try: down`,
			end: `t unknown: an earlier try may have taken effect; the last try: down. Do not call it again; report it`},
		{name: "withheld", policies: []tools.Policy{withhold},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, settled t invalid_result: the call was made, but its ` +
				`result is withheld: it is secret`,
			end: `t invalid_result: the call was made, but its result is withheld: it is secret`},
		{name: "withheld after nothing was done", policies: []tools.Policy{withhold}, answers: []error{unavailable},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, settled t denied: it is secret`,
			end:  `t denied: it is secret`},
		{name: "derived context", policies: []tools.Policy{detach},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, settled "ok"`, end: `"ok"`},
		{name: "foreign context", policies: []tools.Policy{detach, foreign},
			want: `issue 7 t{"n":1}, settled fatal: tools: a policy called next with a context that does not derive from its own`,
			end:  `fatal: tools: a policy called next with a context that does not derive from its own`},
		{name: "fatal", answers: []error{tools.Fatal(errors.New("no licence"))},
			want: `issue 7 t{"n":1}, dispatched, handler {"n":1}, settled fatal: no licence`, end: `fatal: no licence`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := cmp.Or(test.recorder, &recorder{})
			if test.args == "" {
				test.args = `{"n":1}`
			}
			set := newSet(t, tool(l, test.answers...)).With(test.policies...)
			issued := dispatch.New(set, l).Issue(tools.Call{ID: 7, Args: json.RawMessage(test.args)}, 0)
			if issued.Recorded != (l.recorded != nil) {
				t.Errorf("Recorded is %v", issued.Recorded)
			}
			if got := outcome(issued.Perform(t.Context())); got != test.end {
				t.Errorf("got  %s\nwant %s", got, test.end)
			}
			if got := l.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestOrderOfPolicies(t *testing.T) {
	t.Parallel()
	var tr trace
	set := newSet(t, tool(&recorder{}))
	both := set.With(traced("a", &tr), traced("b", &tr)).With(traced("c", &tr))
	if got := outcome(perform(t.Context(), both, `{}`)); got != `"ok"` {
		t.Errorf("got %s", got)
	}
	if got := tr.String(); got != "a in, b in, c in, c out, b out, a out" {
		t.Errorf("got %s", got)
	}
	if outcome(perform(t.Context(), set, `{}`)); tr.String() != "a in, b in, c in, c out, b out, a out" {
		t.Error("With changed the set it was called on")
	}
}

// Sets that share their first policies do not share later ones.
func TestWithDoesNotAlias(t *testing.T) {
	t.Parallel()
	var tr trace
	set := newSet(t, tool(&recorder{})).With(traced("a", nil), traced("b", nil), traced("c", nil))
	one, _ := set.With(traced("one", &tr)), set.With(traced("two", &tr))
	_, _ = perform(t.Context(), one, `{}`)
	if got := tr.String(); got != "one in, one out" {
		t.Errorf("got %s", got)
	}
}

// timeoutError resembles a timeout of package net.
type timeoutError struct{}

func (timeoutError) Error() string { return "i/o timeout" }
func (timeoutError) Timeout() bool { return true }

// actedError is the error of something that makes calls itself.
type actedError bool

func (actedError) Error() string        { return "acted" }
func (e actedError) MayHaveActed() bool { return bool(e) }

func TestToolErrors(t *testing.T) {
	t.Parallel()
	secret := errors.New("password is 123")
	typed := func(kind string) error { return &tools.ToolError{Kind: kind, Message: "m", Tool: "forged"} }
	const (
		late      = "t timeout: no answer in time; whether it took effect is unknown"
		cancelled = "t cancelled: cancelled; whether it took effect is unknown"
		unknown   = "; whether it took effect is unknown"
	)
	tests := []struct {
		name string
		err  error
		want string
		is   dispatch.State
	}{
		{"plain", io.EOF, "t failed: EOF", dispatch.StateFailed},
		{"deadline", fmt.Errorf("get: %w", context.DeadlineExceeded), late, dispatch.StateUnknown},
		{"i/o deadline", fmt.Errorf("read: %w", os.ErrDeadlineExceeded), late, dispatch.StateUnknown},
		{"says that it is a timeout", timeoutError{}, late, dispatch.StateUnknown},
		{"cancelled", fmt.Errorf("get: %w", context.Canceled), cancelled, dispatch.StateUnknown},
		{"a truncated response", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "t unknown: read: unexpected EOF" + unknown,
			dispatch.StateUnknown},
		{"reset", fmt.Errorf("pay: %w", &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}),
			"t unknown: pay: read tcp: connection reset by peer" + unknown, dispatch.StateUnknown},
		{"not reached", &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED},
			"t failed: dial tcp: connection refused", dispatch.StateFailed},
		{"no answer", &url.Error{Op: "Post", URL: "http://a", Err: io.EOF}, `t unknown: Post "http://a": EOF` + unknown,
			dispatch.StateUnknown},
		{"no answer over HTTP/2", &url.Error{Op: "Post", URL: "http://a", Err: errors.New("http2: client connection lost")},
			`t unknown: Post "http://a": http2: client connection lost` + unknown, dispatch.StateUnknown},
		{"an unknown scheme", &url.Error{Op: "Post", URL: "x://a", Err: errors.New("unsupported protocol scheme")},
			`t failed: Post "x://a": unsupported protocol scheme`, dispatch.StateFailed},
		{"declared unknown", tools.Unknown(io.EOF), "t unknown: EOF" + unknown, dispatch.StateUnknown},
		{"declared unknown, with another message", fmt.Errorf("pay: %w", tools.Unknown(io.EOF)), "t unknown: pay: EOF" +
			unknown, dispatch.StateUnknown},
		{"unknown tool", typed(tools.KindUnknownTool), "t unknown_tool: m", dispatch.StateRejected},
		{"invalid arguments", typed(tools.KindInvalidArguments), "t invalid_arguments: m", dispatch.StateRejected},
		{"denied", typed(tools.KindDenied), "t denied: m", dispatch.StateRejected},
		{"failed", typed(tools.KindFailed), "t failed: m", dispatch.StateFailed},
		{"unavailable", typed(tools.KindUnavailable), "t unavailable: m", dispatch.StateRejected},
		{"timeout", typed(tools.KindTimeout), "t timeout: m", dispatch.StateUnknown},
		{"cancelled by the tool", typed(tools.KindCancelled), "t cancelled: m", dispatch.StateUnknown},
		{"unknown", typed(tools.KindUnknown), "t unknown: m", dispatch.StateUnknown},
		{"invalid result", typed(tools.KindInvalidResult), "t invalid_result: m", dispatch.StateOK},
		{"own kind", typed("quota"), "t quota: m", dispatch.StateFailed},
		{"no kind", typed(""), "t failed: m", dispatch.StateFailed},
		{"wrapped", fmt.Errorf("mail: %w", typed(tools.KindDenied)), "t failed: mail: tool forged: m", dispatch.StateFailed},
		{"wrapped and unavailable",
			fmt.Errorf("the second half: %w", &tools.ToolError{Kind: tools.KindUnavailable, Message: "m"}),
			"t failed: the second half: m", dispatch.StateFailed},
		{"wrapped timeout", fmt.Errorf("mail: %w", &tools.ToolError{Kind: tools.KindTimeout, Message: "m"}),
			"t timeout: mail: m; whether it took effect is unknown", dispatch.StateUnknown},
		{"wrapped invalid result", fmt.Errorf("mail: %w", &tools.ToolError{Kind: tools.KindInvalidResult, Message: "m"}),
			"t invalid_result: mail: m", dispatch.StateOK},
		{"wrapped own kind", fmt.Errorf("mail: %w", &tools.ToolError{Kind: "quota", Message: "m", Data: []byte(`1`)}),
			"t quota: mail: m 1", dispatch.StateFailed},
		{"wrapped deadline", fmt.Errorf("mail: %w", (&tools.ToolError{Message: "m"}).WithCause(context.DeadlineExceeded)),
			late, dispatch.StateUnknown},
		{"several", errors.Join(typed(tools.KindDenied), &tools.ToolError{Kind: tools.KindUnknown, Message: "n"}),
			"t unknown: tool forged: m\nn; whether it took effect is unknown", dispatch.StateUnknown},
		{"wrapped and hidden", fmt.Errorf("mail: %w", tools.HostOnly(typed(tools.KindDenied))),
			"t failed: the tool failed; the reason is not shown", dispatch.StateFailed},
		{"hidden and wrapping", tools.HostOnly(fmt.Errorf("mail: %w", typed(tools.KindDenied))),
			"t failed: the tool failed; the reason is not shown", dispatch.StateFailed},
		{"wrapped, with a hidden cause",
			fmt.Errorf("mail: %w", (&tools.ToolError{Message: "m"}).WithCause(tools.HostOnly(secret))), "t failed: m",
			dispatch.StateFailed},
		{"acted", fmt.Errorf("mail: %w", actedError(true)), "t unknown: mail: acted; whether it took effect is unknown",
			dispatch.StateUnknown},
		{"acted concurrently", errors.Join(io.EOF, typed(tools.KindDenied), actedError(false), actedError(true)),
			"t unknown: EOF\ntool forged: m\nacted\nacted; whether it took effect is unknown", dispatch.StateUnknown},
		{"did not act", actedError(false), "t failed: acted", dispatch.StateFailed},
		{"acted, with the tool's message", (&tools.ToolError{Kind: tools.KindDenied, Message: "m"}).WithCause(actedError(true)),
			"t denied: m", dispatch.StateRejected},
		{"data", &tools.ToolError{Message: "m", Data: []byte(`{"a":1}`)}, `t failed: m {"a":1}`, dispatch.StateFailed},
		{"data is not JSON", &tools.ToolError{Message: "m", Data: []byte(`{`)}, `t failed: m`, dispatch.StateFailed},
		{"hidden", tools.HostOnly(secret), "t failed: the tool failed; the reason is not shown", dispatch.StateFailed},
		{"hidden and wrapped", fmt.Errorf("db: %w", tools.HostOnly(secret)),
			"t failed: the tool failed; the reason is not shown", dispatch.StateFailed},
		{"hidden timeout", tools.HostOnly(fmt.Errorf("db: %w", context.DeadlineExceeded)),
			"t timeout: the tool failed; the reason is not shown", dispatch.StateUnknown},
		{"hidden ToolError", tools.HostOnly(&tools.ToolError{Kind: tools.KindUnavailable, Message: "m", Data: []byte(`1`)}),
			"t unavailable: the tool failed; the reason is not shown", dispatch.StateRejected},
		{"hidden with a message", (&tools.ToolError{Message: "m"}).WithCause(tools.HostOnly(secret)), "t failed: m",
			dispatch.StateFailed},
		{"fatal", tools.Fatal(io.EOF), "fatal: EOF", dispatch.StateUnknown},
		{"fatal and wrapped", fmt.Errorf("x: %w", tools.Fatal(io.EOF)), "fatal: x: EOF", dispatch.StateUnknown},
		{"fatal ToolError", tools.Fatal(typed(tools.KindDenied)), "fatal: tool forged: m", dispatch.StateUnknown},
		{"fatal and hidden", tools.HostOnly(tools.Fatal(io.EOF)), "fatal: EOF", dispatch.StateUnknown},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, &tools.Tool{Name: "t", Handler: handler("", test.err)}).With(traced("p", nil))
			result, err := perform(t.Context(), set, `{}`)
			if got := outcome(result, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := dispatch.StateOf(err); got != test.is {
				t.Errorf("got state %s, want %s", got, test.is)
			}
			if te := (*tools.ToolError)(nil); !errors.As(test.err, &te) && !errors.Is(err, test.err) {
				t.Errorf("the host does not see %v behind %v", test.err, err)
			}
		})
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	if dispatch.StateOf(nil) != dispatch.StateOK || dispatch.StateOf(io.EOF) != dispatch.StateUnknown {
		t.Error("nil is done, and an error of unknown kind maybe")
	}
	if got := dispatch.StateOf(fmt.Errorf("half: %w", denied("no"))); got != dispatch.StateFailed {
		t.Errorf("an error that wraps a refusal has the state %s", got)
	}
	if tools.Fatal(nil) != nil || tools.HostOnly(nil) != nil || tools.IsFatal(nil) {
		t.Error("got an error for nil")
	}
}

// The host sees the causes of errors that the program does not see.
func TestCauses(t *testing.T) {
	t.Parallel()
	cause := errors.New("row 7 is locked")
	fail := (&tools.ToolError{Message: "try later"}).WithCause(cause)
	for name, err := range map[string]error{"as it is": fail, "wrapped": fmt.Errorf("db: %w", fail),
		"hidden": tools.HostOnly(fail)} {
		set := newSet(t, &tools.Tool{Name: "t", Handler: handler("", err)})
		if _, err := perform(t.Context(), set, `{}`); !errors.Is(err, cause) {
			t.Errorf("%s: the cause is not in %v", name, err)
		}
	}
	if fail.Tool != "" {
		t.Error("the handler's error was changed")
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	const broken = "t unknown: the tool crashed; whether it took effect is unknown"
	const advice = ". Do not call it again; report it"
	bomb := &tools.Tool{Name: "t", Handler: func(context.Context, json.RawMessage) (json.RawMessage,
		error) {
		panic("boom")
	}}
	fine := &tools.Tool{Name: "t", Handler: handler(`"ok"`, nil)}
	before := policy(func(context.Context, tools.Call, tools.Caller) (json.RawMessage, error) { panic("boom") })
	after := policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		_, _ = next.Call(ctx, c)
		panic("boom")
	})
	swallow := policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		_, err := next.Call(ctx, c)
		return json.RawMessage(`"mended"`), errors.Unwrap(err) // the cause of a ToolError
	})
	tests := []struct {
		name     string
		tool     *tools.Tool
		policies []tools.Policy
		want     string
		settled  string
	}{
		{"handler", bomb, nil, broken + advice, "dispatched, settled " + broken},
		{"handler inside a policy", bomb, []tools.Policy{traced("p", nil)}, broken + advice, "dispatched, settled " + broken},
		{"policy before the call", fine, []tools.Policy{before}, "t denied: a policy crashed",
			"settled t denied: a policy crashed"},
		{"policy after the call", fine, []tools.Policy{after},
			"t invalid_result: the call was made, but its result is withheld: a policy crashed",
			"dispatched, settled t invalid_result: the call was made, but its result is withheld: a policy crashed"},
		{"policy after a panic", bomb, []tools.Policy{after},
			"t unknown: an earlier try may have taken effect; the last try: a policy crashed" + advice,
			"dispatched, settled t unknown: an earlier try may have taken effect; the last try: a policy crashed"},
		{"nil policy", fine, []tools.Policy{nil}, "t denied: a policy crashed", "settled t denied: a policy crashed"},
		{"policy that returns nil", fine, []tools.Policy{func(tools.Caller) tools.Caller { return nil }},
			"t denied: a policy crashed", "settled t denied: a policy crashed"},
		{"policy without a cause", fine, []tools.Policy{swallow}, `"mended"`, `dispatched, settled "mended"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var l recorder
			set := newSet(t, test.tool).With(test.policies...)
			_, err := dispatch.New(set, &l).Issue(tools.Call{ID: 1, Args: json.RawMessage(`{}`)}, 0).Perform(t.Context())
			if test.name != "policy without a cause" {
				if got := outcome(nil, err); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				cause := errors.Unwrap(err)
				if first, _, _ := strings.Cut(fmt.Sprint(cause), "\n"); cause == nil ||
					!strings.HasPrefix(first, "tools: t panicked: ") {
					t.Errorf("the host sees %v", cause)
				}
			}
			if got, want := l.String(), "issue 1 t{}, "+test.settled; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		var l recorder
		ctx, cancel := context.WithCancel(t.Context())
		issued := dispatch.New(newSet(t, tool(&l)).With(traced("p", &l.trace)), &l).Issue(tools.Call{ID: 1,
			Args: json.RawMessage(`{}`)}, 0)
		cancel()
		const want = "t denied: the program ended before the call was made"
		if got := outcome(issued.Perform(ctx)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := l.String(); got != "issue 1 t{}, settled "+want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("in a policy", func(t *testing.T) {
		t.Parallel()
		var l recorder
		ctx, cancel := context.WithCancel(t.Context())
		set := newSet(t,
			tool(&l)).With(policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
			cancel()
			return next.Call(ctx, c)
		}))
		const want = "t denied: the program ended before the call was made"
		if got := outcome(dispatch.New(set, &l).Issue(tools.Call{ID: 1, Args: json.RawMessage(`{}`)},
			0).Perform(ctx)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := l.String(); got != "issue 1 t{}, settled "+want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("during", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		set := newSet(t,
			&tools.Tool{Name: "t", Handler: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
				cancel()
				<-ctx.Done()
				return nil, errors.New("connection reset")
			}})
		const want = "t cancelled: cancelled; whether it took effect is unknown"
		if got := outcome(perform(ctx, set, `{}`)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// If a policy stops waiting for a handler, the state of the call is unknown.
func TestAbandonedHandler(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	set := newSet(t, &tools.Tool{Name: "t", Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		close(started)
		<-release
		return nil, nil
	}}).With(policy(func(ctx context.Context, c tools.Call, next tools.Caller) (json.RawMessage, error) {
		go func() { _, _ = next.Call(ctx, c) }()
		<-started
		return nil, denied("too slow")
	}))
	const want = "t unknown: an earlier try may have taken effect; the last try: too slow"
	if got := outcome(perform(t.Context(), set, `{}`)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnknownTool(t *testing.T) {
	t.Parallel()
	for _, index := range []int{-1, 1} {
		var l recorder
		issued := dispatch.New(newSet(t, tool(&l)), &l).Issue(tools.Call{ID: 1, Args: json.RawMessage(`{}`)}, index)
		if got := outcome(issued.Perform(t.Context())); got != " unknown_tool: the tool does not exist" || l.String() != "" {
			t.Errorf("got %s and %s", got, l.String())
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	const calls = 200
	var all sync.WaitGroup
	all.Add(calls) // all of them are in their handlers at once
	set := newSet(t, tools.Func("t", "", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		all.Done()
		all.Wait()
		return in.N, nil
	}, nil)).With(traced("p", &trace{}))
	d := dispatch.New(set, &recorder{})
	results := make([]string, calls)
	var group sync.WaitGroup
	for i := range calls {
		issued := d.Issue(tools.Call{ID: i + 1, Args: fmt.Appendf(nil, `{"n":%d}`, i)}, 0)
		group.Go(func() { results[i] = outcome(issued.Perform(t.Context())) })
	}
	group.Wait()
	for i, got := range results {
		if got != fmt.Sprint(i) {
			t.Errorf("call %d: got %s", i, got)
		}
	}
	if !slices.Contains(results, "0") {
		t.Error("there are no results")
	}
}

// TestWithPolicies replaces a tool for everything in a context.
func TestWithPolicies(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("send", "Send it.", func(context.Context, struct{}) (string, error) {
		return "sent", nil
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	note := func(name string) tools.Policy {
		return func(next tools.Caller) tools.Caller {
			return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
				order = append(order, name)
				return next.Call(ctx, c)
			})
		}
	}
	fake := func(tools.Caller) tools.Caller {
		return tools.CallerFunc(func(context.Context, tools.Call) (json.RawMessage, error) {
			return json.RawMessage(`"fake"`), nil
		})
	}
	call := func(ctx context.Context) string {
		t.Helper()
		issued := dispatch.New(set.With(note("set")), nil).Issue(tools.Call{Args: json.RawMessage("{}")}, 0)
		result, err := issued.Perform(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return string(result)
	}
	ctx := tools.WithPolicies(tools.WithPolicies(t.Context(), note("first")), note("second"))
	if got := call(ctx); got != `"sent"` || !slices.Equal(order, []string{"first", "second", "set"}) {
		t.Errorf("got %s after %q", got, order)
	}
	if got := call(tools.WithPolicies(ctx, fake)); got != `"fake"` {
		t.Errorf("got %s", got)
	}
}
