package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m.Run)) }

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

// store is a Store that does nothing if the context is canceled, like a database.
type store struct{ journal.Store }

func (s store) Open(ctx context.Context, run string) (journal.Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.Store.Open(ctx, run)
}

// newRunner returns a Runner of the program. If see is not nil, it gets the events.
func newRunner(t testing.TB, see func(event.Event)) *agent.Runner {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	send := tools.Func("send", "Sends a letter.", func(_ context.Context, l letter) (string, error) {
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
	o := &agent.RunnerOptions{Logger: slog.New(slog.DiscardHandler)}
	if see != nil {
		o.Context = func(ctx context.Context, _ agent.RunInfo) context.Context {
			return module.Observe(ctx, func(_ context.Context, e event.Event) { see(e) })
		}
	}
	r, err := agent.NewRunner(agent.NewRuns(store{journal.NewMemory()}), m, o)
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
	h, err := New(newRunner(t, nil), o)
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

// Errors have a status and a code, and clients do not see the texts of the Runner.
func TestProblems(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	var log bytes.Buffer
	h.Logger = slog.New(slog.NewTextHandler(&log, nil))
	const secret = "/var/lib/secret"
	for code, test := range map[string]struct {
		err    error
		status int
	}{
		"no_run":    {agent.ErrNoRun, 404},
		"no_ticket": {agent.ErrNotWaiting, 404},
		"decided":   {agent.ErrDecided, 409},
		"conflict":  {agent.ErrConflict, 409},
		"busy":      {queue.ErrBusy, 503},
		"stopping":  {queue.ErrStopped, 503},
		"in_use":    {journal.ErrInUse, 503},
		"internal":  {errors.New("disk full"), 500},
	} {
		w := httptest.NewRecorder()
		failing := func(http.ResponseWriter, *request) (int, any, error) {
			return 202, "body", fmt.Errorf("%s: %w", secret, test.err)
		}
		r := httptest.NewRequest(http.MethodGet, "/runs", nil)
		r.Header.Set("User", "ann")
		h.serve(w, r, failing)
		retry := w.Header().Get("Retry-After") != ""
		if body := w.Body.String(); w.Code != test.status || !strings.Contains(body, `"code":"`+code+`"`) ||
			strings.Contains(body, secret) || retry != (test.status == 503) {
			t.Errorf("%s: got %d %s, Retry-After %t", code, w.Code, body, retry)
		}
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, secret+": disk full") {
		t.Errorf("the log has %s", text)
	}
}

// After a shutdown, clients are told to try again.
func TestShutdown(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	if err := h.runner.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := h.do("ann", http.MethodPost, "/runs", `{"input": {"task": "rest"}}`); w.Code != 503 ||
		w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Who may see a run may not do everything with it.
func TestMay(t *testing.T) {
	t.Parallel()
	var asked []string
	h := newHandler(t, &Options{May: func(_ context.Context, who string, run agent.RunInfo, w *agent.Waiting) bool {
		if w != nil {
			asked = append(asked, who+" "+w.Tool)
		}
		return who == run.Principal || who == "boss" || who == "clerk" && w == nil
	}})
	run := h.begin(t, "send bob")
	ticket := "/runs/" + run.ID + "/tickets/" + run.Waiting[0].ID
	for _, test := range []struct {
		who, method, path, body string
		status                  int
	}{
		{"clerk", "GET", "/runs/" + run.ID, "", 200},
		{"clerk", "PUT", ticket, `{"approved": true}`, 403},
		{"clerk", "PUT", ticket + "0", `{"approved": true}`, 403}, // it might begin to wait at this moment
		{"clerk", "POST", "/runs/" + run.ID + "/cancel", "", 403},
		{"boss", "POST", "/runs/" + run.ID + "/cancel", "", 403},
		{"boss", "POST", "/runs/" + run.ID + "/resume", "", 403},
		{"eve", "PUT", ticket, `{"approved": true}`, 404},
		{"boss", "PUT", ticket, `{"approved": true}`, 204},
		{"clerk", "PUT", ticket, `{"approved": true}`, 403},
		{"ann", "PUT", ticket, `{"approved": true}`, 204}, // the same answer
		{"ann", "PUT", ticket, `{"approved": false}`, 409},
	} {
		if w := h.do(test.who, test.method, test.path, test.body); w.Code != test.status {
			t.Errorf("%s %s %s: got %d %s, want %d", test.who, test.method, test.path, w.Code, w.Body, test.status)
		}
	}
	if !slices.Contains(asked, "boss send") {
		t.Errorf("May was not asked about the call: %q", asked)
	}
	run, err := h.runner.Wait(t.Context(), run.ID)
	if err != nil || run.State != agent.Done {
		t.Errorf("the run is %s, %v", run.State, err)
	}
}

// A client that goes away does not stop what it has asked for.
func TestCanceledRequests(t *testing.T) {
	t.Parallel()
	var leave context.CancelFunc // called when the run has been looked up
	h := newHandler(t, &Options{May: func(context.Context, string, agent.RunInfo, *agent.Waiting) bool {
		leave()
		return true
	}})
	do := func(method, path, body string) string {
		ctx, cancel := context.WithCancel(t.Context())
		leave = cancel
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(ctx, method, path, &leaving{strings.NewReader(body), cancel})
		r.Header = http.Header{"User": {"ann"}, "Content-Type": {"application/json"}}
		if h.ServeHTTP(w, r); w.Code >= 300 || ctx.Err() == nil {
			t.Fatalf("%s %s: %d %s; the context: %v", method, path, w.Code, w.Body, ctx.Err())
		}
		return strings.TrimPrefix(w.Header().Get("Location"), "runs/")
	}
	for want, answer := range map[agent.RunState][3]string{
		agent.Done:      {http.MethodPut, "/tickets/", `{"approved": true}`},
		agent.Cancelled: {http.MethodPost, "/cancel", ""},
	} {
		id := do(http.MethodPost, "/runs", `{"input": {"task": "send bob"}}`)
		run, err := h.runner.Wait(t.Context(), id)
		if err != nil || run.State != agent.Paused {
			t.Fatalf("the run is %s, %v", run.State, err)
		}
		if answer[1] == "/tickets/" {
			answer[1] += run.Waiting[0].ID
		}
		do(answer[0], "/runs/"+id+answer[1], answer[2])
		if run, err = h.runner.Wait(t.Context(), id); err != nil || run.State != want {
			t.Errorf("the run is %s, not %s, %v", run.State, want, err)
		}
	}
}

// leaving is the body of a request whose client goes away at its end.
type leaving struct {
	io.Reader
	leave func()
}

func (l *leaving) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if err != nil {
		l.leave()
	}
	return n, err
}

// Of different answers at the same time, one counts.
func TestConcurrentAnswers(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	run := h.begin(t, "send bob")
	path := "/runs/" + run.ID + "/tickets/" + run.Waiting[0].ID
	codes := make(chan int)
	for i := range 8 {
		go func() {
			body := fmt.Sprintf(`{"approved": true, "args": {"to": "%d"}}`, i/2)
			codes <- h.do("ann", http.MethodPut, path, body).Code
		}()
	}
	counts := map[int]int{}
	for range 8 {
		counts[<-codes]++
	}
	if counts[204] != 2 || counts[409] != 6 {
		t.Errorf("got %v", counts)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	h := newHandler(t, nil)
	for range 101 {
		h.begin(t, "rest")
	}
	var first, second struct {
		Runs []agent.RunInfo
		More bool
	}
	if err := json.Unmarshal(h.do("ann", http.MethodGet, "/runs", "").Body.Bytes(), &first); err != nil {
		t.Fatal(err)
	}
	path := "/runs?after=" + first.Runs[len(first.Runs)-1].ID
	if err := json.Unmarshal(h.do("ann", http.MethodGet, path, "").Body.Bytes(), &second); err != nil {
		t.Fatal(err)
	}
	if len(first.Runs) != 100 || !first.More || len(second.Runs) != 1 || second.More {
		t.Errorf("got %d runs, %t, and then %d, %t", len(first.Runs), first.More, len(second.Runs), second.More)
	}
}

// The principal of the request is the one who has decided.
func TestDecisionNamesPrincipal(t *testing.T) {
	t.Parallel()
	decisions := make(chan string, 10)
	h := newHandler(t, nil)
	h.runner = newRunner(t, func(e event.Event) {
		if end, ok := e.(event.ToolCallEnd); ok && end.Call.Decision != "" {
			decisions <- end.Call.Decision
		}
	})
	run := h.begin(t, "send bob")
	path := "/runs/" + run.ID + "/tickets/" + run.Waiting[0].ID
	if w := h.do("ann", http.MethodPut, path, `{"approved": true, "by": "eve"}`); w.Code != 422 {
		t.Errorf("an answer with a name: %d %s", w.Code, w.Body)
	}
	if w := h.do("ann", http.MethodPut, path, `{"approved": true, "args": null}`); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if got := <-decisions; got != "approved by ann" {
		t.Errorf("got %q", got)
	}
	if run, err := h.runner.Wait(t.Context(), run.ID); err != nil || run.State != agent.Done {
		t.Errorf("the run is %s, %v", run.State, err)
	}
}

// Pages of other origins may do what Options.CrossOrigin says.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	trusted := http.NewCrossOriginProtection()
	if err := trusted.AddTrustedOrigin("https://app.example"); err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, &Options{CrossOrigin: trusted})
	for origin, want := range map[string]int{"https://app.example": 204, "https://other.example": 403} {
		r := httptest.NewRequest(http.MethodPost, "/runs/"+h.begin(t, "send bob").ID+"/cancel", nil)
		r.Header = http.Header{"User": {"ann"}, "Origin": {origin}, "Sec-Fetch-Site": {"cross-site"}}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: got %d %s", origin, w.Code, w.Body)
		}
	}
}
