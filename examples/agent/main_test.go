package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/internal/testserver"
)

// commandEnv makes the test binary the command.
const commandEnv = "WRIT_TEST_AGENT_COMMAND"

func TestMain(m *testing.M) {
	testserver.Main()
	if os.Getenv(commandEnv) != "" {
		os.Exit(interruptible(os.Args[1:], nil, os.Stdout, os.Stderr))
	}
	os.Exit(leaktest.Run(m.Run))
}

// newOpenAI starts a stub of OpenAI that gives the replies in order and is overloaded after them.
func newOpenAI(t *testing.T, replies ...string) *stub.Server {
	t.Helper()
	server := stub.OpenAI(&stub.Options{Answer: func(r stub.Request) stub.Reply {
		if r.N > len(replies) || replies[r.N-1] == overloaded {
			return stub.Reply{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After-Ms": {"1"}},
				Body: `{"error":{"message":"overloaded, come back later","type":"server_error"}}`}
		}
		return stub.Reply{Text: replies[r.N-1], InputTokens: 1000, OutputTokens: 100}
	}})
	serveOpenAI(t, server)
	return server
}

// serveOpenAI makes a stub the server of OpenAI.
func serveOpenAI(t *testing.T, server http.Handler) {
	t.Helper()
	web := httptest.NewServer(server)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		web.Close()
	})
	t.Setenv("OPENAI_BASE_URL", web.URL)
	t.Setenv("OPENAI_API_KEY", "test-key")
}

// overloaded stands for the reply of an overloaded server.
const overloaded = "\x00"

// files makes a folder with the sales of three months.
func files(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sales-01.csv": "article,pieces\nchair,3\ntable,1\n",
		"sales-02.csv": "article,pieces\nchair,4\nlamp,7\n",
		"sales-03.csv": "article,pieces\ntable,2\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// aggregate is the program that a model would write for the task. read is an expression for a
// file's text, given the result r of read_text_file.
func aggregate(dir, read string) string {
	return "Read all files at once, add up, write the report.\n\n```js\n" + fmt.Sprintf(`const dir = %q;
const text = r => %s;
const names = text(await fs.list_directory({ path: dir })).split("\n")
  .map(line => line.replace("[FILE] ", "")).filter(name => name.endsWith(".csv"));
const contents = await Promise.all(names.map(name => fs.read_text_file({ path: dir + name })));
const total = {};
for (const content of contents)
  for (const line of text(content).trim().split("\n").slice(1)) {
    const [article, pieces] = line.split(",");
    total[article] = (total[article] ?? 0) + Number(pieces);
  }
await fs.write_file({ path: dir + "report.json", content: JSON.stringify(total) });
submit({ answer: names.length + " files: " + JSON.stringify(total) });`, dir, read) + "\n```"
}

const report = `{"chair":7,"table":3,"lamp":7}`

func run(t *testing.T, ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = command(ctx, args, nil, &out, &errs)
	return code, out.String(), errs.String()
}

func writeConfig(t *testing.T, entries map[string]any) string {
	t.Helper()
	path, err := testserver.WriteConfig(t.TempDir(), entries)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// addUp runs a task whose model writes the program [aggregate], checks the answer and the report, and returns what was
// written to stderr.
func addUp(t *testing.T, config, dir string) (stderr string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "report.html")
	code, stdout, stderr := run(t, t.Context(), "-config", config, "-model", "openai:stub", "-report", page,
		"Add up the sales files.")
	if want := "3 files: " + report + "\n"; code != 0 || stdout != want {
		t.Fatalf("code %d, stdout %q, want %q\n%s", code, stdout, want, stderr)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "Add up the sales files.") {
		t.Errorf("the report: %v\n%s", err, html)
	}
	written, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil || string(written) != report {
		t.Errorf("report.json has %q (%v), want %q", written, err, report)
	}
	return stderr
}

func TestTask(t *testing.T) {
	dir := files(t)
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	model := newOpenAI(t, "I would rather chat.", aggregate("", "r"))
	stderr := addUp(t, config, dir)
	if first := string(model.Requests()[0].Raw); !strings.Contains(first, "Add up the sales files.") ||
		!strings.Contains(first, "declare const fs") {
		t.Errorf("the first request does not contain the task or the tools:\n%s", first)
	}
	if second := string(model.Requests()[1].Raw); !strings.Contains(second, "the reply has no program") {
		t.Errorf("the second request does not say what was wrong:\n%s", second)
	}
	for _, want := range []string{"server fs: 5 tools", "step 2: asking the model", "fs.write_file(", "submitted after"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the progress does not contain %q:\n%s", want, stderr)
		}
	}
}

// With -openapi, an agent needs no servers.
func TestOpenAPI(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "%q", r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(api.Close)
	t.Chdir(t.TempDir())
	const document = "openapi: 3.0.0\ninfo: {title: x, version: '1'}\npaths:\n  /orders:\n" +
		"    get: {operationId: list, responses: {'200': {description: ok}}}\n"
	if err := os.WriteFile("my-shop.yaml", []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	newOpenAI(t, "```js\nsubmit({answer: await my_shop.list()});\n```")
	t.Setenv("MY_SHOP_TOKEN", "s3cret")
	code, stdout, stderr := run(t, t.Context(), "-openapi", "my-shop.yaml="+api.URL, "-model", "openai:stub", "List.")
	if code != 0 || stdout != "/orders Bearer s3cret\n" {
		t.Errorf("code %d, stdout %q\n%s", code, stdout, stderr)
	}
	if code, _, stderr := run(t, t.Context(), "-openapi", "missing.yaml", "x"); code != 2 ||
		!strings.Contains(stderr, "missing.yaml") {
		t.Errorf("code %d\n%s", code, stderr)
	}
}

func TestJSON(t *testing.T) {
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(files(t))})
	newOpenAI(t, aggregate("", "r"))
	code, stdout, stderr := run(t, t.Context(), "-quiet", "-json", "-config", config, "-model", "openai:stub", "Add up.")
	var r result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 || stderr != "" {
		t.Fatalf("code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if !r.Success || r.Steps != 1 || r.Usage.InputTokens != 1000 || len(r.Calls) != 5 {
		t.Errorf("got %+v", r)
	}
}

// TestAskedAgain has a model that is overloaded at first.
func TestAskedAgain(t *testing.T) {
	dir := files(t)
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	newOpenAI(t, overloaded, overloaded, aggregate("", "r"))
	stderr := addUp(t, config, dir)
	const told = "   asking again in 1ms: the model: openai answered 503 Service Unavailable: overloaded, come " +
		"back later; try again\n"
	if n := strings.Count(stderr, told); n != 2 {
		t.Errorf("the retry was reported %d times:\n%s", n, stderr)
	}
}

// TestFailures checks what a person sees when something is wrong.
func TestFailures(t *testing.T) {
	good := writeConfig(t, map[string]any{"fs": testserver.Entry(files(t))})
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{\n  \"mcpServers\": {\n    nonsense\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown := writeConfig(t, map[string]any{"nope": map[string]any{"command": "no-such-command-anywhere"}})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	loop := "```js\nfor (;;) {}\n```"
	for _, test := range []struct {
		name    string
		ctx     context.Context
		args    []string
		replies []string
		code    int
		want    string
	}{
		{"no task", nil, []string{"-model", "openai:x", "-config", good, " "}, nil, 1,
			"agent: the task is empty; say what to do"},
		{"unknown flag", nil, []string{"-nonsense"}, nil, 2, "flag provided but not defined: -nonsense"},
		{"flags after the task", nil, []string{"task", "-model", "openai:x"}, nil, 2, "write flags before the task"},
		{"holds without a journal", nil, []string{"-holds", "task"}, nil, 2, "-holds needs -journal"},
		{"negative tokens", nil, []string{"-model", "openai:x", "-tokens", "-1", "task"}, nil, 2,
			"-steps, -tokens and -step must not be negative"},
		{"no model", nil, []string{"-config", good, "task"}, nil, 1,
			`models: "" does not name a provider and a model; write both, such as "openai:gpt-5.1"`},
		{"unknown provider", nil, []string{"-model", "acme:x", "-config", good, "task"}, nil, 1,
			`models: provider "acme" of model "acme:x" is unknown; use one of openai, `},
		{"no config", nil, []string{"-model", "openai:x", "-config", "missing.json", "task"}, nil, 1, "missing.json"},
		{"malformed config", nil, []string{"-model", "openai:x", "-config", broken, "task"}, nil, 1, "line 3"},
		{"login to a command", nil, []string{"-config", good, "-login", "fs"}, nil, 1,
			`agent: login: the configuration has no mcp server "fs" with a URL; check the name`},
		{"unknown command", nil, []string{"-model", "openai:x", "-config", unknown, "task"}, nil, 1,
			"no-such-command-anywhere"},
		{"cancelled", cancelled, []string{"-model", "openai:x", "-config", good, "task"}, nil, 1, "context canceled"},
		{"model error", nil, []string{"-model", "openai:x", "-config", good, "task"}, nil, 1, "overloaded, come back later"},
		{"tokens used up", nil, []string{"-model", "openai:x", "-tokens", "4000", "-config", good, "task"},
			[]string{"no", "no", "no",
				"no"}, 1,
			"the budget allows no more than 4000 tokens; spent: 3 calls, 3000 input and 300 output tokens"},
		{"no valid program", nil, []string{"-model", "openai:x", "-steps", "2", "-config", good, "task"},
			[]string{"no", "", "",
				""}, 1, "no answer after 4 steps: the steps are used up; the last step: Nothing was run: the reply is empty"},
		{"deadline", nil, []string{"-model", "openai:x", "-timeout", "1s", "-config", good, "task"}, []string{loop}, 1,
			"context deadline exceeded"},
		{"syntax error", nil, []string{"-model", "openai:x", "-steps", "1", "-config", good, "task"},
			[]string{"```js\nlet a = ;\n```"}, 1, "✗ line 1, column 9: unexpected ; in expression"},
		{"unknown tool", nil, []string{"-model", "openai:x", "-steps", "1", "-config", good, "task"},
			[]string{"```js\nawait fs.wipe({})\n```"}, 1, `fs has no tool "wipe"`},
		{"wrong argument", nil, []string{"-model", "openai:x", "-steps", "1", "-config", good, "task"},
			[]string{"```js\nawait fs.read_text_file({path: 7})\n```"}, 1, "fs.read_text_file: path must be a string, not 7"},
		{"server dies", nil, []string{"-model", "openai:x", "-steps", "1", "-config", good, "task"},
			[]string{"```js\nawait fs.die({})\n```"}, 1, "ToolError: fs.die:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			newOpenAI(t, test.replies...)
			ctx := test.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			code, stdout, stderr := run(t, ctx, test.args...)
			if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("code %d (want %d), stdout %q, stderr does not contain %q:\n%s", code, test.code, stdout, test.want, stderr)
			}
		})
	}
}
