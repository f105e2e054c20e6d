package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// office is a server with tools whose effects the tests count.
type office struct {
	served
	t       *testing.T
	begun   chan struct{} // receives a value when the tool slow has been called
	release chan struct{} // slow returns when it is closed

	mu   sync.Mutex
	sent []string
}

type letter struct {
	To string `json:"to"`
}

// newOffice returns a server with the tools send, which fails once for "bad" and has an unknown outcome for "lost", set,
// note, slow and list.
func newOffice(t *testing.T, o setup) *office {
	t.Helper()
	f := &office{t: t, begun: make(chan struct{}, 10), release: make(chan struct{})}
	failed := false
	send := func(_ context.Context, in letter) (string, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sent = append(f.sent, in.To)
		switch {
		case in.To == "bad" && !failed:
			failed = true
			return "", errors.New("no reply")
		case in.To == "lost":
			return "", tools.Unknown(errors.New("connection lost"))
		}
		return "sent to " + in.To, nil
	}
	slow := func(ctx context.Context, in letter) (string, error) {
		f.begun <- struct{}{}
		select {
		case <-f.release:
		case <-ctx.Done():
			return "", tools.Unknown(ctx.Err())
		}
		return send(ctx, in)
	}
	list := func(context.Context, struct{}) ([]string, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.Clone(f.sent), nil
	}
	o.Tools = newSet(t,
		tools.Func("send", "Send a letter.", send, &tools.Hints{Class: tools.Effect}),
		tools.Func("slow", "Send a letter slowly.", slow, &tools.Hints{Class: tools.Effect}),
		tools.Func("set", "Set the recipient.", send, &tools.Hints{Class: tools.Idempotent}),
		tools.Func("note", "Write a note.", send, &tools.Hints{Class: tools.Effect, Repeatable: true}),
		tools.Func("scan", "Scan.", send, nil),
		tools.Func("list", "List the letters.", list, &tools.Hints{Class: tools.Read}))
	f.served = prepare(t, o)
	return f
}

// connect begins an MCP session of a principal.
func (f *office) connect(principal string) *mcp.ClientSession {
	f.t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "host", Version: "1"}, nil)
	if err := f.AddTo(server, serve.Principal{Name: principal}); err != nil {
		f.t.Fatal(err)
	}
	return connectTo(f.t, server)
}

// wantSent compares the letters that were sent.
func (f *office) wantSent(want string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := strings.Join(f.sent, " "); got != want {
		f.t.Errorf("sent %q, want %q", got, want)
	}
}

// code runs a program with retry_of, which may be empty.
func code(t *testing.T, session *mcp.ClientSession, retryOf, text string) execution {
	t.Helper()
	args := map[string]any{"code": text}
	if retryOf != "" {
		args["retry_of"] = retryOf
	}
	return executeCode(t, session, args)
}

// wantHeld checks that a program was held, with these parts of a message.
func wantHeld(t *testing.T, e execution, parts ...string) {
	t.Helper()
	if e.ErrorType != "HELD" {
		t.Errorf("not held: %+v", e)
		return
	}
	for _, part := range parts {
		if !strings.Contains(e.Diagnostics[0].Message, part) {
			t.Errorf("the message lacks %q: %s", part, e.Diagnostics[0].Message)
		}
	}
}

const annAndFail = `await send({to: "ann"}); throw new Error("no")`

// TestRetry writes a program again that failed: what is done is not repeated, and reads are live.
func TestRetry(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	e := code(t, session, "", `await list({}); `+annAndFail)
	run := e.Run
	if runID.FindString(run) != run || run == "" || !strings.Contains(e.Advice, `retry_of: "`+run+`"`) {
		t.Fatalf("got %+v", e)
	}
	e = executeCode(t, session, map[string]any{"retry_of": run, "language": "typescript", "session": "new",
		"variables": map[string]any{"to": "ann"},
		"code":      `const n: number = (await list({})).length; [n, await send({to}), await send({to: "bob"})]`})
	if string(e.Result) != `[1,"sent to ann","sent to bob"]` || e.Run != "" || e.Advice != "" || len(e.Warnings) > 0 {
		t.Errorf("got %+v", e)
	}
	if c := e.Calls; c[0].Recorded || !c[1].Recorded || c[2].Recorded ||
		!strings.Contains(e.content()[0].(*mcp.TextContent).Text, "- send(): ok (recorded; the tool was not called)") {
		t.Errorf("calls are %+v", c)
	}
	f.wantSent("ann bob")
	e = code(t, session, run, `await send({to: "cal"})`)
	if e.ErrorType != notFound || !strings.Contains(e.Diagnostics[0].Message, "nothing was run") {
		t.Errorf("after success: %+v", e)
	}
	wantResult(t, session, `await send({to: "ann"})`, `"sent to ann"`) // a new wish
	f.wantSent("ann bob ann")
}

// TestRetryWithoutEffects does not keep programs that changed nothing.
func TestRetryWithoutEffects(t *testing.T) {
	t.Parallel()
	session := newOffice(t, setup{}).connect("ada")
	for _, text := range []string{`throw new Error("no")`, `await list({}); throw new Error("no")`, `let x = ;`,
		`await send({to: JSON.parse("1")})`} {
		if e := code(t, session, "", text); e.Success || e.Run != "" || e.Advice != "" {
			t.Errorf("%s: %+v", text, e)
		}
	}
}

// TestRetryHeld holds a call of a retry, which stays retryable, and reports the effect that the retry ignores.
func TestRetryHeld(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	run := code(t, session, "", annAndFail).Run
	for range 2 {
		e := code(t, session, run, `await send({to: "Ann"})`)
		wantHeld(t, e, "send with other arguments", `{same: "E1"}`, `{distinct: "all"}`)
		if e.Run != run || !strings.Contains(e.Advice, run) {
			t.Errorf("the run cannot be retried: %+v", e)
		}
	}
	e := code(t, session, run, `await send({to: "Ann"}, {distinct: "all"})`)
	const want = `send({"to":"ann"}) of an earlier program is done, and this program neither repeated nor used it`
	if !e.Success || len(e.Warnings) != 1 || e.Warnings[0].Message != want || e.Warnings[0].ErrorType != "ORPHAN" {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann Ann")
}

// TestRetryAtOnce retries twice at the same time, and calls what a running program has called.
func TestRetryAtOnce(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session, other := f.connect("ada"), f.connect("ada")
	run := code(t, session, "", annAndFail).Run
	ended := make(chan execution, 1)
	go func() {
		ended <- executeCode(t, session, map[string]any{"retry_of": run,
			"code": `await send({to: "ann"}); await slow({to: "bob"})`})
	}()
	<-f.begun
	if e := code(t, session, run, annAndFail); e.ErrorType != busy ||
		!strings.Contains(e.Diagnostics[0].Message, "still running, so nothing was run") {
		t.Errorf("got %+v", e)
	}
	const bob = `await slow({to: "bob"})`
	for range 2 {
		e := code(t, session, "", bob)
		wantHeld(t, e, "which is still running, has made exactly this call", `retry_of: "none"`)
		if e.Run != "" {
			t.Errorf("got %+v", e)
		}
	}
	failed := code(t, session, "none", `await send({to: "cal"}); throw 1`).Run
	wantHeld(t, code(t, session, failed, `await send({to: "cal"}); `+bob), "still running", `{distinct: "all"}`)
	close(f.release)
	for _, e := range []execution{code(t, session, "none", bob), code(t, other, "", bob), <-ended} {
		if !e.Success {
			t.Errorf("got %+v", e)
		}
	}
	f.wantSent("ann cal bob bob bob")
}

// TestHeldWithoutRetry holds, once, a call that a failed program of the session has made.
func TestHeldWithoutRetry(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	run := code(t, session, "", annAndFail).Run
	if e := code(t, f.connect("ada"), "", `await send({to: "ann"})`); !e.Success {
		t.Errorf("held in another session: %+v", e)
	}
	if e := code(t, session, "none", `await send({to: "ann"})`); !e.Success {
		t.Errorf("a new wish: %+v", e)
	}
	f.wantSent("ann ann ann")
	e := code(t, session, "", `await list({}); await send({to: "ann"}); await send({to: "bob"})`)
	wantHeld(t, e, `retry_of: "`+run+`"`, `retry_of: "none"`, "which is done")
	if e.Run != run || e.Advice != "" {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann ann ann")
	if e := code(t, session, "", `await send({to: "ann"})`); !e.Success {
		t.Errorf("held twice: %+v", e)
	}
	if e := code(t, session, run, `await send({to: "ann"})`); !e.Calls[0].Recorded {
		t.Errorf("got %+v", e)
	}
}

// TestHeldHarmless never holds calls that may be repeated.
func TestHeldHarmless(t *testing.T) {
	t.Parallel()
	session := newOffice(t, setup{}).connect("ada")
	const text = `await list({}); await set({to: "a"}); await note({to: "b"}); await scan({to: "c"}, {fresh: true})`
	e := code(t, session, "", text+`; throw 1`)
	if e.Run == "" {
		t.Errorf("got %+v", e)
	}
	if e := code(t, session, "", text); !e.Success {
		t.Errorf("got %+v", e)
	}
}

// TestHeldAfterEffect holds a program that has had other effects, and retries the earlier one.
func TestHeldAfterEffect(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	run := code(t, session, "", annAndFail).Run
	e := code(t, session, "", `await send({to: "bob"}); await send({to: "ann"})`)
	wantHeld(t, e, run)
	if e.Run != run || !strings.Contains(e.Advice, "made calls before it was held") {
		t.Errorf("got %+v", e)
	}
	for range 2 {
		wantHeld(t, code(t, session, run, `await send({to: "ann"}); await send({to: "bob"})`),
			"which failed, has made exactly this call, and it is done. Leave the call out", `{distinct: "all"}`)
	}
	f.wantSent("ann bob")
	if e := code(t, session, run, `await send({to: "ann"}); await send({to: "bob"}, {distinct: "all"})`); !e.Success {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann bob bob")
}

// TestRetryCanceled learns the ID of a canceled run from a hold.
func TestRetryCanceled(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	const text = `await send({to: "ann"}); await slow({to: "bob"})`
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-f.begun
		cancel()
	}()
	_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": text}})
	if err == nil {
		t.Fatal("not canceled")
	}
	e := code(t, session, "", text)
	for end := time.Now().Add(time.Minute); strings.Contains(e.Diagnostics[0].Message, "running"); {
		if time.Now().After(end) {
			t.Fatal("the canceled program is still running")
		}
		e = code(t, session, "", text)
	}
	wantHeld(t, e, "an earlier program of this session failed", `retry_of: "`+e.Run+`"`)
	if e = code(t, session, e.Run, text); e.ErrorType != "UNKNOWN" || !e.Calls[0].Recorded || e.Run == "" ||
		!e.Calls[1].Rejected || e.Calls[1].Error != e.Diagnostics[0].Message ||
		!strings.Contains(e.Diagnostics[0].Message, `whether E2 slow({"to":"bob"}) took effect is unknown, so it was not`) {
		t.Errorf("got %+v", e)
	}
	if e = code(t, session, e.Run, `await send({to: "ann"})`); !e.Success || len(e.Warnings) != 1 ||
		!strings.Contains(e.Warnings[0].Message, `slow({"to":"bob"}) of an earlier program may have taken effect`) {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann")
}

// TestRetryUncertain retries a program that returned a value, although one of its calls failed.
func TestRetryUncertain(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	e := code(t, session, "", `await send({to: "ann"}); try { await send({to: "bad"}) } catch {} "done"`)
	text := e.content()[0].(*mcp.TextContent).Text
	if !e.Success || e.Run == "" || !strings.HasPrefix(e.Advice, "Some calls may have taken effect") ||
		e.Calls[0].Entry != "" || e.Calls[1].Entry != "E2" || !strings.Contains(text, "- E2 send(): failed: ") ||
		!strings.Contains(text, e.Advice) {
		t.Errorf("got %+v", e)
	}
	if e := code(t, session, "", `await send({to: "ann"})`); !e.Success { // the program had not failed
		t.Errorf("got %+v", e)
	}
	const again = `await list({}); await send({to: "ann"}); await send({to: "bad"}`
	wantHeld(t, code(t, session, e.Run, again+`)`), `again: "E2"`)
	if e = code(t, session, e.Run, again+`, {again: "E2"})`); !e.Success || e.Run != "" || len(e.Warnings) > 0 {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann bad ann bad")
}

// TestRetryOfOthers cannot use the run of another principal.
func TestRetryOfOthers(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	run := code(t, f.connect("ada"), "", annAndFail).Run
	mine := code(t, f.connect("bob"), run, annAndFail)
	never := code(t, f.connect("bob"), "r-never", annAndFail)
	message := func(e execution, run string) string { return strings.ReplaceAll(e.Diagnostics[0].Message, run, "") }
	if mine.ErrorType != notFound || message(mine, run) != message(never, "r-never") {
		t.Errorf("got %+v and %+v", mine, never)
	}
	f.wantSent("ann")
	if e := code(t, f.connect("ada"), run, `await send({to: "ann"})`); !e.Calls[0].Recorded { // in a later session
		t.Errorf("got %+v", e)
	}
}

// TestRetryStateless connects two calls only by retry_of.
func TestRetryStateless(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	handler, err := f.Handler(&serve.Options{Stateless: true})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(handler)
	t.Cleanup(site.Close)
	for _, version := range []string{"", "2025-11-25"} {
		session := connect(t, site.URL+"/mcp", "", version)
		run := code(t, session, "", annAndFail).Run
		if e := code(t, session, "", `await send({to: "ann"})`); !e.Success {
			t.Errorf("%s: %+v", version, e)
		}
		if e := code(t, session, run, `await send({to: "ann"})`); !e.Success || !e.Calls[0].Recorded {
			t.Errorf("%s: %+v", version, e)
		}
	}
	f.wantSent("ann ann ann ann")
}

// TestRetryFile retries a code file.
func TestRetryFile(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	file := get[codeFile](t, session, "initialize_code_file", map[string]any{"content": annAndFail})
	text, _ := ask(t, session, "execute_code_file", map[string]any{"file_path": file.FilePath})
	var e execution
	if err := json.Unmarshal(text, &e); err != nil || e.Run == "" {
		t.Fatalf("got %s (%v)", text, err)
	}
	file = get[codeFile](t, session, "initialize_code_file", map[string]any{"content": `await send({to: "ann"})`})
	e = get[execution](t, session, "execute_code_file", map[string]any{"file_path": file.FilePath, "retry_of": e.Run})
	if !e.Calls[0].Recorded {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann")
}

// TestRunsExpire removes a run that nobody retries.
func TestRunsExpire(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	f.runsOf("ada").keep = time.Nanosecond
	session := f.connect("ada")
	run := code(t, session, "", annAndFail).Run
	for end := time.Now().Add(time.Minute); ; {
		e := code(t, session, run, `throw new Error("no")`)
		if e.ErrorType == notFound {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the run has not expired")
		}
	}
}

// TestRunsLimits removes the oldest runs, but none that is running.
func TestRunsLimits(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	session := f.connect("ada")
	all := f.runsOf("ada")
	first := code(t, session, "", annAndFail).Run
	running := code(t, session, "none", annAndFail).Run
	held, err := all.begin(t.Context(), nil, running)
	if err != nil {
		t.Fatal(err)
	}
	for range maxRuns {
		r := &run{journal: journal.New(nil)}
		all.mu.Lock()
		if !all.store(r) {
			t.Error("not kept")
		}
		all.mu.Unlock()
	}
	if e := code(t, session, first, "1"); e.ErrorType != notFound {
		t.Errorf("the oldest run: %+v", e)
	}
	held.end(false)
	held.end(true) // without effect
	if e := code(t, session, running, `await send({to: "ann"})`); !e.Success {
		t.Errorf("a run that was running: %+v", e)
	}
	f.wantSent("ann ann")
}

// TestRunsBytes does not keep a run that is too large.
func TestRunsBytes(t *testing.T) {
	t.Parallel()
	f := newOffice(t, setup{})
	f.runsOf("ada").bytes = 2000
	session := f.connect("ada")
	small := code(t, session, "", annAndFail).Run
	if e := code(t, session, "none", `await list({}); `+annAndFail); e.Run != "" ||
		!strings.Contains(e.Advice, "too large to be kept") {
		t.Errorf("got %+v", e)
	}
	if e := code(t, session, small, annAndFail); e.Run != small { // is not larger than before
		t.Errorf("got %+v", e)
	}
	code(t, session, "none", annAndFail)
	if e := code(t, session, small, "1"); e.ErrorType != notFound {
		t.Errorf("the runs together are too large: %+v", e)
	}
}
