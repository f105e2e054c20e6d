package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/testserver"
)

// TestMain lets the test binary stand for the server, and for the servers that it uses.
func TestMain(m *testing.M) {
	testserver.Main()
	if len(os.Args) == 3 && os.Args[1] == "serve-post" {
		os.Exit(servePost(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == "mcpserver" {
		os.Exit(start(os.Args[2:]))
	}
	os.Exit(m.Run())
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
		{[]string{"-transport", "pigeon"}, nil, 2, []string{`transport must be stdio or http, not "pigeon"`}},
		{[]string{"-nonsense"}, nil, 2, []string{"-nonsense"}},
		{[]string{"-openapi", "missing.yaml"}, nil, 2, []string{"missing.yaml"}},
		{[]string{"-time", "soon"}, nil, 2, []string{`invalid value "soon" for flag -time: parse error`}},
		{[]string{"-memory", "1", "-config", "missing.json", "surplus"}, map[string]string{"WRIT_CALLS": "many"}, 2, []string{
			"-memory 1 is too small; a program needs at least 64 MiB", "missing.json",
			`"surplus": unexpected argument; only flags are accepted`, "WRIT_CALLS=many: parse error",
		}},
		{[]string{"-transport", "http", "-addr", "0.0.0.0:0", "-allow-install"}, nil, 2,
			[]string{"allow install: list the packages", "0.0.0.0"}},
		{[]string{"-transport", "http", "-tokens", "missing.json"}, nil, 2, []string{"missing.json"}},
		{[]string{"-transport", "http", "-oauth", "http://login.example"}, nil, 2,
			[]string{"jwt: Issuer and Resource must be URLs with https", `"http://127.0.0.1:8080/mcp"`}},
		{[]string{"-config", unknown, "-login", "nope"}, nil, 1,
			[]string{`login: the configuration has no mcp server "nope" with a URL; check the name`}},
		{[]string{"-config", unknown, "-logout", "nope"}, nil, 1,
			[]string{`login: the configuration has no mcp server "nope" with a URL; check the name`}},
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
