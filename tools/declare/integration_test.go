//go:build integration

package declare_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/mcptools"
)

// npm describes how a server of .ci/npm is started, and which calls its declarations permit and
// forbid.
type npm struct {
	bin    string
	args   []string
	env    map[string]string
	calls  []string // these compile
	errors []string // these do not
}

var npmServers = map[string]npm{
	"filesystem": {
		bin: "mcp-server-filesystem", args: []string{"."},
		calls: []string{
			`const text: string = (await filesystem.read_text_file({path: "a.txt", head: 3})).content`,
			`await filesystem.edit_file({path: "a", edits: [{oldText: "x", newText: "y"}], dryRun: true})`,
			`await filesystem.list_directory_with_sizes({path: ".", sortBy: "size"})`,
		},
		errors: []string{
			`await filesystem.read_text_file({})`,
			`await filesystem.read_text_file({path: 1})`,
			`await filesystem.list_directory_with_sizes({path: ".", sortBy: "date"})`,
			`const n: number = (await filesystem.read_text_file({path: "a"})).content`,
			`await filesystem.read_txt_file({path: "a"})`,
		},
	},
	"memory": {
		bin: "mcp-server-memory",
		calls: []string{
			`await memory.create_entities({entities: [{name: "Ada", entityType: "person", observations: []}]})`,
			`const names: string[] = (await memory.read_graph()).entities.map(e => e.name)`,
		},
		errors: []string{`await memory.create_entities({entities: [{name: "Ada"}]})`, `await memory.open_nodes({names: ` +
			`"Ada"})`},
	},
	"everything": {
		bin: "mcp-server-everything",
		calls: []string{`const r: string | Content = await everything.echo({message: "x"})`,
			`await everything.get_sum({a: 1, b: 2})`},
		errors: []string{`await everything.get_sum({a: "1", b: 2})`, `const s: string = await everything.echo({message: ` +
			`"x"})`},
	},
	"sequential-thinking": {
		bin: "mcp-server-sequential-thinking",
		calls: []string{
			`await sequential_thinking.sequentialthinking({thought: "x", nextThoughtNeeded: true, thoughtNumber: 1, ` +
				`totalThoughts: 2})`,
		},
		errors: []string{`await sequential_thinking.sequentialthinking({thought: "x"})`},
	},
	"playwright": {
		bin: "playwright-mcp",
		calls: []string{
			`await playwright.browser_navigate({url: "http://localhost/"})`,
			`await playwright.browser_close()`,
			`await playwright.browser_fill_form({fields: [{target: "e1", name: "Age", type: "textbox", value: "7"}]})`,
		},
		errors: []string{`await playwright.browser_navigate()`, `await playwright.browser_console_messages({level: "loud"})`},
	},
	"git": {
		bin: "git-mcp-server", env: map[string]string{"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error"},
		calls: []string{
			`const hash: string = (await git.git_log({maxCount: 1})).commits[0].hash`,
			`await git.git_commit({message: "x", filesToStage: ["a"]})`,
		},
		errors: []string{`await git.git_commit({})`, `await git.git_branch({mode: "paint"})`,
			`(await git.git_log()).commits[0].hsh`},
	},
	"mongodb": {
		bin: "mongodb-mcp-server",
		env: map[string]string{"MDB_MCP_TELEMETRY": "disabled",
			"MDB_MCP_CONNECTION_STRING": "mongodb://127.0.0.1:27017/?serverSelectionTimeoutMS=100"},
		calls: []string{
			`await mongodb.find({connectionId: "preconfigured", database: "d", collection: "c", filter: {a: 1}, limit: 3})`,
			`await mongodb.collection_indexes({connectionId: "x", database: "d", collection: "c"})`,
		},
		errors: []string{`await mongodb.find({connectionId: "x", database: "d"})`, `await mongodb.find({connectionId: ` +
			`"x", database: "d", collection: "c", limit: "3"})`},
	},
	"notion": {
		bin: "notion-mcp-server", env: map[string]string{"NOTION_TOKEN": "ntn_0"},
		calls: []string{
			`await notion.API_post_search({query: "x", filter: {value: "page", property: "object"}, page_size: 5})`,
			`await notion.API_create_a_comment({parent: {page_id: "p"}, rich_text: [{text: {content: "x"}}]})`,
		},
		errors: []string{`await notion.API_retrieve_a_page({})`, `await notion.API_post_search({page_size: "5"})`},
	},
}

// budgets is a list of budgets, from everything that is known of a server down to its name.
var budgets = []int{0, 1_000_000, 6_000, 3_000, 2_000, 1_200, 800, 500, 300, 150, 1}

// Real servers are declared at every level in TypeScript that compiles, and its types distinguish
// correct calls from incorrect ones. The default declarations of running servers are those of the
// recorded tools.
func TestNPMServersCompile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	t.Run("declare", func(t *testing.T) {
		for name, server := range npmServers {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				declareServer(t, dir, name, server)
			})
		}
	})
	tsc := exec.Command(filepath.Join(modules(t), ".bin", "tsc"), "--strict", "--noEmit", "--target", "es2022",
		"--module", "esnext", "--project", dir)
	write(t, filepath.Join(dir, "tsconfig.json"), `{"compilerOptions": {"lib": ["es2022"], "types": []}}`)
	tsc.Dir = dir
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%.4000s", err, out)
	}
}

func modules(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("WRIT_NPM_DIR")
	if dir == "" {
		t.Fatal("WRIT_NPM_DIR is not set; run npm ci in a copy of .ci/npm and set it to the node_modules there")
	}
	return dir
}

// declareServer writes a file to compile for each level, one for each tool, and one with calls.
func declareServer(t *testing.T, dir, name string, server npm) {
	t.Helper()
	set := start(t, name, server)
	for _, budget := range budgets {
		source(t, dir, fmt.Sprintf("%s_%d.ts", name, budget), code(declare.Markdown(set, budget)))
	}
	byDefault := code(declare.Markdown(set, 0))
	types := ""
	for line := range strings.Lines(byDefault) { // Describe does not repeat these declarations
		if strings.HasPrefix(line, "type ") || strings.HasPrefix(line, "declare class ToolError") {
			types += line
		}
	}
	for _, b := range set.Bindings() {
		source(t, dir, fmt.Sprintf("%s_%s.ts", name, b.Names[0]), types+declare.Describe(b))
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "servers", name+".ts"))
	if err != nil || byDefault != string(golden) {
		t.Errorf("%s: the declarations differ from those recorded in testdata/servers: %v", name, err)
	}
	var calls strings.Builder
	for _, call := range server.calls {
		fmt.Fprintf(&calls, "{ %s; }\n", call)
	}
	for _, call := range server.errors {
		fmt.Fprintf(&calls, "// @ts-expect-error\n{ %s; }\n", call)
	}
	source(t, dir, name+"_calls.ts", byDefault+calls.String())
}

// start returns the tools of a running server.
func start(t *testing.T, name string, server npm) *tools.Set {
	t.Helper()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		name: map[string]any{"command": filepath.Join(modules(t), ".bin", server.bin), "args": server.args, "env": server.env,
			"cwd": t.TempDir()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp_servers.json")
	write(t, path, string(config))
	open, err := mcptools.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = open.Close() })
	set, err := tools.NewSet(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// source writes a separate module to compile.
func source(t *testing.T, dir, name, text string) {
	t.Helper()
	write(t, filepath.Join(dir, name), text+"export {};\n")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
