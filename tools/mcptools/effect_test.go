package mcptools

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// effectServer records the effect IDs of the calls that it receives.
type effectServer struct {
	mu  sync.Mutex
	ids []string
}

// take returns the IDs since the last call of take.
func (e *effectServer) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := strings.Join(e.ids, " ")
	e.ids = nil
	return ids
}

// call records a call and answers it. The argument "fail" makes it fail; "lose" closes the connection of a first call.
func (e *effectServer) call(w http.ResponseWriter, _ *http.Request, msg request) {
	var params struct {
		Meta      map[string]json.RawMessage `json:"_meta"`
		Arguments struct{ Fail, Lose bool }
	}
	_ = json.Unmarshal(msg.Params, &params)
	id := "-"
	if raw := params.Meta["io.github.writ-go/effect-id"]; raw != nil {
		_ = json.Unmarshal(raw, &id)
	}
	e.mu.Lock()
	e.ids = append(e.ids, id)
	first := len(e.ids) == 1
	e.mu.Unlock()
	if params.Arguments.Lose && first {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_ = conn.Close()
		return
	}
	content := `{"content":[]}`
	if params.Arguments.Fail {
		content = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	}
	asJSON(w, `{"jsonrpc":"2.0","id":`+string(msg.ID)+`,"result":`+content+`}`)
}

// issue calls the tool of a set that has the path.
func issue(ctx context.Context, set *tools.Set, a dispatch.Attempt, path, args string, r *tools.Repeat) error {
	for i, b := range set.Bindings() {
		if b.Path() == path {
			_, err := dispatch.New(set, a).Issue(tools.Call{Args: json.RawMessage(args), Repeat: r}, i).Perform(ctx)
			return err
		}
	}
	panic("no tool " + path)
}

// A call that may have an effect is sent with the ID of the effect: the same if it is sent again because its outcome is
// unknown, and another one if a program repeats it on purpose.
func TestEffectID(t *testing.T) {
	t.Parallel()
	var received effectServer
	servers := open(t, ServerConfig{URL: serveWeb(t, script{"tools/list": result(`{"tools":[
		{"name":"send","inputSchema":{"type":"object"}},
		{"name":"set","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}},
		{"name":"show","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`)}.
		handler(asJSON, received.call))}, &Options{Trust: []string{"s"}})
	remote := list(t, servers)
	twice := func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		for range 2 {
			if _, err := remote["send"].Handler(ctx, json.RawMessage(`{}`)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	set, err := tools.NewSet(t.Context(), servers, &tools.Tool{Name: "send", Handler: twice},
		&tools.Tool{Namespace: "s", Name: "twice", Handler: twice})
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.Retry(&policy.RetryOptions{Delay: time.Millisecond}))
	j := journal.New(nil)
	a := j.Attempt()
	run := ""
	for _, c := range []struct{ what, path, args, want string }{
		{"effect", "s.send", `{"n":1}`, "E1"},
		{"another effect", "s.send", `{"n":2}`, "E2"},
		{"unknown, and sent again", "s.set", `{"lose":true}`, "E3 E3"},
		{"read", "s.show", `{}`, "-"},
		{"a tool without a server makes the calls", "send", `{}`, "- -"},
		{"another tool makes the calls", "s.twice", `{}`, "- -"},
	} {
		if err := issue(t.Context(), set, a, c.path, c.args, nil); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		got := received.take()
		if run == "" {
			run = strings.TrimSuffix(got, "E1")
		}
		equal(t, c.what, strings.ReplaceAll(got, run, ""), c.want)
	}
	if !regexp.MustCompile(`^r-\w+:$`).MatchString(run) {
		t.Errorf("the run's ID: %q", run)
	}

	j.Accept()
	a = j.Attempt()
	_ = issue(t.Context(), set, a, "s.send", `{"fail":true}`, nil)
	equal(t, "failed", received.take(), run+"E7")
	a = j.Attempt()
	_ = issue(t.Context(), set, a, "s.show", `{}`, nil)
	_ = issue(t.Context(), set, a, "s.send", `{"fail":true}`, &tools.Repeat{Again: []string{"E7"}})
	equal(t, "repeated on purpose", received.take(), "- "+run+"E9")

	if err := issue(t.Context(), set, nil, "s.send", `{}`, nil); err != nil {
		t.Error(err)
	}
	equal(t, "without a journal", received.take(), "-")
}

// The ID is sent although the tool's name has a secret, which is replaced in the name that programs see, and next to a
// progress token.
func TestEffectIDOfSecretName(t *testing.T) {
	t.Parallel()
	var received effectServer
	secrets, err := policy.NewSecrets(policy.SecretOptions{Values: []string{"s3cret-word"}})
	if err != nil {
		t.Fatal(err)
	}
	servers := open(t, ServerConfig{URL: serveWeb(t, script{"tools/list": result(
		`{"tools":[{"name":"send s3cret-word","inputSchema":{"type":"object"}}]}`)}.
		handler(asJSON, received.call))}, &Options{Secrets: secrets})
	set, err := tools.NewSet(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	ctx := WithProgress(t.Context(), func(Progress) {})
	if err := issue(ctx, set, journal.New(nil).Attempt(), set.Bindings()[0].Path(), `{}`, nil); err != nil {
		t.Fatal(err)
	}
	if got := received.take(); !strings.HasSuffix(got, ":E1") {
		t.Errorf("got %q", got)
	}
}
