package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/examples/internal/testserver"
)

// TestMain lets the test binary stand for the server, and for the files server
// that it uses.
func TestMain(m *testing.M) {
	testserver.Main()
	if err := npmInPath(); err != nil {
		panic(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "mcpserver" {
		os.Exit(start(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// npmInPath sees to it that there is an npm, for the flag that wants one. The tests
// that need not be integrated start none.
func npmInPath() error {
	if _, err := exec.LookPath("npm"); err == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "npm-")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		return err
	}
	return os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+dir)
}

func config(t *testing.T) (path, folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{"a.txt": "3", "b.txt": "4"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path, err := testserver.WriteConfig(t.TempDir(), map[string]any{"fs": testserver.Entry(folder)})
	if err != nil {
		t.Fatal(err)
	}
	return path, folder
}

// patient are flags of a server whose programs have time, on a busy machine too.
// Those behind them win.
var patient = []string{"-time", "5m", "-compute", "5m", "-calls", "100000", "-startup", "5m"}

// connect starts the server as a process of its own and connects to it.
func connect(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(os.Args[0], slices.Concat([]string{"mcpserver"}, patient, args)...)
	cmd.Stderr = t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

func executeCode(t *testing.T, session *mcp.ClientSession, args map[string]any) execution {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var e execution
	if err := json.Unmarshal(structured, &e); err != nil {
		t.Fatalf("%v in %s", err, structured)
	}
	if result.IsError == e.Success {
		t.Errorf("isError is %t and success %t", result.IsError, e.Success)
	}
	return e
}

func TestExecute(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	session := connect(t, "-config", path)
	e := executeCode(t, session, map[string]any{"code": `
		const texts = await Promise.all(["a.txt", "b.txt"].map(path => fs.read_text_file({ path })));
		const sum = texts.map(Number).reduce((a, b) => a + b);
		console.log("sum", sum);
		console.error("done");
		await fs.write_file({ path: "sum.txt", content: String(sum) });
		({ sum })`})
	if !e.Success || string(e.Result) != `{"sum":7}` || e.Stdout != "sum 7\n" || e.Stderr != "done\n" ||
		len(e.Diagnostics) != 0 {
		t.Errorf("got %+v", e)
	}
	if len(e.Calls) != 3 || e.Calls[2].Tool != "fs.write_file" || !e.Calls[2].OK {
		t.Errorf("calls are %+v", e.Calls)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "sum.txt")); err != nil || string(text) != "7" {
		t.Errorf("sum.txt holds %q (%v)", text, err)
	}
}

// TestText is what a model sees whose client knows no structured results.
func TestText(t *testing.T) {
	t.Parallel()
	result, err := connect(t).CallTool(t.Context(),
		&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": `"<b> & é"`}})
	if err != nil {
		t.Fatal(err)
	}
	if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, `"result":"<b> & é"`) ||
		!json.Valid([]byte(text)) {
		t.Errorf("got %s", text)
	}
}

// TestCancel cancels a program that would never end: its place is free again.
func TestCancel(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	session := connect(t, "-workers", "1", "-config", path)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(folder, "begun")); err == nil {
				cancel()
			}
		}
	}()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{
		"code": `await fs.write_file({path: "begun", content: ""}); for (;;) await sleep(1)`,
	}})
	if err == nil {
		t.Errorf("got %+v", result)
	}
	if e := executeCode(t, session, map[string]any{"code": "1"}); !e.Success {
		t.Errorf("got %+v", e)
	}
}

// killed is what is said of a program whose time is over and that was too slow, as on
// a busy machine, to hear of it.
var killed = regexp.MustCompile(`did not end within (\S+)( and was killed)?`)

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session := connect(t, "-config", path, "-compute", "2s")
	for _, test := range []struct {
		code    string
		timeout float64
		want    []diagnostic
	}{
		{"let x = ;", 0, []diagnostic{{"SYNTAX", "unexpected ; in expression", 1, 9, "1 | let x = ;\n  |         ^", ""}}},
		{"await fs.reed_text_file({path: 'a.txt'});\nfs.read_text_file({pat: 1})", 0, []diagnostic{
			{"UNKNOWN_TOOL", `fs has no tool "reed_text_file"`, 1, 10,
				"1 | await fs.reed_text_file({path: 'a.txt'});\n  |          ^",
				"did you mean fs.read_text_file(args: {path: string})?"},
			{"INVALID_ARGUMENT", "fs.read_text_file: path is required (did you call it pat?)", 2, 4,
				"2 | fs.read_text_file({pat: 1})\n  |    ^", "it is declared as fs.read_text_file(args: {path: string})"},
		}},
		{"for (let i = 0; ; i++) {}", 60, []diagnostic{{"TIMEOUT", "the program computed for more than 2s", 0, 0, "",
			"look for endless loops and for quadratic work"}}},
		{"for (;;) {}", 0.2, []diagnostic{{"TIMEOUT", "the program ran longer than 200ms", 0, 0, "", ""}}},
	} {
		args := map[string]any{"code": test.code}
		if test.timeout > 0 {
			args["timeout"] = test.timeout
		}
		e := executeCode(t, session, args)
		if e.Success || len(e.Diagnostics) != len(test.want) {
			t.Errorf("%s\ngot %+v", test.code, e)
			continue
		}
		for i, d := range e.Diagnostics {
			if d.Message = killed.ReplaceAllString(d.Message, "ran longer than $1"); d != test.want[i] {
				t.Errorf("%s\ngot  %+v\nwant %+v", test.code, d, test.want[i])
			}
		}
	}
	if e := executeCode(t, session, map[string]any{"code": "6 * 7"}); string(e.Result) != "42" {
		t.Errorf("after all that, 6 * 7 is %+v", e)
	}
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	session := connect(t)
	for _, test := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{}, "code is required"},
		{map[string]any{"code": "  "}, "the program is empty; pass JavaScript"},
		{map[string]any{"code": "1", "timeout": -1}, "timeout must be more than 0, not -1"},
		{map[string]any{"code": 1}, "code must be a string, not 1"},
		{map[string]any{"code": "1", "timeot": 3}, "timeot is not a known property (did you mean timeout?)"},
		{map[string]any{"code": "1", "variables": map[string]any{"with": 1, "class": 1, "new": 1}},
			`variables: "class" cannot be the name of a constant`},
	} {
		e := executeCode(t, session, test.args)
		want := []diagnostic{{ErrorType: "INVALID_ARGUMENT", Message: test.want}}
		if e.Success || e.ErrorType != "INVALID_ARGUMENT" || !slices.Equal(e.Diagnostics, want) {
			t.Errorf("%v\ngot  %+v\nwant %+v", test.args, e, want)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	list, err := connect(t, "-config", path, "-time", "30s", "-compute", "10s").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Tools, func(t *mcp.Tool) bool { return t.Name == "execute_code" })
	if i < 0 {
		t.Fatalf("got %+v", list.Tools)
	}
	if d := list.Tools[i].Description; !strings.Contains(d, "It may take 30s, at most 10s of it computing.") {
		t.Errorf("the description does not say how long a program may take:\n%s", d)
	}
	if d := list.Tools[i].Description; !strings.Contains(d, "declare const fs: {") ||
		!strings.Contains(d, "  write_file(args: {path: string; content: string}): Promise<string | Content>;") {
		t.Errorf("the description lacks the declarations:\n%s", d)
	}
}

// TestStdout reads what the server writes: nothing but protocol, even if the
// program and the servers behind it make noise. It ends when stdin does.
func TestStdout(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	cmd := exec.Command(os.Args[0], "mcpserver", "-config", path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code",` +
			`"arguments":{"code":"console.log('noise'); 1"}}}`,
	} {
		if _, err := io.WriteString(stdin, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	answered := false
	for messages := bufio.NewScanner(stdout); messages.Scan(); {
		var message struct {
			JSONRPC string `json:"jsonrpc"`
			ID      int    `json:"id"`
		}
		if err := json.Unmarshal(messages.Bytes(), &message); err != nil || message.JSONRPC != "2.0" {
			t.Errorf("stdout has a line that is no message: %s", messages.Text())
		}
		if message.ID == 2 {
			answered = strings.Contains(messages.Text(), `"stdout":"noise\n"`)
			stdin.Close()
		}
	}
	if err := cmd.Wait(); err != nil || !answered {
		t.Errorf("the server ended with %v; it has answered: %t", err, answered)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	unknown, err := testserver.WriteConfig(t.TempDir(),
		map[string]any{"nope": map[string]any{"command": "no-such-command-anywhere"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		env  map[string]string
		code int
		want []string
	}{
		{[]string{"-config", "missing.json"}, nil, 2, []string{"missing.json"}},
		{[]string{"-check", "-config", unknown}, nil, 1, []string{"no-such-command-anywhere"}},
		{[]string{"-transport", "pigeon"}, nil, 2, []string{`transport must be stdio, http or sse, not "pigeon"`}},
		{[]string{"-nonsense"}, nil, 2, []string{"-nonsense"}},
		{[]string{"-time", "soon", "-memory", "1", "-config", "missing.json", "surplus"},
			map[string]string{"WRIT_CALLS": "many", "WRIT_TIME": "never"}, 2, []string{
				"-time soon: write a time such as 30s or 5m", "-memory 1: a program needs at least 64", "missing.json",
				`"surplus": unexpected argument; only flags are accepted`, "WRIT_CALLS=many: write a whole number, not negative",
			}},
		{[]string{"-transport", "http", "-addr", "0.0.0.0:0", "-allow-install"}, nil, 2,
			[]string{"-allow-install: say by -packages", "0.0.0.0"}},
		{[]string{"-transport", "http", "-tokens", "missing.json"}, nil, 2, []string{"missing.json"}},
		{[]string{"-model", "openai"}, nil, 2,
			[]string{`models: "openai" does not name a provider and a model; write both, such as "openai:gpt-5.1"`}},
	} {
		var stderr bytes.Buffer
		lookup := func(name string) (string, bool) { text, ok := test.env[name]; return text, ok }
		code := process{lookup, nil, io.NopCloser(strings.NewReader("")), io.Discard, &stderr}.command(t.Context(), test.args)
		if code != test.code {
			t.Errorf("%v: code %d, want %d", test.args, code, test.code)
		}
		for _, want := range test.want {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%v: stderr lacks %q:\n%s", test.args, want, stderr.String())
			}
		}
	}
}
