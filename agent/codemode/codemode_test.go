package codemode

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type number struct {
	N int `json:"n"`
}

// numbers returns a set with one tool for each name, which returns its argument.
func numbers(t *testing.T, names ...string) *tools.Set {
	t.Helper()
	var sources []tools.Source
	for _, name := range names {
		sources = append(sources, tools.Func(name, "Return the number "+name+".",
			func(_ context.Context, in number) (int, error) { return in.N, nil }, nil))
	}
	return newSet(t, sources...)
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(listed(t, session)))
}

// TestOwnTools calls a function of the host and a tool of a server in one program; the policies of
// the host apply to both.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	var called []string
	set := numbers(t, "same").With(func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			called = append(called, c.Tool.Path())
			return next.Call(ctx, c)
		})
	})
	session, _ := begin(t, setup{Options: Options{Tools: set, Config: path}})
	e := executeCode(t, session, map[string]any{
		"code": `(await same({n: 4})) + Number(await fs.read_text_file({path: "a.txt"}))`})
	if string(e.Result) != "7" || !slices.Equal(called, []string{"same", "fs.read_text_file"}) {
		t.Errorf("got %+v; the policy saw %q", e, called)
	}
}

// warned is a tool of another server, whose source has a warning.
type warned struct{}

func (warned) Warnings() []string { return []string{`mcp server "late": a tool was left out`} }

func (warned) Tools(context.Context) ([]*tools.Tool, error) {
	return []*tools.Tool{{Namespace: "if", Name: "f", InputSchema: json.RawMessage(`{"type": 1}`),
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }}}, nil
}

// TestWarnings logs and prints, once, what Warnings of the host's set says, with what it says about all tools.
func TestWarnings(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	wipe := tools.Func("wipe", "", func(context.Context, number) (int, error) { return 0, nil },
		&tools.Hints{Destructive: true})
	set := newSet(t, wipe, warned{}).With(policy.If(policy.Tools("fs.write_file"), policy.AllowDestructive))
	s := prepare(t, setup{Options: Options{Tools: set, Config: path}})
	var out strings.Builder
	if err := s.Check(t.Context(), &out, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if text, found := strings.CutPrefix(line, "warning "); found {
			got = append(got, strings.TrimSpace(text))
		}
	}
	want := []string{
		`mcp server "late": a tool was left out`,
		`namespace "if" is called if_ in programs`,
		`tool "f" of "if": its arguments are not checked: input schema: schema: type must be one of "array", ` +
			`"boolean", "integer", "null", "number", "object", "string", not 1`,
		"destructive tools can be called without approval: wipe; add policy.Approve to the set, or " +
			"policy.AllowDestructive if that is intended",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, w := range want {
		if !s.written.has(strconv.Quote(w)) {
			t.Errorf("the log lacks %s", w)
		}
	}
}

// TestSetTools replaces the tools while a client is connected.
func TestSetTools(t *testing.T) {
	t.Parallel()
	client, heard := listening()
	session, s := begin(t, setup{Options: Options{Tools: numbers(t, "one")}, client: client})
	if text := describedExecute(t, session); !strings.Contains(text, "one(args") {
		t.Errorf("the description lacks one:\n%s", text)
	}
	if err := s.SetTools(numbers(t, "two")); err != nil {
		t.Fatal(err)
	}
	for text := ""; !strings.Contains(text, "two(args"); text = describedExecute(t, session) {
		<-heard
	}
	wantResult(t, session, "await two({n: 2})", "2")
	if e := executeCode(t, session, map[string]any{"code": "await one({n: 2})"}); e.Success {
		t.Errorf("the old tool is still there: %+v", e)
	}
}

// TestOneTool offers nothing but execute_code.
func TestOneTool(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 400 {
		many = append(many, "tool_"+strings.Repeat("x", 20)+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	session, _ := begin(t, setup{Options: Options{Tools: numbers(t, many...), Offer: []string{"execute_code"},
		Packages: []string{"zod"}, Description: 2048}})
	if got := toolNames(t, session); !slices.Equal(got, []string{"execute_code"}) {
		t.Errorf("got %q", got)
	}
	text := describedExecute(t, session)
	if n := utf8.RuneCountInString(text); n > 2048 || n < 1024 || strings.Contains(text, "search_tools") {
		t.Errorf("the description has %d characters:\n%s", n, text)
	}
	e := executeCode(t, session, map[string]any{"code": `const [hit] = await tools.search("` + many[399] + `"); hit.name`})
	if string(e.Result) != `"`+many[399]+`"` {
		t.Errorf("got %+v", e)
	}
}

// TestIntroduction is what clients show that show only the beginning of a description.
func TestIntroduction(t *testing.T) {
	t.Parallel()
	s := prepare(t, setup{Options: Options{Tools: numbers(t, "one")}})
	for _, offer := range [][]string{nil, {"execute_code"}} {
		s.options.Offer = offer
		text := s.as(local).introduction(s.catalog.everything().set, true)
		if n := utf8.RuneCountInString(text); n > 1024 {
			t.Errorf("what every program needs takes %d characters:\n%s", n, text)
		}
	}
}

// TestDescriptionLimit reaches every limit, down to the smallest one.
func TestDescriptionLimit(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 300 {
		many = append(many, "get_"+string(rune('a'+i%26))+strings.Repeat("y", i/26))
	}
	s := prepare(t, setup{Options: Options{Tools: numbers(t, many...), Declarations: 8000}})
	set := s.catalog.everything().set
	smallest := utf8.RuneCountInString(s.as(local).introduction(set, true))
	last := 0
	for _, limit := range []int{smallest, 1500, 2048, 4000, 8000, 16000} {
		s.options.Description = limit
		n := utf8.RuneCountInString(s.as(local).describeExecute(s.catalog.everything()))
		if n > limit || n < last {
			t.Errorf("with a limit of %d the description has %d characters", limit, n)
		}
		last = n
	}
	if last < 3000 { // the names of all tools
		t.Errorf("with a limit of 16,000 the description has only %d characters", last)
	}
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	_, err := New(&Options{Config: "missing.json", Packages: []string{"a b"}, Offer: []string{"exceute_code"},
		Description: -1, Queue: queue.Options{Running: -1}})
	for _, want := range []string{"codemode: ", "missing.json", `"a b" is not a valid`, `"exceute_code" matches no tool of this server; did you mean execute_code?`,
		"description: must not be negative", "running programs: must"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %s: %v", want, err)
		}
	}
}

// TestHandler mounts a server in an HTTP server of the host, whose own authentication says who asks.
func TestHandler(t *testing.T) {
	t.Parallel()
	s := prepare(t, setup{Options: Options{Tools: numbers(t, "same", "other")}})
	handler, err := s.Handler(nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/agents/", http.StripPrefix("/agents", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := serve.Principal{Name: r.Header.Get("Authorization"), Tools: []string{"execute_code", "same"}}
		handler.ServeHTTP(w, r.WithContext(serve.WithPrincipal(r.Context(), p)))
	})))
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	for _, version := range []string{"", "2025-11-25"} {
		session := connect(t, site.URL+"/agents/mcp", "ada", version)
		if got := toolNames(t, session); !slices.Equal(got, []string{"execute_code"}) {
			t.Errorf("%s: got %q", version, got)
		}
		wantResult(t, session, "await same({n: 3})", "3")
		if e := executeCode(t, session, map[string]any{"code": "await other({n: 3})"}); e.Success {
			t.Errorf("%s: the principal may not use other: %+v", version, e)
		}
		session.Close()
	}
	if err := handler.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAddTo adds the tools to a server of the host, next to its own.
func TestAddTo(t *testing.T) {
	t.Parallel()
	s := prepare(t, setup{Options: Options{Tools: numbers(t, "same")}})
	server := mcp.NewServer(&mcp.Implementation{Name: "host", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "own"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult,
		any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	if err := s.AddTo(server, serve.Principal{Name: "ada", Tools: []string{"execute_code", "same"}}); err != nil {
		t.Fatal(err)
	}
	session := connectTo(t, server)
	if got := toolNames(t, session); !slices.Equal(got, []string{"execute_code", "own"}) {
		t.Errorf("got %q", got)
	}
	wantResult(t, session, "await same({n: 5})", "5")
	if err := s.SetTools(nil); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); strings.Contains(describedExecute(t, session), "same("); {
		if time.Now().After(end) {
			t.Fatal("the tools of the server are not kept up to date")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestClose ends running programs and refuses everything after it.
func TestClose(t *testing.T) {
	t.Parallel()
	session, s := begin(t, setup{Options: Options{Tools: numbers(t, "same")}})
	ended := make(chan execution, 1)
	go func() {
		defer close(ended) // if the call fails
		ended <- executeCode(t, session, map[string]any{"code": "await same({n: 1}); await sleep(600_000)"})
	}()
	awaitCalls(t, s, "writ.queue.running", "executions", 1)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if e := <-ended; e.Success || e.ErrorType != errorServer {
		t.Errorf("got %+v", e)
	}
	if e := executeCode(t, session, map[string]any{"code": "1"}); e.ErrorType != errorServer ||
		!strings.Contains(e.Diagnostics[0].Message, "shutting down") {
		t.Errorf("after Close: %+v", e)
	}
	_, handlerErr := s.Handler(nil)
	server := mcp.NewServer(&mcp.Implementation{Name: "host", Version: "1"}, nil)
	for _, err := range []error{s.SetTools(nil), s.Serve(t.Context(), nil), handlerErr, s.AddTo(server, local)} {
		if err == nil || err.Error() != "codemode: the server is closed" {
			t.Errorf("after Close: %v", err)
		}
	}
}

// TestPrincipalOfTools lets functions of the host see who calls.
func TestPrincipalOfTools(t *testing.T) {
	t.Parallel()
	set := newSet(t, tools.Func("whoami", "Return the caller.",
		func(ctx context.Context, _ struct{}) (string, error) {
			p, _ := serve.PrincipalOf(ctx)
			return p.Name, nil
		}, nil))
	s := prepare(t, setup{Options: Options{Tools: set}})
	server := mcp.NewServer(&mcp.Implementation{Name: "host", Version: "1"}, nil)
	if err := s.AddTo(server, serve.Principal{Name: "ada"}); err != nil {
		t.Fatal(err)
	}
	session := connectTo(t, server)
	wantResult(t, session, "await whoami({})", `"ada"`)
}
