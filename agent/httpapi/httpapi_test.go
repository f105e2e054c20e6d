package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// The program of the runs: "send bob" sends a letter after approval, "pay bob" pays twice, with an unknown outcome, and
// "fail" fails.
const program = `const [name, to] = task.split(" ");
let answer = "nothing to do";
if (name == "fail") throw new Error("no file /var/lib/secret");
if (name == "pay") {
  await pay({to}).catch(() => 0);
  answer = await pay({to});
}
if (name == "send") {
  answer = await send({to});
}
submit({answer})`

type letter struct {
	To string `json:"to"`
}

// newRunner returns a Runner of the program. The letters that it sends are written to sent.
func newRunner(t testing.TB, sent chan<- string) *agent.Runner {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	send := tools.Func("send", "Sends a letter.", func(_ context.Context, l letter) (string, error) {
		sent <- l.To
		return "sent to " + l.To, nil
	}, &tools.Hints{Class: tools.Effect, Destructive: true})
	pay := tools.Func("pay", "Pays.", func(context.Context, letter) (string, error) {
		return "", &tools.ToolError{Tool: "pay", Kind: tools.KindUnknown, Message: "the bank did not answer"}
	}, &tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), send, pay)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.If(policy.Destructive(), policy.Approve(nil)))
	m := module.NewProgram(sig, module.Script{Code: program}, box, set, nil)
	runs := agent.NewRuns(journal.NewMemory())
	r, err := agent.NewRunner(runs, m, &agent.RunnerOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Shutdown(context.Background()) })
	return r
}

// user returns the principal of a request of the tests.
func user(r *http.Request) (string, error) {
	if r.Header.Get("User") == "" {
		return "", errors.New("no header User")
	}
	return r.Header.Get("User"), nil
}

// newHandler returns the handler of a new Runner. Nil options are those of the tests.
func newHandler(t testing.TB, o *Options) *handler {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	o.Principal, o.Logger = user, slog.New(slog.DiscardHandler)
	h, err := New(newRunner(t, make(chan string, 100)), o)
	if err != nil {
		t.Fatal(err)
	}
	return h.(*handler)
}

// begin starts a run of ann and waits until it rests.
func (h *handler) begin(t testing.TB, task string) agent.RunInfo {
	t.Helper()
	input, err := json.Marshal(agent.Task{Task: task})
	if err != nil {
		t.Fatal(err)
	}
	run, err := h.runner.Start(t.Context(), agent.RunRequest{Principal: "ann", Input: input})
	if err == nil {
		run, err = h.runner.Wait(t.Context(), run.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// do sends a request and returns the response.
func (h *handler) do(who, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("User", who)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestNewWithoutPrincipal(t *testing.T) {
	t.Parallel()
	r := newRunner(t, nil)
	for _, o := range []*Options{nil, {}} {
		if _, err := New(r, o); err == nil || !strings.Contains(err.Error(), "Options.Principal") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := New(nil, &Options{Principal: user}); err == nil {
		t.Error("the Runner is nil")
	}
}
